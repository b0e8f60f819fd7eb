/**
 * The webhook URL as a setting: set it, rotate its secret, choose opt-in events, switch it. What became of deliveries is
 * `src/api/webhooks`. Whoever sets the URL gets every transcript, so that takes `settings:write`; the rest `webhooks:write`. The rules
 * are `src/workspaces/webhooks.ts`; the command line runs the same functions.
 */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Clock } from '../../../media/contract/clock.ts';
import { endpointState, noticeOf, type WebhookEndpoint } from '../../webhooks/endpoint.ts';
import { OPT_IN_EVENTS } from '../../webhooks/events.ts';
import {
  type AddressCheck,
  removeWebhook,
  rotateWebhookSecret,
  setWebhook,
  showWebhook,
  subscribeWebhook,
  switchWebhook,
  type WebhookSet,
} from '../../workspaces/webhooks.ts';
import { changedBy, type Guard } from '../guard.ts';
import { type CreateOnceDeps, createOnce } from '../settings/create-once.ts';
import { etagOf, expectMatch } from '../settings/etag.ts';
import { refusing } from '../settings/setting-refusal.ts';

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

export function registerWebhookSettings(plain: FastifyInstance, guard: Guard, deps: WebhookSettingDeps): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const { database, sealer } = deps;
  const setting = { onRequest: guard('settings:write') };
  const secretAnswer = ({ endpoint, secret }: WebhookSet) => ({
    status: 200,
    body: { success: true, webhook: shownEndpoint(endpoint), secret },
    headers: { etag: webhookTag(endpoint) },
  });

  app.put(WEBHOOKS_PATH, { ...setting, schema: { body: webhookBody } }, (request, reply) => {
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
  });

  app.delete(WEBHOOKS_PATH, setting, async (request) => {
    const expect = expectMatch<WebhookEndpoint>(request, endpointState);
    const named = { slug: request.principal.slug, by: changedBy(request), expect };
    const removed = await refusing('webhook_not_set', removeWebhook(database, named));
    return { success: true, webhook: shownEndpoint(removed) };
  });

  app.post(`${WEBHOOKS_PATH}/rotate-secret`, setting, (request, reply) =>
    createOnce<WebhookSet>(deps, request, reply, {
      run: (once) => {
        const { slug } = request.principal;
        return refusing('webhook_not_set', rotateWebhookSecret(once, sealer, { slug, by: changedBy(request) }));
      },
      answer: secretAnswer,
    }),
  );

  const changing = { onRequest: guard('webhooks:write'), schema: { body: webhookChangeBody } };
  app.patch(WEBHOOKS_PATH, changing, async (request, reply) => {
    const { events, enabled } = request.body;
    const named = { slug: request.principal.slug, by: changedBy(request) };
    const expect = expectMatch<WebhookEndpoint>(request, endpointState);
    const changed = await refusing(
      'webhook_not_set',
      database.transaction(async (tx) => {
        const within = { ...database, transaction: <Result>(work: (inner: typeof tx) => Promise<Result>) => work(tx) };
        await tx.query(
          'SELECT 1 FROM webhook_endpoints e JOIN workspaces w ON w.id = e.workspace_id WHERE w.slug = $1 FOR UPDATE OF e',
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
  });
}

export function shownEndpoint(endpoint: WebhookEndpoint) {
  const { id: _id, url, ...rest } = endpoint;
  return { url, enabled: endpoint.disabledAt === null, notice: noticeOf(endpoint), ...rest };
}

export const webhookTag = (endpoint: WebhookEndpoint): string => etagOf(endpointState(endpoint));
