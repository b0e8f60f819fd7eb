/** What an audit row is about: by its name where that is known, and as a link where there is a page. */
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { targetWords } from '../../texts/en/audit.ts';
import { to } from '../../ui/address.ts';
import { useLoad } from '../../ui/load.ts';
import { Words } from '../../ui/text.tsx';

/** By target. */
export type Names = ReadonlyMap<string, string>;

const SHOWN_OF_AN_ID = 8;
const LONG_ID = /^[0-9a-f-]{36}$/;

/** Of agents, keys and phone numbers, as far as the person may see them; empty until they are there. */
export function useTargetNames(enterprise: string): Names {
  const names = useLoad(
    async (signal) => {
      const client = clientOf(enterprise);
      const [agents, keys, lines] = await Promise.all([
        may('agents:read') ? client.listAgents({}, { signal }).then(({ data }) => data.data) : [],
        may('settings:read') ? client.listKeys({}, { signal }).then(({ data }) => data.data) : [],
        may('settings:read') ? client.listPhoneNumbers({}, { signal }).then(({ data }) => data.data) : [],
      ]);
      return new Map([
        ...agents.map(({ id, name }) => [`agent:${id}`, name] as const),
        ...keys.map(({ keyId, name }) => [`key:${keyId}`, name] as const),
        ...lines.map(({ id, number }) => [`line:${id}`, number] as const),
      ]);
    },
    [enterprise],
  );
  return names.data ?? new Map();
}

export function AuditTarget({ enterprise, target, names }: { enterprise: string; target: string; names: Names }) {
  const [kind, id] = [target.slice(0, target.indexOf(':')), target.slice(target.indexOf(':') + 1)];
  const kindWords = targetWords[kind];
  if (kindWords === undefined) return <Words>{target}</Words>;
  const shown = names.get(target) ?? (LONG_ID.test(id) ? `…${id.slice(-SHOWN_OF_AN_ID)}` : id);
  const page = pageOf(enterprise, kind, id);
  const said = (
    <>
      {kindWords} <Words>{shown}</Words>
    </>
  );
  return page === null ? (
    <span title={target}>{said}</span>
  ) : (
    <a href={page} title={target}>
      {said}
    </a>
  );
}

function pageOf(enterprise: string, kind: string, id: string): string | null {
  switch (kind) {
    case 'call':
      return to(['w', enterprise, 'call', id]);
    case 'agent':
      return to(['w', enterprise, 'agents', id]);
    case 'lead':
      return to(['w', enterprise, 'leads'], { lead: id });
    case 'lead_import':
      return to(['w', enterprise, 'leads', 'imports']);
    case 'key':
      return to(['w', enterprise, 'settings', 'keys']);
    case 'line':
      return to(['w', enterprise, 'settings', 'lines']);
    case 'widget_key':
      return to(['w', enterprise, 'settings', 'widget']);
    case 'webhook':
    case 'delivery':
      return to(['w', enterprise, 'settings', 'webhooks']);
    default:
      return null;
  }
}
