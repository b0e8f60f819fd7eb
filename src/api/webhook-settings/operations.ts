/** The webhook URL's settings, described for the published document. */
import { z } from 'zod';
import { json, ONCE, type Operation, RATE_HEADERS, REPLAYED } from '../openapi/operation.ts';
import { CHANGING, CREATING, IF_MATCH, settings, TAGGED } from '../settings/described.ts';
import { endpointAnswer } from '../webhooks/answers.ts';
import { WEBHOOKS_PATH, webhookBody, webhookChangeBody } from './webhook-setting-routes.ts';

const secret = z.string().describe('`whsec_…` with which every event is signed, this once (Standard Webhooks)');
const withSecretAnswer = z
  .strictObject({ success: z.literal(true), webhook: endpointAnswer, secret })
  .meta({ id: 'WebhookWithSecret' });
const setAnswer = z
  .strictObject({
    success: z.literal(true),
    webhook: endpointAnswer,
    secret: secret.nullable().describe('Of a new one, this once; null: the one that there was stays'),
  })
  .meta({ id: 'WebhookSet' });
const removedAnswer = z
  .strictObject({ success: z.literal(true), webhook: endpointAnswer.describe('As it was') })
  .meta({ id: 'WebhookRemoved' });

const setting = { ...settings, scope: 'settings:write' } as const;

export const webhookSettingOperations: readonly Operation[] = [
  {
    ...setting,
    method: 'put',
    route: WEBHOOKS_PATH,
    id: 'setWebhook',
    summary: 'Set the webhook URL',
    description:
      'The first URL gets a secret, which the answer shows this once. Another URL keeps it, unless `newSecret` asks for one: then both sign for 24 h. What waited goes to the new URL.',
    headers: { ...ONCE, ...IF_MATCH },
    body: webhookBody,
    answers: { 200: json('The URL, and its secret if that is new.', setAnswer, { ...REPLAYED, ETag: TAGGED.ETag }) },
    errors: ['webhook_not_set', 'precondition_failed', ...CREATING],
  },
  {
    ...setting,
    method: 'post',
    route: `${WEBHOOKS_PATH}/rotate-secret`,
    id: 'rotateWebhookSecret',
    summary: 'Make a new signing secret',
    description: 'For 24 h both sign, so that the receiver can be changed in between.',
    headers: ONCE,
    answers: { 200: json('The URL and its new secret.', withSecretAnswer, { ...REPLAYED, ETag: TAGGED.ETag }) },
    errors: ['webhook_not_set', ...CREATING],
  },
  {
    ...setting,
    method: 'delete',
    route: WEBHOOKS_PATH,
    id: 'removeWebhook',
    summary: 'Take the webhook URL and its secret away',
    description:
      'What waits is given up. What became of events can still be read, and a URL that is set later can be sent them by a replay.',
    headers: IF_MATCH,
    answers: { 200: json('It is gone.', removedAnswer, RATE_HEADERS) },
    errors: ['webhook_not_set', ...CHANGING],
  },
  {
    ...settings,
    method: 'patch',
    route: WEBHOOKS_PATH,
    id: 'changeWebhook',
    summary: 'Choose opt-in events, or switch the URL on or off',
    description: 'Neither makes a new secret.',
    scope: 'webhooks:write',
    headers: IF_MATCH,
    body: webhookChangeBody,
    answers: { 200: json('The URL.', endpointAnswer, TAGGED) },
    errors: ['webhook_not_set', ...CHANGING],
  },
];
