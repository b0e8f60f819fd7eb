/**
 * The webhook URL as a setting: set it, rotate its secret, choose opt-in events, switch it. What became of deliveries
 * is `src/api/webhooks`. Whoever sets the URL gets every transcript, so that takes `settings:write`; the rest
 * `webhooks:write`. The rules are `src/webhooks/operator-webhooks.ts`; the command line runs the same functions.
 */

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../../../media/contract/clock.ts';
import type { AddressCheck } from '../../../media/net/target-check.ts';
import { changeWithBacklog } from '../../webhooks/backlog.ts';
import { endpointState, noticeOf, type WebhookEndpoint } from '../../webhooks/endpoint.ts';
import { OPT_IN_EVENTS } from '../../webhooks/events.ts';
import {
  removeWebhook,
  rotateWebhookSecret,
  setWebhook,
  showWebhook,
  subscribeWebhook,
  switchWebhook,
  type WebhookSet,
} from '../../webhooks/operator-webhooks.ts';
import { changedBy, type Guard } from '../guard.ts';
import { ETAG, json } from '../openapi/operation.ts';
import { routesOn } from '../route.ts';
import { type CreateOnceDeps, createOnce } from '../settings/create-once.ts';
import { etagOf, expectMatch } from '../settings/etag.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { endpointAnswer } from '../webhooks/answers.ts';
import { removedAnswer, setAnswer, withSecretAnswer } from './answers.ts';

export interface WebhookSettingDeps extends CreateOnceDeps {
  clock: Clock;
  /** Where a URL may lead. */
  webhookAddress: Omit<AddressCheck, 'clock'>;
}

export const WEBHOOKS_PATH = '/api/developer/webhooks';

export const webhookBody = z
  .strictObject({
    url: z.string().trim().min(1).max(2_000).meta({ description: 'https' }),
    newSecret: z.boolean().optional().meta({ description: 'True: make another; the old one signs too for 24 h' }),
  })
  .meta({ id: 'WebhookRequest' });

export const webhookChangeBody = z
  .strictObject({
    events: z.array(z.enum(OPT_IN_EVENTS)).max(OPT_IN_EVENTS.length).optional().meta({
      description: 'Opt-in events that are sent beside those that always are; the list is replaced whole',
    }),
    enabled: z.boolean().optional().meta({ description: 'On: what waits is sent. Off: events are kept.' }),
  })
  .meta({ id: 'WebhookChange' });

export function registerWebhookSettings(app: FastifyInstance, guard: Guard, deps: WebhookSettingDeps): void {
  const route = routesOn(app, guard);
  const { database, sealer } = deps;
  const secretAnswer = ({ endpoint, secret }: WebhookSet) => ({
    status: 200,
    body: { success: true, webhook: shownEndpoint(endpoint), secret },
    headers: { etag: webhookTag(endpoint) },
  });

  route({
    method: 'put',
    path: WEBHOOKS_PATH,
    id: 'setWebhook',
    tag: 'Settings',
    summary: 'Set the webhook URL',
    description:
      'The first URL gets a secret, which the answer shows this once. Another URL keeps it, unless `newSecret` asks for one: then both sign for 24 h. What waited goes to the new URL.',
    scope: 'settings:write',
    once: true,
    ifMatch: true,
    body: webhookBody,
    answers: { 200: json('The URL, and its secret if that is new.', setAnswer, ETAG) },
    errors: ['webhook_not_set', 'setting_refused', 'already_exists'],
    handler(request, reply) {
      const expect = expectMatch<WebhookEndpoint | null>(request, (current) => current && endpointState(current));
      return createOnce<WebhookSet>(deps, request, reply, {
        run: (once) =>
          refusing(
            'webhook_not_set',
            setWebhook(once, sealer, {
              slug: request.principal.slug,
              ...request.body,
              by: changedBy(request),
              check: { ...deps.webhookAddress, clock: deps.clock },
              expect,
            }),
          ),
        answer: secretAnswer,
      });
    },
  });

  route({
    method: 'delete',
    path: WEBHOOKS_PATH,
    id: 'removeWebhook',
    tag: 'Settings',
    summary: 'Take the webhook URL and its secret away',
    description:
      'What waits is given up. What became of events can still be read, and a URL that is set later can be sent them by a replay.',
    scope: 'settings:write',
    ifMatch: true,
    answers: { 200: json('It is gone.', removedAnswer) },
    errors: ['webhook_not_set', 'setting_refused'],
    async handler(request) {
      const expect = expectMatch<WebhookEndpoint>(request, endpointState);
      const named = { slug: request.principal.slug, by: changedBy(request), expect };
      const removed = await refusing('webhook_not_set', removeWebhook(database, named));
      return { success: true, webhook: shownEndpoint(removed) };
    },
  });

  route({
    method: 'post',
    path: `${WEBHOOKS_PATH}/rotate-secret`,
    id: 'rotateWebhookSecret',
    tag: 'Settings',
    summary: 'Make a new signing secret',
    description: 'For 24 h both sign, so that the receiver can be changed in between.',
    scope: 'settings:write',
    once: true,
    answers: { 200: json('The URL and its new secret.', withSecretAnswer, ETAG) },
    errors: ['webhook_not_set', 'setting_refused', 'already_exists'],
    handler: (request, reply) =>
      createOnce<WebhookSet>(deps, request, reply, {
        run: (once) => {
          const { slug } = request.principal;
          return refusing('webhook_not_set', rotateWebhookSecret(once, sealer, { slug, by: changedBy(request) }));
        },
        answer: secretAnswer,
      }),
  });

  route({
    method: 'patch',
    path: WEBHOOKS_PATH,
    id: 'changeWebhook',
    tag: 'Settings',
    summary: 'Choose opt-in events, or switch the URL on or off',
    description: 'Neither makes a new secret.',
    scope: 'webhooks:write',
    ifMatch: true,
    body: webhookChangeBody,
    answers: { 200: json('The URL.', endpointAnswer, ETAG) },
    errors: ['webhook_not_set', 'setting_refused'],
    async handler(request, reply) {
      const { events, enabled } = request.body;
      const named = { slug: request.principal.slug, by: changedBy(request) };
      const expect = expectMatch<WebhookEndpoint>(request, endpointState);
      const changed = await refusing(
        'webhook_not_set',
        changeWithBacklog(database, async (tx) => {
          const within = {
            ...database,
            transaction: <Result>(work: (inner: typeof tx) => Promise<Result>) => work(tx),
          };
          await tx.query(
            'SELECT 1 FROM webhook_endpoints e JOIN workspaces w ON w.id = e.workspace_id WHERE w.slug = $1 FOR NO KEY UPDATE OF e',
            [named.slug],
          );
          let endpoint = await showWebhook(tx, named);
          expect?.(endpoint);
          if (events !== undefined) endpoint = await subscribeWebhook(within, { ...named, events });
          if (enabled !== undefined) endpoint = await switchWebhook(within, { ...named, enabled });
          return endpoint;
        }),
      );
      reply.header('etag', webhookTag(changed));
      return shownEndpoint(changed);
    },
  });
}

export function shownEndpoint(endpoint: WebhookEndpoint) {
  const { id: _id, url, ...rest } = endpoint;
  return { url, enabled: endpoint.disabledAt === null, notice: noticeOf(endpoint), ...rest };
}

export const webhookTag = (endpoint: WebhookEndpoint): string => etagOf(endpointState(endpoint));
