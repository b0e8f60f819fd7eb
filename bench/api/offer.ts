/**
 * Offers placements at a fixed rate, whether or not the ones before were answered (open loop), and times each from when
 * it was due: a server that stalls cannot slow its own load down. Called by `main.ts` and by the test of limits.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';

export interface OfferOptions {
  baseUrl: string;
  apiKey: string;
  perSecond: number;
  seconds: number;
  body(index: number): object;
}

export interface OfferedAnswer {
  status: number;
  headers: Record<string, string>;
  body: { success: boolean; message?: string; callUuid?: string };
  /** From when it was due to the end of the answer. */
  ms: number;
  /** By how much it was sent too late: the generator's own fault, and part of `ms`. */
  lateMs: number;
  /** When it was sent, by the wall clock. */
  sentAtEpochMs: number;
}

/** More than a service has requests in hand before it refuses some, so that none waits here. */
const CONNECTIONS = 2_048;

export async function offer(options: OfferOptions): Promise<OfferedAnswer[]> {
  const pool = new Pool(options.baseUrl, { connections: CONNECTIONS, pipelining: 1 });
  const headers = { authorization: `Bearer ${options.apiKey}`, 'content-type': 'application/json' };
  const one = async (index: number, dueAtMs: number): Promise<OfferedAnswer> => {
    const lateMs = performance.now() - dueAtMs;
    const sentAtEpochMs = performance.timeOrigin + performance.now();
    const answer = await pool.request({
      method: 'POST',
      path: '/api/outbound-call',
      headers,
      body: JSON.stringify(options.body(index)),
    });
    const body = (await answer.body.json()) as OfferedAnswer['body'];
    const ms = performance.now() - dueAtMs;
    return {
      status: answer.statusCode,
      headers: answer.headers as Record<string, string>,
      body,
      ms,
      lateMs,
      sentAtEpochMs,
    };
  };
  const running: Promise<OfferedAnswer>[] = [];
  const beganAtMs = performance.now() + 50;
  for (let index = 0; index < options.perSecond * options.seconds; index++) {
    const dueAtMs = beganAtMs + (index / options.perSecond) * 1_000;
    const inMs = dueAtMs - performance.now();
    if (inMs > 1) await wait(inMs);
    running.push(one(index, dueAtMs));
  }
  const answers = await Promise.all(running);
  await pool.close();
  return answers;
}
