/**
 * What goes on beside a siege: probes, requests with a key and without one, event streams, and calls with all their
 * callbacks, at a steady pace and each by a connection of its own where a newcomer's would be. Counts what each was
 * answered and how long it took. Used by the bench and the test of sieges.
 */
import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Call } from '../../clients/typescript/src/client.ts';
import type { CallClient } from '../harness/call-client.ts';
import type { Gateway } from '../harness/gateway.ts';

export interface HonestKind {
  answered: number;
  /** `status code`, or the error's code, of each that was not answered as it should. */
  refused: string[];
  ms: number[];
}

export interface HonestTally {
  kinds: Map<string, HonestKind>;
  /** Those that were placed, when they were over. */
  calls: Call[];
}

export interface HonestOptions {
  gateway: Gateway;
  /** From 127.0.0.1, like a page's. Absent: no page asks. */
  token?: () => Promise<string>;
  forMs: number;
  calls: number;
  /** Where phones answer and hang up by themselves. */
  numberOf(index: number): string;
}

const EVERY_MS = 50;
/**
 * Both are what control says: no, where its database has not answered it in time, as on a busy machine. A refusal at
 * the door has an error code.
 */
const ANSWERS_OF_READYZ = [200, 503];
/** An address may have five sessions open, and a token may count as one for a while. */
const MOST_TOKENS = 2;

export async function honestTraffic(options: HonestOptions): Promise<HonestTally> {
  const { gateway, forMs, calls } = options;
  const kinds = new Map<string, HonestKind>();
  const { port } = new URL(gateway.service.publicUrl);
  const untilMs = performance.now() + forMs;
  const running: Promise<void>[] = [];
  const key = { authorization: `Bearer ${gateway.apiKey}` };

  const count = async (
    kind: string,
    ask: () => Promise<number | string>,
    wanted: readonly (number | string)[] = [200],
  ): Promise<void> => {
    const of = kinds.get(kind) ?? { answered: 0, refused: [], ms: [] };
    kinds.set(kind, of);
    const beganAtMs = performance.now();
    const got = await ask().catch((error: NodeJS.ErrnoException) => error.code ?? error.message);
    of.ms.push(performance.now() - beganAtMs);
    if (wanted.includes(got)) of.answered++;
    else of.refused.push(String(got));
  };

  const beat = async (
    kind: string,
    everyMs: number,
    most: number,
    ask: () => Promise<number | string>,
    wanted?: readonly number[],
  ) => {
    for (let times = 0; times < most && performance.now() < untilMs; times++) {
      running.push(count(kind, ask, wanted));
      await wait(everyMs);
    }
  };

  const entries: Call[] = [];
  const oneCall = async (index: number): Promise<void> => {
    const { agentId, enterprise, lineId, client } = gateway;
    let callUuid = '';
    await count('placement', async () => {
      const to = options.numberOf(index);
      const placed = await client.place({ to, agentId, enterprise, from: lineId });
      callUuid = placed.body.callUuid ?? '';
      return placed.httpStatus === 200 ? 200 : `${placed.httpStatus} ${placed.headers.get('x-error-code')}`;
    });
    if (callUuid === '') return;
    const over = new AbortController();
    const stream = follow(client, callUuid, over.signal);
    entries.push(await client.waitFor(callUuid, 'its end', ({ endedAt }) => endedAt !== null));
    // A stream that is late begins at the beginning all the same.
    await count('event stream', async () => ((await stream.came) ? 200 : 'nothing came'));
    over.abort();
    await stream.over;
  };

  const callEveryMs = forMs / calls;
  const placing = (async () => {
    for (let index = 0; index < calls; index++) {
      running.push(oneCall(index));
      await wait(callEveryMs);
    }
  })();
  const { token } = options;
  await Promise.all([
    placing,
    beat('/livez', EVERY_MS, Number.POSITIVE_INFINITY, () => get(port, '/livez')),
    beat('/readyz', 4 * EVERY_MS, Number.POSITIVE_INFINITY, () => get(port, '/readyz'), ANSWERS_OF_READYZ),
    beat('keyed request', EVERY_MS, Number.POSITIVE_INFINITY, () => get(port, '/api/developer/calls?limit=1', key)),
    beat('stranger', 4 * EVERY_MS, Number.POSITIVE_INFINITY, () => get(port, '/api/developer/error-codes')),
    beat('embed session', forMs / MOST_TOKENS, token === undefined ? 0 : MOST_TOKENS, async () => {
      await token?.();
      return 200;
    }),
  ]);
  await Promise.all(running);
  return { kinds, calls: entries };
}

/** The events of a call, read until the signal. `came`: whether there was one. */
function follow(
  client: CallClient,
  callUuid: string,
  signal: AbortSignal,
): { came: Promise<boolean>; over: Promise<void> } {
  let tell = (_came: boolean): void => {};
  const came = new Promise<boolean>((resolve) => {
    tell = resolve;
  });
  const over = (async () => {
    try {
      for await (const _event of client.follow(callUuid, signal)) tell(true);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      tell(false);
    }
  })();
  // Whoever awaits it is told.
  over.catch(() => {});
  return { came, over };
}

/** By a connection of its own, as somebody comes who was not here before. */
function get(port: string, path: string, headers: Record<string, string> = {}): Promise<number | string> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers, agent: false }, (answer) => {
      answer.resume();
      const code = answer.headers['x-error-code'];
      const said = code === undefined ? (answer.statusCode ?? 0) : `${answer.statusCode} ${String(code)}`;
      answer.on('end', () => resolve(said));
      answer.on('error', reject);
    })
      .on('error', reject)
      .end();
  });
}
