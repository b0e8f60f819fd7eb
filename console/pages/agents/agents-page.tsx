/** The agents of a workspace; one of them; a new one. */
import type { Agent } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { agents as words } from '../../texts/en/agents.ts';
import { to } from '../../ui/address.ts';
import { useLoad } from '../../ui/load.ts';
import { Page, Section } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Words } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { AgentView } from './agent-view.tsx';
import { NewAgent } from './new-agent.tsx';

export function AgentsPage({ enterprise, rest }: { enterprise: string; rest: readonly string[] }) {
  const [agentId, tab] = rest;
  if (agentId === 'new') return <NewAgent enterprise={enterprise} />;
  if (agentId !== undefined) return <AgentView key={agentId} enterprise={enterprise} agentId={agentId} tab={tab} />;
  return <AgentList enterprise={enterprise} />;
}

function AgentList({ enterprise }: { enterprise: string }) {
  /** An agent's definition, and the keys by which it is tried, are settings. */
  const mayOpen = may('settings:read');
  const agents = useLoad(
    async (signal) => (await clientOf(enterprise).listAgents({}, { signal })).data.data,
    [enterprise],
  );
  const create = may('settings:write') ? (
    <a class="button main" href={to(['w', enterprise, 'agents', 'new'])}>
      {words.create}
    </a>
  ) : null;
  return (
    <Page title={words.title} actions={create}>
      <Shown of={agents}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="agents" title={words.empty}>
              {words.emptyHint}
            </Empty>
          ) : (
            <Section title={words.title} isFlush>
              <Table
                label={words.title}
                rows={all}
                keyOf={({ id }) => id}
                columns={[
                  {
                    name: words.columns.name,
                    cell: ({ id, name }) =>
                      mayOpen ? (
                        <a href={to(['w', enterprise, 'agents', id])}>
                          <Words>{name}</Words>
                        </a>
                      ) : (
                        <Words>{name}</Words>
                      ),
                  },
                  {
                    name: words.columns.direction,
                    isShort: true,
                    cell: ({ direction }) => words.directions[direction],
                  },
                  { name: words.columns.version, isNumber: true, cell: ({ version }) => version },
                  { name: words.columns.made, cell: ({ createdAt }) => <Time at={createdAt} /> },
                  ...(mayOpen
                    ? [
                        {
                          name: words.columns.actions,
                          isHidden: true,
                          cell: ({ id, name }: Agent) => (
                            <a
                              class="button quiet"
                              href={to(['w', enterprise, 'agents', id, 'try'])}
                              aria-label={`${words.tabs.try}: ${name}`}
                            >
                              {words.tabs.try}
                            </a>
                          ),
                        },
                      ]
                    : []),
                ]}
              />
            </Section>
          )
        }
      </Shown>
    </Page>
  );
}
