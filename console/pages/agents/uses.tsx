/** Who uses an agent, and what it needs itself: to be looked at before it is changed or taken out of use. */
import { clientOf } from '../../api/request.ts';
import { usesWords as words } from '../../texts/en/agent-uses.ts';
import { to } from '../../ui/address.ts';
import { useLoad } from '../../ui/load.ts';
import { Facts } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { Words } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';

const MOST_COUNTED = 10_000;

export function Uses({ enterprise, agentId }: { enterprise: string; agentId: string }) {
  const uses = useLoad(
    async (signal) => (await clientOf(enterprise).readAgentUses({ agentId }, { signal })).data,
    [enterprise, agentId],
  );
  const list = (names: readonly string[]) => (names.length === 0 ? words.none : <Words>{names.join(', ')}</Words>);
  return (
    <Shown of={uses}>
      {(data) => (
        <div class="section stack">
          <p class="soft">{words.about}</p>
          <Facts
            facts={[
              [words.live, data.liveCalls],
              [
                words.calls,
                <a key="calls" href={to(['w', enterprise, 'calls'], { agentId })}>
                  {data.calls >= MOST_COUNTED ? words.most(data.calls) : data.calls}
                </a>,
              ],
              [words.last, <Time key="last" at={data.lastCallAt} />],
              [
                words.leads,
                <a key="leads" href={to(['w', enterprise, 'leads'], { agentId })}>
                  {data.leads}
                </a>,
              ],
              [words.isDefault, data.isDefault ? words.yes : words.no],
              [words.line, data.lineNumber === null ? words.ofWorkspace : <Words key="line">{data.lineNumber}</Words>],
              [words.websites, list(data.websites.map(({ name }) => name))],
              [words.clips, list(data.clips)],
              [words.connections, list(data.connections)],
            ]}
          />
        </div>
      )}
    </Shown>
  );
}
