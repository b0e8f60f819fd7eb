/** Every version that was stored: what is different from the one in use, and going back to it. */
import { useState } from 'preact/hooks';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { agents as words } from '../../texts/en/agents.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Difference } from '../../ui/difference.tsx';
import { useLoad } from '../../ui/load.ts';
import { Shown } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { asText } from './definition-text.ts';
import type { KnownAgent } from './known-agent.ts';

export function Versions(props: { enterprise: string; known: KnownAgent; onChange(): void }) {
  const { enterprise, known, onChange } = props;
  const { agent } = known;
  const client = clientOf(enterprise);
  const [compared, setCompared] = useState<number | null>(null);
  const versions = useLoad(
    async (signal) => (await client.listAgentVersions({ agentId: agent.id }, { signal })).data.data,
    [enterprise, agent.id, agent.version, agent.latestVersion],
  );
  async function activate(version: number): Promise<void> {
    await client.activateAgentVersion({ agentId: agent.id, version });
    toast(words.activated(version));
    onChange();
  }
  const { versionColumns: names } = words;
  return (
    <>
      <Shown of={versions}>
        {(all) => (
          <Table
            label={words.tabs.versions}
            rows={all}
            keyOf={({ version }) => String(version)}
            columns={[
              { name: names.version, cell: ({ version }) => version },
              { name: names.made, cell: ({ createdAt }) => <Time at={createdAt} /> },
              {
                name: names.state,
                cell: ({ isCurrent }) => (isCurrent ? <Badge tone="good">{words.active}</Badge> : null),
              },
              {
                name: names.actions,
                isHidden: true,
                cell: ({ version, isCurrent }) =>
                  isCurrent ? null : (
                    <>
                      <Button kind="quiet" onPress={() => setCompared(version)}>
                        {words.compare}
                      </Button>
                      {may('settings:write') ? (
                        <Button kind="quiet" onPress={() => activate(version)}>
                          {words.activate}
                        </Button>
                      ) : null}
                    </>
                  ),
              },
            ]}
          />
        )}
      </Shown>
      {compared === null ? null : (
        <Dialog title={words.compareWith(compared)} isWide onClose={() => setCompared(null)}>
          <Compared enterprise={enterprise} known={known} version={compared} />
        </Dialog>
      )}
    </>
  );
}

function Compared({ enterprise, known, version }: { enterprise: string; known: KnownAgent; version: number }) {
  const { id, definition } = known.agent;
  const other = useLoad(
    async (signal) =>
      (await clientOf(enterprise).readAgentVersion({ agentId: id, version }, { signal })).data.definition,
    [enterprise, id, version],
  );
  return (
    <Shown of={other}>
      {(before) => <Difference before={asText(before)} after={asText(definition)} label={words.compareWith(version)} />}
    </Shown>
  );
}
