/** Who hung up: of a person of the workspace the name, for those who may read the audit. */
import type { Call } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { call as words } from '../../texts/en/call.ts';
import { useLoad } from '../../ui/load.ts';
import { Words } from '../../ui/text.tsx';

const MOST = 20;
const COMMAND_LINE = /^cli:/;

export function HungUpBy({ enterprise, call }: { enterprise: string; call: Call }) {
  const { callUuid, direction, hangupBy } = call;
  const isPerson = hangupBy === 'operator';
  const isRead = isPerson && may('audit:read');
  const asked = useLoad(
    async (signal) => {
      if (!isRead) return null;
      const of = { target: `call:${callUuid}`, action: 'call.end_asked', limit: MOST };
      // Who asked first has ended it.
      return (await clientOf(enterprise).listAudit(of, { signal })).data.data.at(-1) ?? null;
    },
    [enterprise, callUuid, isRead],
  );
  if (hangupBy === null) return '–';
  if (hangupBy === 'caller' && direction === 'outbound') return words.hungUpByWords['callee'];
  if (!isPerson) return words.hungUpByWords[hangupBy] ?? hangupBy;
  const { actor = '', actorName = null } = asked.data ?? {};
  return (
    <>
      {words.hungUpByWords[COMMAND_LINE.test(actor) ? 'cli' : 'operator']}
      {actorName === null ? null : (
        <>
          : <Words>{actorName}</Words>
        </>
      )}
    </>
  );
}
