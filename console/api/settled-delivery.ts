/** What became of a webhook that was just asked to be sent: sending is done by the service in its own time. */
import type { WebhookDelivery } from '../../clients/typescript/src/client.ts';
import { clientOf } from './request.ts';

const LOOK_EVERY_MS = 400;
const LOOKS = 10;

/** Waits some seconds for the receiver's answer; what waits longer is given back as waiting. */
export async function settledDelivery(enterprise: string, asked: WebhookDelivery): Promise<WebhookDelivery> {
  let delivery = asked;
  for (let looks = 0; looks < LOOKS && delivery.state === 'pending'; looks++) {
    await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
    delivery = (await clientOf(enterprise).readWebhookDelivery({ deliveryId: asked.id })).data;
  }
  return delivery;
}
