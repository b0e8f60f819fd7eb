/** The call log: its filters as a sentence that can be sent as an address, and its rows, however many. */
import { useMemo } from 'preact/hooks';
import type { Call } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { calls as words } from '../../texts/en/calls.ts';
import { to } from '../../ui/address.ts';
import { CallStatus, numberBeside, outcomeOf, whoOf } from '../../ui/call-words.tsx';
import { useCursorList } from '../../ui/cursor-list.ts';
import { Icon } from '../../ui/icons.tsx';
import { useLoad } from '../../ui/load.ts';
import { PageHead } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { Words } from '../../ui/text.tsx';
import { clockWords, msWords, Time } from '../../ui/time.tsx';
import { VirtualRows } from '../../ui/virtual-rows.tsx';
import { ExportMenu } from './export-menu.tsx';
import { FilterBar } from './filter-bar.tsx';
import { askedOf } from './filters.ts';
import { ViewsMenu } from './views-menu.tsx';

/** From here on people notice that they wait. */
const SLOW_REPLY_MS = 1_500;
/** What is asked for first: what a window holds, so that it is there soon. */
const FIRST_PAGE = 40;
const PAGE = 100;
const REFRESH_MS = 5_000;

export function CallsPage({ enterprise, query }: { enterprise: string; query: URLSearchParams }) {
  const key = query.toString();
  // The same words are the same filters.
  const filters = useMemo(() => askedOf(query), [key]);
  const list = useCursorList<Call>(
    [enterprise, filters],
    async (cursor, signal) => {
      const asked = { ...filters, ...(cursor === null ? { limit: FIRST_PAGE } : { cursor, limit: PAGE }) };
      return (await clientOf(enterprise).listCalls(asked, { signal })).data;
    },
    ({ callUuid }) => callUuid,
    REFRESH_MS,
  );
  const agents = useLoad(
    async (signal) => (await clientOf(enterprise).listAgents({}, { signal })).data.data,
    [enterprise],
  );
  const named = useMemo(() => new Map(agents.data?.map(({ id, name }) => [id, name])), [agents.data]);
  const isFiltered = Object.keys(filters).length > 0;
  const calls = list.rows;
  return (
    <div class="page wide full">
      <PageHead
        title={words.title}
        actions={
          <>
            <ViewsMenu enterprise={enterprise} query={key} />
            <ExportMenu enterprise={enterprise} filters={filters} agents={agents.data ?? []} />
          </>
        }
      />
      <FilterBar enterprise={enterprise} query={query} agents={agents.data ?? []} />
      <div class="bleed">
        {list.error !== undefined && calls.length === 0 ? (
          <Failure error={list.error} onRetry={list.reload} />
        ) : list.isLoading && calls.length === 0 ? (
          <Loading lines={12} />
        ) : calls.length === 0 ? (
          <Empty icon="calls" title={isFiltered ? words.noMatch : words.empty}>
            {isFiltered ? words.noMatchHint : words.emptyHint}
          </Empty>
        ) : (
          <VirtualRows<Call>
            label={words.list}
            class="calls"
            columns={Object.values(words.columns)}
            rows={calls}
            hasMore={list.hasMore}
            keyOf={({ callUuid }) => callUuid}
            onNearEnd={list.more}
            end={<p class="rows-end">{list.hasMore ? words.countOrMore(calls.length) : words.count(calls.length)}</p>}
          >
            {(call) => <CallCells enterprise={enterprise} call={call} agent={named.get(call.agentId)} />}
          </VirtualRows>
        )}
      </div>
    </div>
  );
}

function CallCells({ enterprise, call, agent }: { enterprise: string; call: Call; agent: string | undefined }) {
  const p95 = (call.latency?.['mouthToEarMs'] as { p95?: number } | null | undefined)?.p95;
  const toolFailed = call.tools.some(({ outcome }) => outcome === 'failed');
  return (
    <>
      <div role="cell">
        <CallStatus status={call.status} />
      </div>
      <div role="cell">
        <a class="over" href={to(['w', enterprise, 'call', call.callUuid])}>
          <Words>{whoOf(call)}</Words>
        </a>{' '}
        <span class="soft">
          <Words>{numberBeside(call)}</Words>
        </span>
      </div>
      <div role="cell" class="soft">
        <Words>{agent ?? ''}</Words>
      </div>
      <div role="cell">
        <Words>{outcomeOf(call)}</Words>
      </div>
      <div role="cell" class="soft">
        <Time at={call.createdAt} />
      </div>
      <div role="cell" class="number">
        {call.durationSeconds === null ? <span class="soft">–</span> : clockWords(call.durationSeconds)}
      </div>
      <div role="cell" class={p95 !== undefined && p95 > SLOW_REPLY_MS ? 'number late' : 'number'}>
        {p95 === undefined ? <span class="soft">–</span> : msWords(p95)}
      </div>
      <div role="cell" class="flags">
        {call.recording.status === 'ready' ? <Note icon="voice" title={words.flags.recording} /> : null}
        {call.recovery.length > 0 ? <Note icon="refresh" title={words.flags.recovery} /> : null}
        {toolFailed ? <Note icon="warn" title={words.flags.tool} /> : null}
      </div>
    </>
  );
}

function Note({ icon, title }: { icon: 'voice' | 'refresh' | 'warn'; title: string }) {
  return (
    <span title={title}>
      <Icon name={icon} size={14} />
      <span class="hidden">{title}</span>
    </span>
  );
}
