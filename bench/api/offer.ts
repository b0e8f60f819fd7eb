/**
 * Offers placements at a fixed rate, whether or not the ones before were answered (open loop), and times each from when
 * it was due: a server that stalls cannot slow its own load down. Called by `main.ts`, `bursts.ts` and the tests of
 * limits and bursts.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';

export interface OfferOptions extends OfferTarget {
  perSecond: number;
  seconds: number;
  body(index: number): object;
}

export interface OfferTarget {
  baseUrl: string;
  apiKey: string;
}

export interface OfferedAnswer {
  /** 0: none came. */
  status: number;
  headers: Record<string, string>;
  /** Without an answer `message` says why. */
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

export async function offer({ baseUrl, apiKey, ...options }: OfferOptions): Promise<OfferedAnswer[]> {
  return offerTo([{ baseUrl, apiKey }], { ...options, connections: CONNECTIONS });
}

export interface OfferPlan extends Omit<OfferOptions, keyof OfferTarget> {
  /** To each address: a request more than that waits here for one that is free. */
  connections: number;
}

/** To each of them in turn. */
export async function offerTo(targets: readonly OfferTarget[], plan: OfferPlan): Promise<OfferedAnswer[]> {
  const { connections } = plan;
  const pools = new Map(
    targets.map(({ baseUrl }) => [baseUrl, new Pool(baseUrl, { connections, pipelining: 1 })] as const),
  );
  const one = async (index: number, dueAtMs: number): Promise<OfferedAnswer> => {
    const { baseUrl, apiKey } = targets[index % targets.length]!;
    const lateMs = performance.now() - dueAtMs;
    const sentAtEpochMs = performance.timeOrigin + performance.now();
    const told = await ask(pools.get(baseUrl)!, apiKey, plan.body(index));
    return { ...told, ms: performance.now() - dueAtMs, lateMs, sentAtEpochMs };
  };
  const running: Promise<OfferedAnswer>[] = [];
  const beganAtMs = performance.now() + 50;
  for (let index = 0; index < plan.perSecond * plan.seconds; index++) {
    const dueAtMs = beganAtMs + (index / plan.perSecond) * 1_000;
    const inMs = dueAtMs - performance.now();
    if (inMs > 1) await wait(inMs);
    running.push(one(index, dueAtMs));
  }
  const answers = await Promise.all(running);
  await Promise.all([...pools.values()].map((pool) => pool.close()));
  return answers;
}

async function ask(
  pool: Pool,
  apiKey: string,
  body: object,
): Promise<Pick<OfferedAnswer, 'status' | 'headers' | 'body'>> {
  try {
    const answer = await pool.request({
      method: 'POST',
      path: '/api/outbound-call',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const told = (await answer.body.json()) as OfferedAnswer['body'];
    return { status: answer.statusCode, headers: answer.headers as Record<string, string>, body: told };
  } catch (error) {
    return { status: 0, headers: {}, body: { success: false, message: String(error) } };
  }
}
