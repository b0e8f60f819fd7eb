/**
 * A client that does what the answers allow: with an Idempotency-Key it repeats a 409, 429, 500 or lost connection
 * until it has a final answer; without one it never repeats, because a 500 may have dialled. Called by fault tests,
 * many at once.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { CallClient, PlacedCall } from '../../bench/harness/call-client.ts';
import type { OutboundCall } from '../../clients/typescript/src/client.ts';

/** One phone to ring. */
export interface Wanted {
  /** E.164. */
  number: string;
  /** Null: the client sends none. */
  idempotencyKey: string | null;
}

export interface Patience {
  /** Of `performance.now()`: the last answer until then counts. */
  giveUpAtMs: number;
  /** An answer that takes longer counts as none; default: it is waited for. */
  answerLimitMs?: number;
}

export interface ClientOutcome {
  /** The last answer's; 0 when there was none. */
  httpStatus: number;
  /** Its X-Error-Code. */
  errorCode: string | null;
  callUuids: ReadonlySet<string>;
  requests: number;
  /** The longest wait for an answer. */
  tookMs: number;
}

const REPEATED = new Set([409, 429, 500, 503]);
const PAUSE_MS = { least: 250, most: 2_000 };

export async function placeAsClient(
  client: CallClient,
  body: Omit<OutboundCall, 'to'>,
  { number, idempotencyKey }: Wanted,
  { giveUpAtMs, answerLimitMs }: Patience,
): Promise<ClientOutcome> {
  const callUuids = new Set<string>();
  let tookMs = 0;
  for (let requests = 1; ; requests++) {
    const beganAtMs = performance.now();
    const limit = answerLimitMs === undefined ? {} : { signal: AbortSignal.timeout(answerLimitMs) };
    const answer = await client.place({ ...body, to: number }, { idempotencyKey, ...limit }).catch(() => null);
    tookMs = Math.max(tookMs, performance.now() - beganAtMs);
    const callUuid = answer?.body.callUuid ?? answer?.headers.get('x-call-uuid') ?? null;
    if (callUuid !== null) callUuids.add(callUuid);
    // A request that was refused for its rate has placed nothing: any client may repeat it.
    const mayRepeat = idempotencyKey !== null || answer?.httpStatus === 429;
    const isFinal = answer?.headers.get('idempotent-replayed') === 'true';
    const wantsMore = answer === null || (REPEATED.has(answer.httpStatus) && !isFinal);
    if (!mayRepeat || !wantsMore || performance.now() > giveUpAtMs) {
      return {
        httpStatus: answer?.httpStatus ?? 0,
        errorCode: answer?.headers.get('x-error-code') ?? null,
        callUuids,
        requests,
        tookMs,
      };
    }
    await wait(pauseMs(answer));
  }
}

function pauseMs(answer: PlacedCall | null): number {
  const asked = Number(answer?.headers.get('retry-after') ?? 0) * 1_000;
  return Math.min(PAUSE_MS.most, Math.max(PAUSE_MS.least, asked));
}
