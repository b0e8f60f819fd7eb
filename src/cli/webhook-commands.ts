/** `parley webhook …`: the one address that gets a workspace's events, and what became of them. Its secret is printed once. */
import type { Command } from 'commander';
import { systemClock } from '../../media/contract/clock.ts';
import { createAddressGuard } from '../../media/net/address-guard.ts';
import { systemResolver } from '../../media/net/name-lookup.ts';
import { OperatorError } from '../errors/operator-error.ts';
import {
  DELIVERY_STATES,
  type DeliveryDetail,
  type DeliveryEntry,
  type DeliveryState,
} from '../webhooks/delivery-log.ts';
import { noticeOf, type WebhookEndpoint } from '../webhooks/endpoint.ts';
import { OPT_IN_EVENTS } from '../webhooks/events.ts';
import {
  listWebhookDeliveries,
  redeliverWebhook,
  removeWebhook,
  replayWebhooks,
  rotateWebhookSecret,
  setWebhook,
  showWebhook,
  showWebhookDelivery,
  subscribeWebhook,
  switchWebhook,
  testWebhook,
} from '../webhooks/operator-webhooks.ts';
import { type CommandIo, dateText, listOf, table, wholeNumber } from './command-io.ts';

const SHOWN_ONCE = 'Give it to the receiver now: it is stored sealed and cannot be shown again.';
const SECRET_STAYS = 'The signing secret stays as it was; --new-secret makes another.';
const SENT_BY_SERVICE = 'The running service sends it within 5 s.';
const TEST_LIMIT_MS = 20_000;
const POLL_MS = 250;

export function addWebhookCommands(program: Command, io: CommandIo): void {
  const webhook = program.command('webhook').description('where call events are sent, and what became of them');
  addEndpointCommands(webhook, io);
  addRemoveCommand(webhook, io);
  addDeliveryCommands(webhook, io);
}

function addEndpointCommands(webhook: Command, io: CommandIo): void {
  webhook
    .command('set <slug>')
    .description('set or change the address; the signing secret of the first one is printed, once, and stays')
    .requiredOption('--url <url>', 'https, or http inside WEBHOOK_ALLOW_CIDRS')
    .option('--new-secret', 'make another secret; the old one signs too for 24 h')
    .action(async (slug: string, { url, newSecret }: { url: string; newSecret?: true }) => {
      const guard = createAddressGuard(io.settings().webhookAllowCidrs);
      const check = { guard, resolveName: systemResolver, clock: systemClock };
      const made = await setWebhook(io.database(), await io.sealer(), { slug, url, newSecret, by: io.by(), check });
      const { endpoint, secret } = made;
      io.print({ ...endpoint, secret }, secret === null ? [SECRET_STAYS] : [secret, SHOWN_ONCE]);
    });

  webhook
    .command('rotate <slug>')
    .description('make a new signing secret and print it, once; the old one signs too for 24 h')
    .action(async (slug: string) => {
      const made = await rotateWebhookSecret(io.database(), await io.sealer(), { slug, by: io.by() });
      io.print({ ...made.endpoint, secret: made.secret }, [made.secret, SHOWN_ONCE]);
    });

  webhook
    .command('show <slug>')
    .description('the address and its state, without the secret')
    .action(async (slug: string) => {
      const endpoint = await showWebhook(io.database(), { slug });
      io.print(endpoint, endpointLines(slug, endpoint));
    });

  webhook
    .command('events <slug>')
    .description('send these opt-in events too, and no other of them')
    .requiredOption('--opt-in <list>', `of ${OPT_IN_EVENTS.join(',')}; none for those alone that are always sent`)
    .action(async (slug: string, options: { optIn: string }) => {
      const events = options.optIn === 'none' ? [] : listOf(options.optIn);
      const endpoint = await subscribeWebhook(io.database(), { slug, events, by: io.by() });
      io.print(endpoint, endpointLines(slug, endpoint));
    });

  webhook
    .command('enable <slug>')
    .description('switch the address on, close its breaker and send what waits, within 5 s')
    .action(async (slug: string) => {
      const endpoint = await switchWebhook(io.database(), { slug, enabled: true, by: io.by() });
      io.print(endpoint, endpointLines(slug, endpoint));
    });

  webhook
    .command('disable <slug>')
    .description('switch the address off; events are kept')
    .action(async (slug: string) => {
      const endpoint = await switchWebhook(io.database(), { slug, enabled: false, by: io.by() });
      io.print(endpoint, endpointLines(slug, endpoint));
    });
}

function addRemoveCommand(webhook: Command, io: CommandIo): void {
  webhook
    .command('remove <slug>')
    .description('take the address and its secret away; what waits is given up')
    .action(async (slug: string) => {
      const removed = await removeWebhook(io.database(), { slug, by: io.by() });
      io.print(removed, [`'${slug}' has no webhook any more; ${removed.waiting} deliveries were given up.`]);
    });
}

function addDeliveryCommands(webhook: Command, io: CommandIo): void {
  webhook
    .command('deliveries <slug>')
    .description('what became of events, newest first')
    .option('--call <list>', 'of these calls')
    .option('--event <list>', 'such as call.completed,recording.ready')
    .option('--state <list>', `of ${DELIVERY_STATES.join(', ')}`)
    .option('--limit <count>', 'how many', wholeNumber, 50)
    .option('--after <delivery-id>', 'the last one of the page before')
    .action(
      async (
        slug: string,
        options: { call?: string; event?: string; state?: string; limit: number; after?: string },
      ) => {
        const filter = {
          callUuid: each(options.call, uuidOf),
          event: each(options.event, (event) => event),
          state: each(options.state, stateOf),
        };
        const after = options.after === undefined ? null : uuidOf(options.after);
        const found = await listWebhookDeliveries(io.database(), { slug, filter, limit: options.limit, after });
        io.print(found, table(HEAD, found.map(rowOf), 'There are none.'));
      },
    );

  webhook
    .command('delivery <slug> <delivery-id>')
    .description('one delivery with its attempts')
    .action(async (slug: string, deliveryId: string) => {
      const delivery = await showWebhookDelivery(io.database(), { slug, deliveryId: uuidOf(deliveryId) });
      io.print(delivery, detailLines(delivery));
    });

  webhook
    .command('redeliver <slug> <delivery-id>')
    .description('send one again, under the same webhook-id')
    .action(async (slug: string, deliveryId: string) => {
      const delivery = await redeliverWebhook(io.database(), { slug, deliveryId: uuidOf(deliveryId), by: io.by() });
      io.print(delivery, [SENT_BY_SERVICE]);
    });

  webhook
    .command('replay <slug>')
    .description('send many again, under the same webhook-ids; at most 10,000')
    .option('--from <time>', 'written then or later, ISO 8601')
    .option('--to <time>', 'written before')
    .option('--events <list>', 'such as call.completed,recording.ready')
    .option('--calls <list>', 'of these calls')
    .option('--states <list>', `only those that are ${DELIVERY_STATES.join(', ')}`)
    .action(
      async (
        slug: string,
        options: { from?: string; to?: string; events?: string; calls?: string; states?: string },
      ) => {
        const filter = {
          from: timeOf(options.from),
          to: timeOf(options.to),
          events: each(options.events, (event) => event),
          callUuids: each(options.calls, uuidOf),
          states: each(options.states, stateOf),
        };
        const { count, nextFrom } = await replayWebhooks(io.database(), { slug, filter, by: io.by() });
        const more = nextFrom === null ? [] : [`There are more: repeat with --from ${nextFrom.toISOString()}`];
        io.print({ count, nextFrom }, [`${count} events are sent again, from within 5 s on.`, ...more]);
      },
    );

  webhook
    .command('test <slug>')
    .description('send a webhook.test and say what came back')
    .action(async (slug: string) => {
      let delivery = await testWebhook(io.database(), { slug, by: io.by() }, systemClock);
      const untilMs = systemClock.nowMs() + TEST_LIMIT_MS;
      while (delivery.state === 'pending' && systemClock.nowMs() < untilMs) {
        await new Promise<void>((resolve) => systemClock.after(POLL_MS, resolve));
        delivery = await showWebhookDelivery(io.database(), { slug, deliveryId: delivery.id });
      }
      if (delivery.state === 'pending') {
        throw new OperatorError('refused', 'It was not sent within 20 s: is the service running on this database?');
      }
      if (delivery.state !== 'delivered') {
        throw new OperatorError('refused', `The test failed: ${delivery.lastError}. It is not tried again.`);
      }
      io.print(delivery, [`Delivered: ${delivery.lastStatus} after ${delivery.attemptLog.at(-1)?.ms ?? 0} ms.`]);
    });
}

function endpointLines(slug: string, endpoint: WebhookEndpoint): string[] {
  const notice = noticeOf(endpoint);
  const { events, failingSince, failuresSinceSuccess, previousSecretUntil, waiting, breaker } = endpoint;
  return [
    endpoint.url,
    notice === null ? 'enabled' : `${notice} (parley webhook enable ${slug})`,
    ...(events.length === 0 ? [] : [`opt-in events: ${events.join(', ')}`]),
    ...(breaker.opensAt === null ? [] : [`breaker ${breaker.state}, tries again at ${dateText(breaker.opensAt)}`]),
    ...(waiting === 0 ? [] : [`${waiting} deliveries wait`]),
    ...(failingSince === null ? [] : [`${failuresSinceSuccess} failures since ${dateText(failingSince)}`]),
    ...(previousSecretUntil === null ? [] : [`the old secret signs too until ${dateText(previousSecretUntil)}`]),
  ];
}

const HEAD = ['DELIVERY', 'EVENT', 'CALL', 'STATE', 'ATTEMPTS', 'LAST', 'CREATED'];

function rowOf(one: DeliveryEntry): string[] {
  const last = one.lastStatus === null ? (one.lastError ?? '-').slice(0, 40) : String(one.lastStatus);
  return [one.id, one.event, one.callUuid ?? '-', one.state, String(one.attempts), last, dateText(one.createdAt)];
}

function detailLines(one: DeliveryDetail): string[] {
  const next = one.nextAttemptAt === null ? [] : [`next attempt at ${dateText(one.nextAttemptAt)}`];
  const rows = one.attemptLog.map((attempt) => [
    String(attempt.attempt),
    attempt.at,
    String(attempt.status ?? '-'),
    `${attempt.ms} ms`,
    attempt.error ?? '',
  ]);
  const attempts = table(['ATTEMPT', 'AT', 'STATUS', 'TOOK', 'ERROR'], rows, 'No attempt was made yet.');
  return [`${one.event} ${one.eventId}: ${one.state}`, ...next, ...attempts];
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Of a list with commas; undefined when it was not given. */
function each<Value>(list: string | undefined, read: (text: string) => Value): Value[] | undefined {
  return list === undefined ? undefined : listOf(list).map(read);
}

function uuidOf(text: string): string {
  if (UUID.test(text)) return text.toLowerCase();
  throw new OperatorError('invalid', `'${text}' is no id like 0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11.`);
}

function stateOf(text: string): DeliveryState {
  const state = DELIVERY_STATES.find((one) => one === text);
  if (state !== undefined) return state;
  throw new OperatorError('invalid', `'${text}' is no state; there are: ${DELIVERY_STATES.join(', ')}.`);
}

function timeOf(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime()))
    throw new OperatorError('invalid', `'${text}' is no time like 2026-11-21T01:05:00Z.`);
  return time;
}
