/** The webhook URL's settings, described for the published document. */
import { z } from 'zod';
import { json, type Operation } from '../openapi/operation.ts';
import { CHANGING, CREATING, IF_MATCH, ONCE, REPLAYED, settings, TAGGED } from '../settings/described.ts';
import { endpointAnswer } from '../webhooks/answers.ts';
import { WEBHOOKS_PATH, webhookBody, webhookChangeBody } from './webhook-setting-routes.ts';

const withSecretAnswer = z
  .strictObject({
    success: z.literal(true),
    webhook: endpointAnswer,
    secret: z.string().describe('`whsec_…` with which every event is signed, this once (Standard Webhooks)'),
  })
  .meta({ id: 'WebhookWithSecret' });

const setting = { ...settings, scope: 'settings:write' } as const;

export const webhookSettingOperations: readonly Operation[] = [
  {
    ...setting,
    method: 'put',
    route: WEBHOOKS_PATH,
    id: 'setWebhook',
    summary: 'Set the webhook URL',
    description:
      'Makes a new secret, which the answer shows this once; the one before stops at once, for it belongs to another receiver. What waited goes to the new URL.',
    headers: { ...ONCE, ...IF_MATCH },
    body: webhookBody,
    answers: { 200: json('The URL and its secret.', withSecretAnswer, { ...REPLAYED, ETag: TAGGED.ETag }) },
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
