/** What became of a webhook that was just asked to be sent: sending is done by the service in its own time. */
import type { WebhookDelivery } from '../../clients/typescript/src/client.ts';
import { deliveryStates, sentWords } from '../texts/en/deliveries.ts';
import { clientOf } from './request.ts';

const LOOK_EVERY_MS = 400;
const LOOKS = 10;

/** In a sentence. Waits some seconds for the answer of the receiver; what waits longer is told as waiting. */
export async function sentOutcome(enterprise: string, asked: WebhookDelivery): Promise<string> {
  let delivery = asked;
  for (let looks = 0; looks < LOOKS && delivery.state === 'pending'; looks++) {
    await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
    delivery = (await clientOf(enterprise).readWebhookDelivery({ deliveryId: asked.id })).data;
  }
  const { state, lastStatus, lastError } = delivery;
  if (state === 'pending') return sentWords.waits;
  if (state === 'delivered') return sentWords.delivered(lastStatus);
  return sentWords.failed(lastError ?? `HTTP ${lastStatus}`, deliveryStates[state]);
}
