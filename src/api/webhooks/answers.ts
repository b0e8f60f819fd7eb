/** What the webhook routes answer, as zod schemas for the published document (see `openapi/shared-answers.ts`). */
import { z } from 'zod';
import { DELIVERY_STATES } from '../../webhooks/delivery-log.ts';
import { ALL_EVENTS, OPT_IN_EVENTS } from '../../webhooks/events.ts';
import { pageOf, time, uuid } from '../openapi/shared-answers.ts';

const status = z.int().nullable().describe('Null: no answer came');

export const endpointAnswer = z
  .strictObject({
    url: z.url(),
    enabled: z.boolean(),
    notice: z.string().nullable().describe('What a person should know; null when all is well'),
    disabledAt: time.nullable(),
    disabledReason: z.enum(['gone', 'failing', 'operator']).nullable(),
    events: z.array(z.enum(OPT_IN_EVENTS)).describe('Opt-in events that are sent beside those that always are'),
    lastSuccessAt: time.nullable(),
    failingSince: time.nullable().describe('The first failure since the last success'),
    failuresSinceSuccess: z.int(),
    breaker: z
      .strictObject({
        state: z
          .enum(['closed', 'open', 'half_open'])
          .describe(
            'open: 20 attempts in a row failed, and nothing is sent; half_open: the next attempt asks whether it is back',
          ),
        opensAt: time.nullable().describe('When that attempt may be made'),
        reason: z.string().nullable(),
      })
      .describe('`enable` closes it'),
    waiting: z.int().describe('Deliveries that are not over'),
    previousSecretUntil: time.nullable().describe('Until when the secret before the last rotation signs too'),
    createdAt: time,
  })
  .meta({ id: 'WebhookEndpoint' });

const entry = {
  id: uuid,
  eventId: z.string().describe('`webhook-id` of every attempt'),
  event: z.enum(ALL_EVENTS),
  callUuid: uuid.nullable(),
  sequence: z.int(),
  state: z
    .enum(DELIVERY_STATES)
    .describe('pending: before its first attempt; failed: will be tried again; dead: given up'),
  attempts: z.int(),
  nextAttemptAt: time.nullable(),
  lastAttemptAt: time.nullable(),
  lastStatus: status,
  lastError: z.string().nullable(),
  deliveredAt: time.nullable(),
  createdAt: time,
};

export const deliveriesAnswer = pageOf(z.strictObject(entry).meta({ id: 'WebhookDelivery' })).meta({
  id: 'WebhookDeliveries',
});

const detail = z
  .strictObject({
    ...entry,
    attemptLog: z
      .array(
        z.strictObject({
          at: time,
          attempt: z.int(),
          status,
          error: z.string().nullable(),
          ms: z.int().describe('From the look-up of the name to the answer'),
        }),
      )
      .describe('The newest 24, oldest first'),
  })
  .meta({ id: 'WebhookDeliveryDetail' });

export const deliveryAnswer = detail;
export const sentAnswer = z.strictObject({ success: z.literal(true), delivery: detail }).meta({ id: 'WebhookSent' });

export const replayAnswer = z
  .strictObject({
    success: z.literal(true),
    count: z.int().describe('Events that are being sent, the oldest first'),
    nextFrom: time.nullable().describe('More match: repeat with `from` at this time'),
  })
  .meta({ id: 'WebhookReplay' });
