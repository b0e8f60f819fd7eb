/** What was sent to the receiver, newest first, and sending it again. */
import { useState } from 'preact/hooks';
import type { WebhookDelivery } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { settledDelivery } from '../../api/settled-delivery.ts';
import { common } from '../../texts/en/common.ts';
import { deliveryStates } from '../../texts/en/deliveries.ts';
import { webhooksWords as words } from '../../texts/en/settings.ts';
import { to } from '../../ui/address.ts';
import { Button } from '../../ui/button.tsx';
import { useCursorList } from '../../ui/cursor-list.ts';
import { DeliveryState, tellOutcome } from '../../ui/delivery-state.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Select } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Words } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';

const PAGE = 50;
const REFRESH_MS = 6_000;

/** `isPaused`: what is sent again waits. */
export function Deliveries({ enterprise, isPaused }: { enterprise: string; isPaused: boolean }) {
  const client = clientOf(enterprise);
  const [state, setState] = useState('');
  const list = useCursorList<WebhookDelivery>(
    [enterprise, state],
    async (cursor, signal) => {
      const asked = { limit: PAGE, ...(state === '' ? {} : { state }), ...(cursor === null ? {} : { cursor }) };
      return (await client.listWebhookDeliveries(asked, { signal })).data;
    },
    ({ id }) => id,
    REFRESH_MS,
  );
  const mayResend = may('webhooks:write') || may('webhooks:resend');
  async function resend(id: string): Promise<void> {
    const { data } = await client.redeliverWebhook({ deliveryId: id });
    tellOutcome(await settledDelivery(enterprise, data.delivery));
    list.reload();
  }
  const [isReplaying, setReplaying] = useState(false);
  const { columns: names } = words;
  return (
    <Section
      title={words.deliveries}
      isFlush
      actions={
        <>
          <select
            class="short"
            aria-label={names.state}
            value={state}
            onChange={(event) => setState(event.currentTarget.value)}
          >
            <option value="">{words.allStates}</option>
            {Object.entries(deliveryStates).map(([value, label]) => (
              <option key={value} value={value} selected={value === state}>
                {label}
              </option>
            ))}
          </select>
          {mayResend ? (
            <Button icon="refresh" onPress={() => setReplaying(true)}>
              {words.replay}
            </Button>
          ) : null}
        </>
      }
    >
      {list.error !== undefined && list.rows.length === 0 ? (
        <Failure error={list.error} onRetry={list.reload} />
      ) : list.isLoading && list.rows.length === 0 ? (
        <Loading />
      ) : list.rows.length === 0 ? (
        <Empty title={words.deliveriesEmpty} />
      ) : (
        <>
          <Table
            label={words.deliveries}
            rows={list.rows}
            keyOf={({ id }) => id}
            columns={[
              { name: names.when, cell: ({ createdAt }) => <Time at={createdAt} isExact /> },
              { name: names.event, isShort: true, cell: ({ event }) => <code>{event}</code> },
              {
                name: names.call,
                isShort: true,
                cell: ({ callUuid }) =>
                  callUuid === null ? (
                    '–'
                  ) : (
                    <a href={to(['w', enterprise, 'call', callUuid, 'webhooks'])}>…{callUuid.slice(-8)}</a>
                  ),
              },
              {
                name: names.state,
                cell: ({ state: one, lastStatus }) => <DeliveryState state={one} lastStatus={lastStatus} />,
              },
              { name: names.tries, isNumber: true, cell: ({ attempts }) => attempts },
              { name: names.error, cell: ({ lastError }) => <Words>{lastError}</Words> },
              {
                name: names.actions,
                isHidden: true,
                cell: ({ id, event }) =>
                  mayResend ? (
                    <Button
                      kind="quiet"
                      icon="refresh"
                      label={`${words.resend}: ${event}`}
                      onPress={() => resend(id)}
                    />
                  ) : null,
              },
            ]}
          />
          {list.hasMore ? (
            <div class="more">
              <Button onPress={list.more}>{common.loadMore}</Button>
            </div>
          ) : null}
        </>
      )}
      {isReplaying ? (
        <Replay enterprise={enterprise} isPaused={isPaused} onClose={() => setReplaying(false)} onDone={list.reload} />
      ) : null}
    </Section>
  );
}

const HOUR_MS = 3_600_000;

/** What was not delivered since a time that is chosen. */
function Replay(props: { enterprise: string; isPaused: boolean; onClose(): void; onDone(): void }) {
  const { enterprise, isPaused, onClose, onDone } = props;
  const [hours, setHours] = useState('24');
  async function replay(): Promise<void> {
    const from = new Date(Date.now() - Number(hours) * HOUR_MS).toISOString();
    const { data } = await clientOf(enterprise).replayWebhooks({ body: { from, states: ['failed', 'dead'] } });
    toast(isPaused ? words.replayWaits(data.count) : words.replayed(data.count));
    onDone();
  }
  return (
    <Confirm title={words.replay} action={words.replay} run={replay} onClose={onClose}>
      <p>{words.replayAsk}</p>
      {isPaused ? <p>{words.replayPaused}</p> : null}
      <Select
        label={words.replaySince}
        value={hours}
        options={Object.entries(words.replayTimes).map(([value, label]) => ({ value, label }))}
        onInput={setHours}
      />
    </Confirm>
  );
}
