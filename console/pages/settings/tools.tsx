/** Tools of all agents: how they did, trying one, and the secrets that their headers name. */
import { useState } from 'preact/hooks';
import type { ListedTool } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { toolWords as words } from '../../texts/en/tools.ts';
import { to } from '../../ui/address.ts';
import { Button } from '../../ui/button.tsx';
import { useLoad } from '../../ui/load.ts';
import { Section } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Words } from '../../ui/text.tsx';
import { msWords, Time } from '../../ui/time.tsx';
import { Secrets } from './secrets.tsx';
import { ToolTest } from './tool-test.tsx';

export function Tools({ enterprise }: { enterprise: string }) {
  const tools = useLoad(
    async (signal) => (await clientOf(enterprise).listTools({}, { signal })).data.data,
    [enterprise],
  );
  const [tried, setTried] = useState<ListedTool | null>(null);
  const { columns: names } = words;
  return (
    <>
      <Section title={words.title} about={words.about} isFlush>
        <Shown of={tools}>
          {(all) =>
            all.length === 0 ? (
              <Empty title={words.empty}>{words.emptyHint}</Empty>
            ) : (
              <Table
                label={words.title}
                rows={all}
                keyOf={({ agentId, name }) => `${agentId} ${name}`}
                columns={[
                  {
                    name: names.tool,
                    cell: ({ name, url }) => (
                      <>
                        <code>{name}</code>
                        <div class="soft tiny host">
                          <Words>{url === null ? words.client : hostOf(url)}</Words>
                        </div>
                      </>
                    ),
                  },
                  {
                    name: names.agent,
                    cell: ({ agentId, agentName }) => (
                      <a href={to(['w', enterprise, 'agents', agentId, 'tools'])}>
                        <Words>{agentName}</Words>
                      </a>
                    ),
                  },
                  { name: names.uses, isNumber: true, cell: ({ uses }) => uses },
                  { name: names.failed, isNumber: true, cell: ({ failed }) => failed },
                  { name: names.p50, isNumber: true, cell: ({ p50Ms }) => msWords(p50Ms) },
                  { name: names.p95, isNumber: true, cell: ({ p95Ms }) => msWords(p95Ms) },
                  {
                    name: names.last,
                    cell: ({ lastUsedAt }) => (lastUsedAt === null ? words.never : <Time at={lastUsedAt} />),
                  },
                  {
                    name: names.actions,
                    isHidden: true,
                    cell: (tool) =>
                      tool.kind === 'http' && may('settings:write') ? (
                        <Button kind="quiet" onPress={() => setTried(tool)}>
                          {words.test}
                        </Button>
                      ) : null,
                  },
                ]}
              />
            )
          }
        </Shown>
      </Section>
      <Secrets enterprise={enterprise} />
      {tried === null ? null : <ToolTest enterprise={enterprise} tool={tried} onClose={() => setTried(null)} />}
    </>
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
