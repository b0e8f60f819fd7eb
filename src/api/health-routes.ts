/**
 * `/livez`: this process answers; it depends on nothing else. `/readyz` (and `/healthz`): each check by name, 503 when
 * one fails. The checks (database, media, draining, …) are injected; each gets 2 s.
 */
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../media/contract/clock.ts';

/** Resolves to a short word for people (`ok`, `2 processes`); rejects with what is wrong. */
export type ReadinessCheck = () => Promise<string>;

const CHECK_LIMIT_MS = 2_000;
const RETRY_SECONDS = 5;

export function registerHealth(
  app: FastifyInstance,
  deps: { clock: Clock; instance: string; checks: Readonly<Record<string, ReadinessCheck>> },
): void {
  app.get('/livez', async () => ({ status: 'ok', instance: deps.instance }));
  for (const path of ['/readyz', '/healthz']) {
    app.get(path, async (_request, reply) => {
      const names = Object.keys(deps.checks);
      const results = await Promise.all(names.map((name) => runCheck(deps.clock, deps.checks[name]!)));
      const ready = results.every((result) => result.ok);
      const checks = Object.fromEntries(names.map((name, index) => [name, results[index]]));
      if (!ready) reply.code(503).header('retry-after', RETRY_SECONDS);
      return { status: ready ? 'ok' : 'unavailable', checks };
    });
  }
}

async function runCheck(clock: Clock, check: ReadinessCheck): Promise<{ ok: boolean; detail: string }> {
  let cancel = (): void => {};
  const tooLate = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(CHECK_LIMIT_MS, () => reject(new Error(`no answer within ${CHECK_LIMIT_MS} ms`)));
  });
  try {
    return { ok: true, detail: await Promise.race([check(), tooLate]) };
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : 'failed' };
  } finally {
    cancel();
  }
}
