/** What was sent for this call, each try of it, and a way to send it again. */
import { useState } from 'preact/hooks';
import type { WebhookDelivery } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { settledDelivery } from '../../api/settled-delivery.ts';
import { call as words } from '../../texts/en/call.ts';
import { Button } from '../../ui/button.tsx';
import { DeliveryState, tellOutcome } from '../../ui/delivery-state.tsx';
import { useLoad } from '../../ui/load.ts';
import { Empty, Shown } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';

export function Webhooks({ enterprise, callUuid }: { enterprise: string; callUuid: string }) {
  const client = clientOf(enterprise);
  const sent = useLoad(
    async (signal) => (await client.listWebhookDeliveries({ callUuid, limit: 100 }, { signal })).data.data,
    [enterprise, callUuid],
  );
  async function resend(id: string): Promise<void> {
    const { data } = await client.redeliverWebhook({ deliveryId: id });
    tellOutcome(await settledDelivery(enterprise, data.delivery));
    sent.reload();
  }
  return (
    <Shown of={sent}>
      {(deliveries) =>
        deliveries.length === 0 ? (
          <Empty title={words.noWebhooks}>{words.noWebhooksHint}</Empty>
        ) : (
          <ul class="items">
            {deliveries.map((one) => (
              <Delivery key={one.id} enterprise={enterprise} delivery={one} onResend={() => resend(one.id)} />
            ))}
          </ul>
        )
      }
    </Shown>
  );
}

function Delivery(props: { enterprise: string; delivery: WebhookDelivery; onResend(): Promise<void> }) {
  const { enterprise, delivery, onResend } = props;
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <div class="line apart">
        <code>{delivery.event}</code>
        <DeliveryState state={delivery.state} lastStatus={delivery.lastStatus} />
      </div>
      <div class="line apart soft tiny">
        <span>
          <Time at={delivery.createdAt} isExact /> ·{' '}
          <button type="button" class="inline" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {words.attempts(delivery.attempts)}
          </button>
          {delivery.nextAttemptAt === null || delivery.state === 'delivered' ? null : (
            <>
              {' '}
              · {words.nextAttempt} <Time at={delivery.nextAttemptAt} isExact />
            </>
          )}
        </span>
        {may('webhooks:write') || may('webhooks:resend') ? (
          <Button kind="quiet" icon="refresh" onPress={onResend}>
            {words.resend}
          </Button>
        ) : null}
      </div>
      {delivery.lastError === null ? null : (
        <p class="tiny fault">
          <bdi>{delivery.lastError}</bdi>
        </p>
      )}
      {isOpen ? <Attempts enterprise={enterprise} id={delivery.id} count={delivery.attempts} /> : null}
    </li>
  );
}

/** `count`: of those that there are; another is asked for at once. */
function Attempts({ enterprise, id, count }: { enterprise: string; id: string; count: number }) {
  const one = useLoad(
    async (signal) => (await clientOf(enterprise).readWebhookDelivery({ deliveryId: id }, { signal })).data.attemptLog,
    [enterprise, id, count],
  );
  return (
    <Shown of={one} lines={2}>
      {(attempts) => (
        <ol class="attempts tiny">
          {attempts.map((attempt) => (
            <li key={attempt.attempt}>
              <Time at={attempt.at} isExact /> · {attempt.status ?? '–'} · {attempt.ms} ms{' '}
              {attempt.error === null ? null : <bdi class="fault">{attempt.error}</bdi>}
            </li>
          ))}
        </ol>
      )}
    </Shown>
  );
}
