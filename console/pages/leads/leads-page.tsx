/** Leads: people to call; their import; and numbers that must not be called. */
import { may } from '../../api/session.ts';
import { leads as words } from '../../texts/en/leads.ts';
import { to } from '../../ui/address.ts';
import { Tabs } from '../../ui/page.tsx';
import { Imports } from './imports.tsx';
import { LeadList } from './lead-list.tsx';
import { Suppressions } from './suppressions.tsx';

export interface LeadsProps {
  enterprise: string;
  rest: readonly string[];
  query: URLSearchParams;
}

export function LeadsPage({ enterprise, rest, query }: LeadsProps) {
  const place = rest[0] ?? 'list';
  const at = (name: string): string => to(['w', enterprise, 'leads', ...(name === 'list' ? [] : [name])]);
  const tabs = (
    <Tabs
      label={words.tabs}
      tabs={[
        { label: words.title, href: at('list'), isHere: place === 'list' },
        ...(may('leads:write') || may('leads:read')
          ? [{ label: words.imports, href: at('imports'), isHere: place === 'imports' }]
          : []),
        { label: words.suppressions, href: at('suppressions'), isHere: place === 'suppressions' },
      ]}
    />
  );
  if (place === 'imports') return <Imports enterprise={enterprise} tabs={tabs} />;
  if (place === 'suppressions') return <Suppressions enterprise={enterprise} tabs={tabs} />;
  return <LeadList enterprise={enterprise} query={query} tabs={tabs} />;
}
