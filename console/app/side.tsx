/** The column at the side: workspaces, pages, the person and the look. What a role may not see is not there. */
import { useState } from 'preact/hooks';
import { signOut } from '../api/accounts.ts';
import type { Session, WorkspaceOfUser } from '../api/session.ts';
import { shell as words } from '../texts/en/shell.ts';
import { to } from '../ui/address.ts';
import { keepDraftsOf } from '../ui/draft.ts';
import { Icon, type IconName } from '../ui/icons.tsx';
import { Menu } from '../ui/menu.tsx';

interface Place {
  page: string;
  icon: IconName;
  label: string;
  scope: string | null;
}

const PLACES: readonly Place[] = [
  { page: 'home', icon: 'home', label: words.home, scope: 'calls:read' },
  { page: 'live', icon: 'live', label: words.live, scope: 'calls:read' },
  { page: 'calls', icon: 'calls', label: words.calls, scope: 'calls:read' },
  { page: 'agents', icon: 'agents', label: words.agents, scope: 'agents:read' },
  { page: 'leads', icon: 'leads', label: words.leads, scope: 'leads:read' },
  { page: 'settings', icon: 'settings', label: words.settings, scope: null },
];

type Look = 'light' | 'dark' | 'system';
const LOOKS: readonly (readonly [Look, IconName, string])[] = [
  ['system', 'screen', words.system],
  ['light', 'sun', words.light],
  ['dark', 'moon', words.dark],
];

function lookNow(): Look {
  const set = document.documentElement.dataset['theme'];
  return set === 'light' || set === 'dark' ? set : 'system';
}

/** What was typed and not saved is nobody else's. */
async function leave(): Promise<void> {
  await signOut();
  keepDraftsOf(null);
}

export function Side(props: { session: Session; here: WorkspaceOfUser | null; page: string; isOpen: boolean }) {
  const { session, here, page, isOpen } = props;
  const [look, setLook] = useState<Look>(lookNow);
  function change(next: Look): void {
    setLook(next);
    const root = document.documentElement;
    if (next === 'system') delete root.dataset['theme'];
    else root.dataset['theme'] = next;
    try {
      // Read as it is by `theme.ts`, before the first paint.
      if (next === 'system') localStorage.removeItem('parley.theme');
      else localStorage.setItem('parley.theme', next);
    } catch {
      // Until the window closes, then.
    }
  }
  const shown = page === 'call' ? 'calls' : page;
  const { user, workspaces } = session;
  const name = user.name || user.email;
  return (
    <aside class={isOpen ? 'side open' : 'side'} aria-label={words.product}>
      {workspaces.length > 0 ? (
        <Menu
          label={`${words.workspace}: ${here?.name ?? words.choose}`}
          class="place"
          button={
            <>
              <span>
                <bdi>{here?.name ?? words.choose}</bdi>
              </span>
              <Icon name="down" size={14} />
            </>
          }
          items={workspaces.map((one) => ({
            label: one.name || one.enterprise,
            href: to(['w', one.enterprise, 'home']),
          }))}
        />
      ) : (
        <div class="brand">
          <Icon name="voice" size={20} /> {words.product}
        </div>
      )}
      <nav aria-label={words.menu}>
        {here === null
          ? null
          : PLACES.filter(({ scope }) => scope === null || here.scopes.includes(scope)).map((place) => (
              <a
                key={place.page}
                href={to(['w', here.enterprise, place.page])}
                aria-current={place.page === shown ? 'page' : undefined}
              >
                <Icon name={place.icon} /> {place.label}
              </a>
            ))}
        {user.isOperator ? (
          <a href={to(['operator'])} aria-current={page === 'operator' ? 'page' : undefined}>
            <Icon name="operator" /> {words.operator}
          </a>
        ) : null}
      </nav>
      <div class="foot">
        <Menu
          label={words.signedInAs(name)}
          class="person"
          button={
            <>
              <span class="face" aria-hidden="true">
                {name.slice(0, 1).toUpperCase()}
              </span>
              <span>
                <bdi>{name}</bdi>
              </span>
            </>
          }
          items={[
            here === null
              ? null
              : { label: words.account, icon: 'settings', href: to(['w', here.enterprise, 'settings', 'account']) },
            { label: words.signOut, icon: 'out', run: leave },
          ]}
        />
        <Menu
          label={words.look}
          class="look"
          button={<Icon name={LOOKS.find(([one]) => one === look)![1]} />}
          items={LOOKS.map(([one, icon, label]) => ({ label, icon, run: () => change(one) }))}
        />
      </div>
    </aside>
  );
}
