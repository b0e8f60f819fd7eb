/** What the service runs as and how busy it is: processes that carry calls, the machine, the database. */
import type { ServiceState } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { serviceWords as words } from '../../texts/en/operator.ts';
import { bytesWords } from '../../ui/amount.ts';
import { Badge } from '../../ui/badge.tsx';
import { useEvery, useLoad } from '../../ui/load.ts';
import { Notice } from '../../ui/notice.tsx';
import { Facts, Section } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Words } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';

const REFRESH_MS = 2_000;

export function Service() {
  const state = useLoad(async (signal) => (await clientOf('-').readService({}, { signal })).data, []);
  useEvery(REFRESH_MS, state.reload);
  return <Shown of={state}>{(data) => <State state={data} />}</Shown>;
}

function State({ state }: { state: ServiceState }) {
  const { machine, control, database, media, otherNodes } = state;
  const [now = 0] = machine.loadAverage;
  return (
    <>
      {state.admission === 'open' ? null : <Notice kind="warn">{words.admission[state.admission]}</Notice>}
      <div class="tiles">
        <Tile label={words.calls} value={state.liveCalls} />
        <Tile
          label={words.load}
          value={now.toFixed(1)}
          about={words.ofCores(machine.cores)}
          isBad={now > machine.cores}
        />
        <Tile label={words.memory} value={bytesWords(machine.memory.freeBytes)} about={words.free} />
        <Tile
          label={words.disk}
          value={machine.disk === null ? '–' : bytesWords(machine.disk.freeBytes)}
          about={machine.disk === null ? '' : words.ofBytes(bytesWords(machine.disk.totalBytes))}
        />
        <Tile label={words.webhooks} value={state.waitingWebhooks} about={words.waiting} />
      </div>
      <Section title={words.processes} about={words.processesAbout} isFlush>
        {media.length === 0 ? (
          <Empty title={words.noProcess}>{words.noProcessHint}</Empty>
        ) : (
          <Table
            label={words.processes}
            rows={media}
            keyOf={({ mediaId }) => mediaId}
            columns={[
              { name: words.columns.process, cell: ({ mediaId }) => <code>{mediaId}</code> },
              {
                name: words.columns.state,
                cell: ({ connected, draining }) => (
                  <Badge tone={!connected ? 'bad' : draining ? 'warn' : 'good'}>
                    {!connected ? words.away : draining ? words.draining : words.takes}
                  </Badge>
                ),
              },
              { name: words.columns.calls, isNumber: true, cell: ({ calls }) => calls },
              {
                name: words.columns.room,
                isNumber: true,
                cell: ({ moreCalls }) => (moreCalls === null ? '–' : Math.floor(moreCalls)),
              },
              { name: words.columns.scarce, cell: ({ scarce }) => <Words>{scarce ?? '–'}</Words> },
              { name: words.columns.capacity, isNumber: true, cell: ({ capacity }) => capacity },
              { name: words.columns.socket, cell: ({ socketServer }) => socketServer ?? '–' },
            ]}
          />
        )}
      </Section>
      {otherNodes.length === 0 ? null : <OtherNodes runs={otherNodes} />}
      <div class="columns">
        <Section title={words.service}>
          <Facts
            facts={[
              [words.nodeName, <Words key="name">{state.nodeName}</Words>],
              [words.version, state.version],
              [words.node, state.node],
              [words.started, <Time key="started" at={state.startedAt} />],
              [words.address, <Words key="address">{state.publicUrl}</Words>],
              [words.control, bytesWords(control.memoryBytes)],
              [words.late, control.isOverloaded ? words.isLate : words.isNotLate],
            ]}
          />
        </Section>
        <Section title={words.database}>
          <Facts
            facts={[
              [words.version, database.version],
              [words.size, bytesWords(database.sizeBytes)],
              [words.connections, words.ofMost(database.connections, database.mostConnections)],
            ]}
          />
        </Section>
      </div>
    </>
  );
}

function OtherNodes({ runs }: { runs: ServiceState['otherNodes'] }) {
  const { columns: names } = words;
  return (
    <Section title={words.others} about={words.othersAbout} isFlush>
      <Table
        label={words.others}
        rows={runs}
        keyOf={({ node, mediaId }) => `${node} ${mediaId}`}
        columns={[
          { name: words.nodeName, cell: ({ node }) => <Words>{node}</Words> },
          { name: names.process, cell: ({ mediaId }) => <code>{mediaId}</code> },
          {
            name: names.state,
            cell: ({ isOverdue, draining }) => (
              <Badge tone={isOverdue ? 'bad' : draining ? 'warn' : 'good'}>
                {isOverdue ? words.overdue : draining ? words.draining : words.takes}
              </Badge>
            ),
          },
          { name: names.calls, isNumber: true, cell: ({ calls }) => calls },
          { name: names.room, isNumber: true, cell: ({ moreCalls }) => moreCalls ?? '–' },
          { name: names.capacity, isNumber: true, cell: ({ capacity }) => capacity },
          { name: words.heard, isNumber: true, cell: ({ silentMs }) => words.ago(silentMs) },
        ]}
      />
    </Section>
  );
}

function Tile({
  label,
  value,
  about = '',
  isBad = false,
}: {
  label: string;
  value: string | number;
  about?: string;
  isBad?: boolean;
}) {
  return (
    <div class={`tile${isBad ? ' bad' : ''}`}>
      <span class="soft">{label}</span>
      <strong>{value}</strong>
      <span class="soft tiny">{about}</span>
    </div>
  );
}
