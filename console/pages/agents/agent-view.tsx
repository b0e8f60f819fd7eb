/** One agent: its definition, its versions and what is different between them, its tools, and trying it. */
import { useState } from 'preact/hooks';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { agents as words } from '../../texts/en/agents.ts';
import { go, to } from '../../ui/address.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icons.tsx';
import { useLoad } from '../../ui/load.ts';
import { Menu } from '../../ui/menu.tsx';
import { Page, Tabs } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Words } from '../../ui/text.tsx';
import { msWords, Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { Editor } from './editor.tsx';
import type { KnownAgent } from './known-agent.ts';
import { TryIt } from './try-it.tsx';
import { Uses } from './uses.tsx';
import { Versions } from './versions.tsx';

type Tab = keyof typeof words.tabs;

export function AgentView(props: { enterprise: string; agentId: string; tab: string | undefined }) {
  const { enterprise, agentId } = props;
  const known = useLoad<KnownAgent>(
    async (signal) => {
      const { data, etag } = await clientOf(enterprise).readAgent({ agentId }, { signal });
      return { agent: data, etag };
    },
    [enterprise, agentId],
  );
  const tab = Object.hasOwn(words.tabs, props.tab ?? '') ? (props.tab as Tab) : 'definition';
  const [isDeleting, setDeleting] = useState(false);
  const agent = known.data?.agent;
  return (
    <Page
      title={agent?.name ?? words.title}
      heading={agent === undefined ? words.title : <Words>{agent.name}</Words>}
      about={
        agent === undefined ? undefined : (
          <span>
            {words.versionOf(agent.version, agent.latestVersion)} · {words.directions[agent.direction]} ·{' '}
            <code>{agentId}</code>
          </span>
        )
      }
      isWide
      above={
        <a class="back" href={to(['w', enterprise, 'agents'])}>
          <Icon name="left" size={14} /> {words.back}
        </a>
      }
      actions={
        may('settings:write') && agent !== undefined ? (
          <Menu
            label={words.more}
            class="bare"
            button={<Icon name="more" />}
            items={[{ label: words.deleteAction, icon: 'trash', isDangerous: true, run: () => setDeleting(true) }]}
          />
        ) : null
      }
    >
      <Tabs
        label={words.tabsLabel}
        tabs={Object.entries(words.tabs).map(([one, label]) => ({
          label,
          href: to(['w', enterprise, 'agents', agentId, one]),
          isHere: one === tab,
        }))}
      />
      <Shown of={known} lines={10}>
        {(data) =>
          tab === 'definition' ? (
            <Editor enterprise={enterprise} known={data} onSaved={known.reload} />
          ) : tab === 'versions' ? (
            <Versions enterprise={enterprise} known={data} onChange={known.reload} />
          ) : tab === 'tools' ? (
            <ToolFigures enterprise={enterprise} agentId={agentId} />
          ) : tab === 'uses' ? (
            <Uses enterprise={enterprise} agentId={agentId} />
          ) : (
            <TryIt enterprise={enterprise} agent={data.agent} />
          )
        }
      </Shown>
      {isDeleting ? (
        <Confirm
          title={words.deleteAction}
          action={words.deleteAction}
          isDangerous
          run={async () => {
            await clientOf(enterprise).deleteAgent({ agentId });
            toast(words.deleted);
            go(to(['w', enterprise, 'agents']));
          }}
          onClose={() => setDeleting(false)}
        >
          <p>{words.deleteAsk}</p>
          <Uses enterprise={enterprise} agentId={agentId} />
        </Confirm>
      ) : null}
    </Page>
  );
}

function ToolFigures({ enterprise, agentId }: { enterprise: string; agentId: string }) {
  const tools = useLoad(
    async (signal) => (await clientOf(enterprise).readAgentTools({ agentId }, { signal })).data.data,
    [enterprise, agentId],
  );
  const { toolColumns: names } = words;
  return (
    <Shown of={tools}>
      {(all) =>
        all.length === 0 ? (
          <Empty title={words.noTools} />
        ) : (
          <Table
            label={words.tabs.tools}
            rows={all}
            keyOf={({ name }) => name}
            columns={[
              { name: names.name, cell: ({ name }) => <code>{name}</code> },
              { name: names.uses, isNumber: true, cell: ({ uses }) => uses },
              { name: names.failed, isNumber: true, cell: ({ failed }) => failed },
              { name: names.p50, isNumber: true, cell: ({ p50Ms }) => msWords(p50Ms) },
              { name: names.p95, isNumber: true, cell: ({ p95Ms }) => msWords(p95Ms) },
              {
                name: names.last,
                cell({ last }) {
                  const newest = last[0];
                  return newest === undefined ? (
                    '–'
                  ) : (
                    <a href={to(['w', enterprise, 'call', newest.callUuid, 'tools'])}>
                      <Time at={newest.startedAt} />
                    </a>
                  );
                },
              },
            ]}
          />
        )
      }
    </Shown>
  );
}
