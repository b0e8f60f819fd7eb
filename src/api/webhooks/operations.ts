/** The webhook routes, described for the published document. */
import type { ErrorCode } from '../error-codes.ts';
import { BODY, json, KEYED, none, type Operation, RATE_HEADERS } from '../openapi/operation.ts';
import { deliveriesAnswer, deliveryAnswer, endpointAnswer, replayAnswer, sentAnswer } from './answers.ts';
import { deliveriesQuery, deliveryParams, replayBody } from './webhook-routes.ts';

const webhooks = { ...none, tag: 'Webhooks' } as const;
const SENDING: readonly ErrorCode[] = ['webhook_not_set', 'webhook_disabled', ...KEYED, ...BODY];

export const webhookOperations: readonly Operation[] = [
  {
    ...webhooks,
    method: 'get',
    route: '/api/developer/webhooks',
    id: 'readWebhook',
    summary: 'The webhook URL and its state',
    description: 'Its secret is shown once, to whoever sets the URL.',
    scope: 'calls:read',
    answers: { 200: json('The URL.', endpointAnswer, { ...RATE_HEADERS, ETag: 'Of this state, for If-Match' }) },
    errors: ['webhook_not_set', ...KEYED],
  },
  {
    ...webhooks,
    method: 'post',
    route: '/api/developer/webhooks/enable',
    id: 'enableWebhook',
    summary: 'Switch the URL on, close its breaker and send what waits',
    description: 'Within 5 s; also what was given up since it began to fail. Without effect when it is on and well.',
    scope: 'webhooks:write',
    answers: { 200: json('The URL.', endpointAnswer, RATE_HEADERS) },
    errors: ['webhook_not_set', ...KEYED, ...BODY],
  },
  {
    ...webhooks,
    method: 'get',
    route: '/api/developer/webhooks/deliveries',
    id: 'listWebhookDeliveries',
    summary: 'What became of webhooks',
    description: 'Newest first.',
    scope: 'calls:read',
    query: deliveriesQuery,
    answers: { 200: json('A page.', deliveriesAnswer, RATE_HEADERS) },
    errors: ['invalid_call_id', 'invalid_request', 'invalid_cursor', ...KEYED],
  },
  {
    ...webhooks,
    method: 'get',
    route: '/api/developer/webhooks/deliveries/:deliveryId',
    id: 'readWebhookDelivery',
    summary: 'One delivery with its attempts',
    description: 'What the event said is in the call log.',
    scope: 'calls:read',
    params: deliveryParams,
    answers: { 200: json('The delivery.', deliveryAnswer, RATE_HEADERS) },
    errors: ['delivery_not_found', 'invalid_request', ...KEYED],
  },
  {
    ...webhooks,
    method: 'post',
    route: '/api/developer/webhooks/deliveries/:deliveryId/redeliver',
    id: 'redeliverWebhook',
    summary: 'Send one again',
    description: 'Under the same `webhook-id`, with a whole schedule of attempts before it.',
    scope: 'webhooks:write',
    params: deliveryParams,
    answers: { 202: json('It is being sent.', sentAnswer, RATE_HEADERS) },
    errors: ['delivery_not_found', 'webhook_too_old', 'invalid_request', ...SENDING],
  },
  {
    ...webhooks,
    method: 'post',
    route: '/api/developer/webhooks/replay',
    id: 'replayWebhooks',
    summary: 'Send many again',
    description:
      'All events of a time, of some kinds or calls, also those from before the URL was set; at most 10,000 at once. Under the same `webhook-id`: a receiver that remembers ids works off only what it missed.',
    scope: 'webhooks:write',
    body: replayBody,
    answers: { 202: json('They are being sent.', replayAnswer, RATE_HEADERS) },
    errors: ['invalid_request', ...SENDING],
  },
  {
    ...webhooks,
    method: 'post',
    route: '/api/developer/webhooks/test',
    id: 'testWebhook',
    summary: 'Send a `webhook.test`',
    description: 'Tried once. Read the delivery for its outcome.',
    scope: 'webhooks:write',
    answers: { 202: json('It is being sent.', sentAnswer, RATE_HEADERS) },
    errors: SENDING,
  },
];
