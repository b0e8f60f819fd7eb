/** What the routes that set the webhook URL answer, as zod schemas for the published document. */
import { z } from 'zod';
import { endpointAnswer } from '../webhooks/answers.ts';

const secret = z.string().describe('`whsec_…` with which every event is signed, this once (Standard Webhooks)');
export const withSecretAnswer = z
  .strictObject({ success: z.literal(true), webhook: endpointAnswer, secret })
  .meta({ id: 'WebhookWithSecret' });
export const setAnswer = z
  .strictObject({
    success: z.literal(true),
    webhook: endpointAnswer,
    secret: secret.nullable().describe('Of a new one, this once; null: the one that there was stays'),
  })
  .meta({ id: 'WebhookSet' });
export const removedAnswer = z
  .strictObject({ success: z.literal(true), webhook: endpointAnswer.describe('As it was') })
  .meta({ id: 'WebhookRemoved' });
