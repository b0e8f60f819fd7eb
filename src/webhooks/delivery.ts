/**
 * One attempt at one delivery: claim, sign, post, judge, note. Called by the dispatcher. A crash between the answer and
 * the note repeats the request with the same `webhook-id`; never the other way round.
 */
import type { Logger } from 'pino';
import { type Clock, pause } from '../../media/contract/clock.ts';
import type { OutboundHttp, OutboundLimits, OutboundResult } from '../../media/net/outbound-http.ts';
import type { AttemptOutcome, ClaimedDelivery, DeliveryStore, DueDelivery, Noted } from './delivery-store.ts';
import { TEST_EVENT } from './events.ts';
import { nextDelayMs, parseRetryAfter } from './retry-schedule.ts';
import { signatureHeaders } from './signing.ts';

/** Contract §6: 3,000 ms from the request being fully written to the answer's headers; 4 KB of body. */
export const WEBHOOK_LIMITS: OutboundLimits = {
  connectMs: 2_000,
  responseMs: 3_000,
  totalMs: 10_000,
  maxResponseBytes: 4_096,
};
const USER_AGENT = 'Parley-Webhooks/1';
const MAX_ERROR_CHARACTERS = 300;
/** Losing the note of an attempt repeats the request, so it outlasts a restart of the database. */
const NOTE_RETRIES_MS = [250, 1_000, 3_000, 5_000, 10_000];

export interface DeliveryDeps {
  store: DeliveryStore;
  http: OutboundHttp;
  clock: Clock;
  random: () => number;
  logger: Logger;
  /** Stretches the pauses between attempts; 1 in service, less where a test cannot wait three days. Default 1. */
  retryScale?: number;
  /** After every attempt. */
  observed?(attempt: ObservedAttempt): void;
  /** After a failed attempt: when to come back. */
  onRetry(delivery: DueDelivery, afterMs: number): void;
  /** After a first attempt: the next event of the call may go now. */
  onNext(delivery: DueDelivery): void;
}

/** For metrics. */
export interface ObservedAttempt {
  outcome: AttemptOutcome['kind'];
  seconds: number;
  /** From the event to its delivery; null when it was not delivered. */
  sinceEventSeconds: number | null;
}

export type AttemptResult = 'delivered' | 'failed' | 'skipped';

/** What a lane runs for each id. Never rejects: a database that is away leaves the row as it was, for the sweep. */
export function createDelivery(deps: DeliveryDeps): (id: string) => Promise<AttemptResult> {
  return (id) => attempt(deps, id);
}

async function attempt(deps: DeliveryDeps, id: string): Promise<AttemptResult> {
  const { store, clock, logger } = deps;
  let delivery: ClaimedDelivery | null = null;
  try {
    delivery = await store.claim(id, clock.epochMs());
  } catch (error) {
    logger.warn({ deliveryId: id, err: error }, 'a webhook delivery could not be claimed; the sweep will find it');
  }
  if (delivery === null) return 'skipped';
  const beganAtMs = clock.nowMs();
  const result = await post(deps, delivery);
  const outcome = judge(deps, delivery, result);
  deps.observed?.({
    outcome: outcome.kind,
    seconds: (clock.nowMs() - beganAtMs) / 1000,
    sinceEventSeconds: outcome.kind === 'delivered' ? (clock.epochMs() - delivery.createdAt.getTime()) / 1000 : null,
  });
  report(logger, delivery, outcome);
  const noted = await note(deps, delivery, outcome, clock.nowMs() - beganAtMs);
  if (noted.disabled !== null) {
    const facts = { endpointId: delivery.endpointId, reason: noted.disabled };
    logger.error(facts, 'a webhook URL was switched off; its events are kept until it is enabled or another is set');
  }
  if (noted.kept) follow(deps, delivery, outcome, noted);
  return outcome.kind === 'delivered' ? 'delivered' : 'failed';
}

/** Over all rounds. */
function attemptNumber(delivery: ClaimedDelivery): number {
  return delivery.earlierAttempts + delivery.attempts + 1;
}

function post(deps: DeliveryDeps, delivery: ClaimedDelivery): Promise<OutboundResult> {
  const timestampSeconds = Math.floor(deps.clock.epochMs() / 1_000);
  return deps.http.send({
    url: delivery.url,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      'x-delivery-attempt': String(attemptNumber(delivery)),
      ...signatureHeaders(delivery.secrets, { id: delivery.eventId, timestampSeconds, body: delivery.body }),
    },
    body: Buffer.from(delivery.body, 'utf8'),
    limits: WEBHOOK_LIMITS,
  });
}

function judge(deps: DeliveryDeps, delivery: ClaimedDelivery, result: OutboundResult): AttemptOutcome {
  if (result.kind !== 'answered') return failed(deps, delivery, null, result.reason, null);
  const { status } = result;
  if (status >= 200 && status < 300) return { kind: 'delivered', status };
  const said = result.body.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  const error = `answered ${status}${said === '' ? '' : `: ${said}`}`.slice(0, MAX_ERROR_CHARACTERS);
  const mayAskForTime = status === 429 || status === 503;
  const retryAfterMs = mayAskForTime ? parseRetryAfter(result.retryAfter, deps.clock.epochMs()) : null;
  return failed(deps, delivery, status, error, retryAfterMs);
}

function failed(
  deps: DeliveryDeps,
  delivery: ClaimedDelivery,
  status: number | null,
  error: string,
  retryAfterMs: number | null,
): AttemptOutcome {
  // Whoever asked for a test looks at its outcome, not at what comes in three days.
  const isTest = delivery.event === TEST_EVENT;
  const delayMs = isTest ? null : nextDelayMs(delivery.attempts + 1, deps.random, retryAfterMs, deps.retryScale);
  // 410 Gone: the receiver wants no more. What waits is kept, and goes to the URL that the operator sets next.
  const disableEndpoint = status === 410 && !isTest;
  if (delayMs === null) return { kind: 'dead', status, error, disableEndpoint };
  return { kind: 'retry', status, error, nextAtEpochMs: deps.clock.epochMs() + delayMs, disableEndpoint };
}

async function note(
  deps: DeliveryDeps,
  delivery: ClaimedDelivery,
  outcome: AttemptOutcome,
  tookMs: number,
): Promise<Noted> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await deps.store.finish(delivery, outcome, deps.clock.epochMs(), tookMs);
    } catch (error) {
      const waitMs = NOTE_RETRIES_MS[attempt];
      if (waitMs === undefined) {
        deps.logger.error(
          { deliveryId: delivery.id, callUuid: delivery.callUuid, err: error },
          'the outcome of a webhook attempt could not be stored; it will be sent again under the same webhook-id',
        );
        return { kept: false, disabled: null, next: null };
      }
      await pause(deps.clock, waitMs);
    }
  }
}

function follow(deps: DeliveryDeps, delivery: ClaimedDelivery, outcome: AttemptOutcome, noted: Noted): void {
  if (outcome.kind === 'retry' && noted.disabled === null) {
    deps.onRetry(delivery, outcome.nextAtEpochMs - deps.clock.epochMs());
  }
  if (delivery.attempts === 0 && noted.next !== null) deps.onNext(noted.next);
}

/** Each event is reported when it is done with, and at its first failure; the row has what lies between. */
function report(logger: Logger, delivery: ClaimedDelivery, outcome: AttemptOutcome): void {
  // What the receiver answered may repeat what it was sent: it stays in the row.
  const why = outcome.kind === 'delivered' || outcome.status !== null ? {} : { error: outcome.error };
  const facts = {
    callUuid: delivery.callUuid,
    event: delivery.event,
    webhookId: delivery.eventId,
    attempt: attemptNumber(delivery),
    status: outcome.status,
  };
  if (outcome.kind === 'delivered') logger.info(facts, 'webhook delivered');
  else if (delivery.event === TEST_EVENT) logger.info({ ...facts, ...why }, 'a test webhook failed');
  else if (outcome.kind === 'dead') logger.error({ ...facts, ...why }, 'webhook given up');
  else if (delivery.attempts === 0) logger.warn({ ...facts, ...why }, 'webhook failed; it will be retried');
}
