/** The list of leads: by status and number, one opened in a dialog, one called with a click. */
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { ParleyError } from '../../../clients/typescript/src/parley-error.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { leads as words } from '../../texts/en/leads.ts';
import { go, replaceAddress, to } from '../../ui/address.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { useCursorList } from '../../ui/cursor-list.ts';
import { Icon } from '../../ui/icons.tsx';
import { useLoad } from '../../ui/load.ts';
import { PageHead } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { Words } from '../../ui/text.tsx';
import { Time, timeInZone } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { VirtualRows } from '../../ui/virtual-rows.tsx';
import { LeadDialog } from './lead-dialog.tsx';
import { type ListedLead, suppressionMarks } from './suppressed-numbers.ts';

const PAGE = 100;
const REFRESH_MS = 8_000;
const TONES: Readonly<Record<string, Tone>> = {
  new: 'quiet',
  calling: 'accent',
  contacted: 'good',
  no_answer: 'warn',
  failed: 'bad',
  do_not_contact: 'bad',
};

export function LeadList(props: { enterprise: string; query: URLSearchParams; tabs: ComponentChildren }) {
  const { enterprise, query, tabs } = props;
  const client = clientOf(enterprise);
  const status = query.get('status') ?? '';
  const phone = query.get('phone') ?? '';
  const agentId = query.get('agentId') ?? '';
  const agents = useLoad(
    async (signal) => (may('agents:read') ? (await client.listAgents({}, { signal })).data.data : []),
    [enterprise],
  );
  const [isAdding, setAdding] = useState(false);
  const given = { status, phone, agentId };
  const filters = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  const isFiltered = Object.keys(filters).length > 0;
  const mayWrite = may('leads:write');
  const mayCall = may('calls:write');
  const marked = useMemo(() => suppressionMarks(client), [client]);
  const list = useCursorList<ListedLead>(
    [enterprise, filters],
    async (cursor, signal) => {
      const given = { ...filters, limit: PAGE, ...(cursor === null ? {} : { cursor }) };
      const { data, nextCursor } = (await client.listLeads(given, { signal })).data;
      // Who may not call has masked numbers, which are on no list.
      const rows = mayCall ? await marked(data, signal) : data.map((lead) => ({ ...lead, isSuppressed: false }));
      return { data: rows, nextCursor };
    },
    ({ id }) => id,
    REFRESH_MS,
  );
  const here = (more: Record<string, string>): string => to(['w', enterprise, 'leads'], { ...given, ...more });
  const opened = query.get('lead');
  const close = (): void => {
    setAdding(false);
    go(here({}));
  };
  const { actions, ...columns } = words.columns;
  return (
    <div class="page wide full">
      <PageHead
        title={words.title}
        actions={
          mayWrite ? (
            <>
              <a class="button" href={to(['w', enterprise, 'leads', 'imports'], { new: '1' })}>
                <Icon name="upload" /> {words.import}
              </a>
              <Button kind="main" icon="plus" onPress={() => setAdding(true)}>
                {words.add}
              </Button>
            </>
          ) : null
        }
      />
      {tabs}
      <search class="filters">
        <div class="search">
          <Icon name="search" />
          <input
            type="search"
            aria-label={words.searchNumber}
            placeholder={words.searchNumber}
            value={phone}
            onChange={(event) => replaceAddress(here({ phone: event.currentTarget.value.trim() }))}
          />
        </div>
        <select
          class="short"
          aria-label={words.status}
          value={status}
          onChange={(event) => go(here({ status: event.currentTarget.value }))}
        >
          <option value="">{words.all}</option>
          {Object.entries(words.statuses).map(([value, label]) => (
            <option key={value} value={value} selected={value === status}>
              {label}
            </option>
          ))}
        </select>
        {(agents.data ?? []).length === 0 ? null : (
          <select
            class="short"
            aria-label={words.agent}
            value={agentId}
            onChange={(event) => go(here({ agentId: event.currentTarget.value }))}
          >
            <option value="">{words.everyAgent}</option>
            {agents.data?.map(({ id, name }) => (
              <option key={id} value={id} selected={id === agentId}>
                {name}
              </option>
            ))}
          </select>
        )}
      </search>
      <div class="bleed">
        {list.error !== undefined && list.rows.length === 0 ? (
          <Failure error={list.error} onRetry={list.reload} />
        ) : list.isLoading && list.rows.length === 0 ? (
          <Loading lines={10} />
        ) : list.rows.length === 0 ? (
          <Empty icon="leads" title={isFiltered ? words.noMatch : words.empty}>
            {isFiltered ? undefined : words.emptyHint}
          </Empty>
        ) : (
          <VirtualRows<ListedLead>
            label={words.title}
            class="leads"
            columns={[...Object.values(columns), ...(mayCall ? [actions] : [])]}
            rows={list.rows}
            hasMore={list.hasMore}
            keyOf={({ id }) => id}
            onNearEnd={list.more}
            end={
              <p class="rows-end">
                {list.hasMore ? words.countOrMore(list.rows.length) : words.count(list.rows.length)}
              </p>
            }
          >
            {(lead) => (
              <LeadCells enterprise={enterprise} lead={lead} href={here({ lead: lead.id })} mayCall={mayCall} />
            )}
          </VirtualRows>
        )}
      </div>
      {isAdding ? <LeadDialog enterprise={enterprise} lead={null} onClose={close} onChange={list.reload} /> : null}
      {opened === null ? null : (
        <OpenedLead key={opened} enterprise={enterprise} leadId={opened} onClose={close} onChange={list.reload} />
      )}
    </div>
  );
}

function LeadCells(props: { enterprise: string; lead: ListedLead; href: string; mayCall: boolean }) {
  const { enterprise, lead, href, mayCall } = props;
  const there = lead.timezone === null ? null : timeInZone(new Date().toISOString(), lead.timezone);
  async function call(): Promise<void> {
    try {
      const { data } = await clientOf(enterprise).callLead({ leadId: lead.id, body: {} });
      toast(words.called);
      go(to(['w', enterprise, 'call', data.callUuid]));
    } catch (error) {
      throw notCalled(error);
    }
  }
  return (
    <>
      <div role="cell">
        <a class="over" href={href}>
          <Words>{lead.name || lead.phone}</Words>
        </a>
      </div>
      <div role="cell" class="number">
        <Words>{lead.phone}</Words>
        {there === null ? null : <span class="soft tiny"> · {words.theirTime(there)}</span>}
      </div>
      <div role="cell">
        {lead.isSuppressed ? (
          <Badge tone="bad">{words.doNotCall}</Badge>
        ) : (
          <Badge tone={TONES[lead.status] ?? 'quiet'}>{words.statuses[lead.status] ?? lead.status}</Badge>
        )}
      </div>
      <div role="cell" class="soft">
        <Words>{lead.source}</Words>
      </div>
      <div role="cell" class="soft">
        <Time at={lead.updatedAt} />
      </div>
      {mayCall ? (
        <div role="cell" class="above">
          {lead.isSuppressed || lead.status === 'do_not_contact' || lead.status === 'calling' ? null : (
            <Button kind="quiet" icon="calls" title={words.callNow} onPress={call}>
              {words.callNow}
            </Button>
          )}
        </div>
      ) : null}
    </>
  );
}

/** The service has one sentence for all rules; which it was stands in the code. */
function notCalled(error: unknown): unknown {
  const reason = error instanceof ParleyError ? words.notCalled[error.code ?? ''] : undefined;
  return reason === undefined ? error : new Error(reason);
}

function OpenedLead(props: { enterprise: string; leadId: string; onClose(): void; onChange(): void }) {
  const { enterprise, leadId } = props;
  const lead = useLoad(async (signal) => (await clientOf(enterprise).readLead({ leadId }, { signal })).data, [leadId]);
  if (lead.data === undefined && lead.error === undefined) return null;
  return <LeadDialog {...props} lead={lead.data ?? null} error={lead.error} />;
}
