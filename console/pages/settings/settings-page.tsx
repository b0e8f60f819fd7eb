/** The settings of a workspace and of oneself: a place for each, as far as one's role goes. */
import { may } from '../../api/session.ts';
import { settings as words } from '../../texts/en/settings.ts';
import { to } from '../../ui/address.ts';
import { type Part as Lazy, lazy } from '../../ui/lazy.tsx';
import { Page } from '../../ui/page.tsx';
import { useSeenItem } from '../../ui/seen-item.ts';

type Place = keyof typeof words.nav;
interface PlaceProps {
  enterprise: string;
}

const PLACES: Readonly<Record<Place, { scope: string | null; Part: Lazy<PlaceProps> }>> = {
  keys: { scope: 'settings:read', Part: lazy(async () => (await import('./keys.tsx')).Keys) },
  lines: { scope: 'settings:read', Part: lazy(async () => (await import('./lines.tsx')).Lines) },
  webhooks: { scope: 'settings:read', Part: lazy(async () => (await import('./webhooks.tsx')).Webhooks) },
  widget: { scope: 'settings:read', Part: lazy(async () => (await import('./widget.tsx')).Widget) },
  connections: { scope: 'settings:read', Part: lazy(async () => (await import('./connections.tsx')).Connections) },
  tools: { scope: 'settings:read', Part: lazy(async () => (await import('./tools.tsx')).Tools) },
  clips: { scope: 'settings:read', Part: lazy(async () => (await import('./clips.tsx')).Clips) },
  calling: { scope: 'settings:read', Part: lazy(async () => (await import('./calling.tsx')).Calling) },
  limits: { scope: 'settings:read', Part: lazy(async () => (await import('./limits.tsx')).Limits) },
  retention: { scope: 'settings:read', Part: lazy(async () => (await import('./retention.tsx')).Retention) },
  users: { scope: 'users:read', Part: lazy(async () => (await import('./users.tsx')).Users) },
  audit: { scope: 'audit:read', Part: lazy(async () => (await import('./audit.tsx')).Audit) },
  account: { scope: null, Part: lazy(async () => (await import('./account.tsx')).Account) },
};

export function SettingsPage({ enterprise, rest }: { enterprise: string; rest: readonly string[] }) {
  const allowed = (Object.keys(PLACES) as Place[]).filter((one) => {
    const { scope } = PLACES[one];
    return scope === null || may(scope);
  });
  const place = allowed.find((one) => one === rest[0]) ?? allowed[0]!;
  const { Part } = PLACES[place];
  const nav = useSeenItem<HTMLElement>(place);
  return (
    <Page title={words.nav[place]} heading={words.title}>
      <div class="settings">
        <nav ref={nav} aria-label={words.title}>
          {allowed.map((one) => (
            <a
              key={one}
              href={to(['w', enterprise, 'settings', one])}
              aria-current={one === place ? 'page' : undefined}
            >
              {words.nav[one]}
            </a>
          ))}
        </nav>
        <div class="stack">
          <Part key={place} enterprise={enterprise} />
        </div>
      </div>
    </Page>
  );
}
