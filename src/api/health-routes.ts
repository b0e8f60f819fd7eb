/**
 * `/livez`: this process answers; it depends on nothing else. `/readyz` (and `/healthz`): yes, or no with 503 when a
 * check fails; which one is for operators (`src/control/metrics-server.ts`). The checks (database, media, draining, …)
 * are injected; each gets 2 s.
 */
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../media/contract/clock.ts';
import { LIVE_NODE_HEADER } from '../nodes/machine-answers.ts';
import { json } from './openapi/operation.ts';
import { routesOn } from './route.ts';
import { aliveAnswer, readyAnswer } from './service-answers.ts';

/** Resolves to a short word for people (`ok`, `2 processes`); rejects with what is wrong. */
export type ReadinessCheck = () => Promise<string>;

export interface Readiness {
  status: 'ok' | 'unavailable';
  /** By name. */
  checks: Record<string, { ok: boolean; detail: string }>;
}

interface ReadinessDeps {
  clock: Clock;
  checks: Readonly<Record<string, ReadinessCheck>>;
}

const CHECK_LIMIT_MS = 2_000;
const RETRY_SECONDS = 5;

export interface HealthDeps extends ReadinessDeps {
  /** Names this run of control, for whoever wants to know that an address leads to it. */
  instance: string;
  /** And for other nodes, whether the machine at an address is the one they mean. */
  node: string;
}

export function registerHealth(app: FastifyInstance, deps: HealthDeps): void {
  const route = routesOn(app, null);
  route({
    method: 'get',
    path: '/livez',
    id: 'alive',
    tag: 'Service',
    summary: 'The process answers',
    description: 'Depends on nothing else; for liveness probes.',
    scope: null,
    answers: { 200: json('It does.', aliveAnswer) },
    async handler(_request, reply) {
      reply.header(LIVE_NODE_HEADER, deps.node);
      return { status: 'ok', instance: deps.instance };
    },
  });

  for (const [path, id] of [
    ['/readyz', 'ready'],
    ['/healthz', 'healthy'],
  ] as const) {
    route({
      method: 'get',
      path,
      id,
      tag: 'Service',
      summary: 'The service can take calls',
      description: 'Yes or no; for readiness probes and load balancers.',
      scope: null,
      answers: {
        200: json('Every check is well.', readyAnswer),
        503: json('At least one is not.', readyAnswer, { 'Retry-After': 'Seconds' }),
      },
      async handler(_request, reply) {
        const { status } = await readinessOf(deps);
        if (status !== 'ok') reply.code(503).header('retry-after', RETRY_SECONDS);
        return { status };
      },
    });
  }
}

export async function readinessOf({ clock, checks }: ReadinessDeps): Promise<Readiness> {
  const found = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await runCheck(clock, check)] as const),
  );
  const status = found.every(([, { ok }]) => ok) ? 'ok' : 'unavailable';
  return { status, checks: Object.fromEntries(found) };
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
