/**
 * `/api/developer/service`, for the operator alone: what the service runs as and how busy it is, and the checks of
 * `parley doctor` asked of the running service. What they find out is given by control.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../../../media/contract/clock.ts';
import type { Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { time } from '../openapi/shared-answers.ts';
import { routesOn } from '../route.ts';

const SERVICE_PATH = '/api/developer/service';

const bytes = z.number().min(0);
const space = z.strictObject({ freeBytes: bytes, totalBytes: bytes });

const serviceAnswer = z
  .strictObject({
    version: z.string(),
    node: z.string().describe('Version of Node'),
    instance: z.string().describe('Names this run'),
    nodeName: z.string().describe('Of the node that answers, like `PARLEY_NODE`'),
    startedAt: time,
    publicUrl: z.string(),
    admission: z.enum(['open', 'draining', 'no_capacity', 'overloaded']).describe('Whether new calls are taken'),
    machine: z.strictObject({
      cores: z.int(),
      loadAverage: z.array(z.number()).describe('Of the last 1, 5 and 15 minutes: work that ran or waited'),
      memory: space,
      disk: space.nullable().describe('Where recordings begin; null: it cannot be asked'),
    }),
    control: z.strictObject({ memoryBytes: bytes, isOverloaded: z.boolean().describe('It is late with its own work') }),
    media: z
      .array(
        z.strictObject({
          mediaId: z.string(),
          connected: z.boolean(),
          draining: z.boolean().describe('It takes no new calls, and ends when its last one is over'),
          calls: z.int(),
          capacity: z.int().describe('The most that it takes, however much room there is'),
          moreCalls: z.number().nullable().describe('By its own measure; null: not measured yet'),
          scarce: z.string().nullable().describe('What there is least of'),
          socketServer: z.enum(['uws', 'ws']).nullable(),
        }),
      )
      .describe('The processes that carry calls, of the node that answers'),
    otherNodes: z
      .array(
        z.strictObject({
          node: z.string(),
          mediaId: z.string(),
          calls: z.int(),
          capacity: z.int(),
          moreCalls: z.int().nullable().describe('By its own measure; null: not measured yet'),
          draining: z.boolean(),
          silentMs: z.number().min(0).describe('Since it was heard of'),
          isOverdue: z
            .boolean()
            .describe('It is silent for longer than it may be: if its node is dead, its calls are given up'),
        }),
      )
      .describe('The processes of all other nodes, by what each beat of theirs tells the database'),
    database: z.strictObject({
      version: z.string(),
      sizeBytes: bytes,
      connections: z.int(),
      mostConnections: z.int(),
    }),
    liveCalls: z.int(),
    waitingWebhooks: z.int(),
  })
  .meta({ id: 'ServiceState' });

const examinationAnswer = z
  .strictObject({
    ok: z.boolean().describe('Nothing failed'),
    ms: z.int(),
    checks: z.array(
      z.strictObject({
        name: z.string(),
        level: z.enum(['ok', 'warn', 'fail']),
        detail: z.string(),
        wayOut: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'Examination' });

type Checks = z.output<typeof examinationAnswer>['checks'];
/** Without times as text: the answer makes them. */
export type ServiceState = Omit<z.output<typeof serviceAnswer>, 'startedAt'> & { startedAt: Date };

export interface ServiceRouteDeps {
  clock: Clock;
  serviceState(): Promise<ServiceState>;
  /** The checks of `parley doctor`, but those that load the machine. */
  examine(): Promise<Checks>;
}

export function registerService(app: FastifyInstance, guard: Guard, deps: ServiceRouteDeps): void {
  const route = routesOn(app, guard);
  /** Under way: one examination does for all who ask meanwhile. */
  let examining: Promise<Checks> | null = null;

  route({
    method: 'get',
    path: SERVICE_PATH,
    id: 'readService',
    tag: 'Operator',
    summary: 'What the service runs as, and how busy it is',
    description:
      'Of the node that answers: its processes, machine and database; of the others what their processes tell.',
    scope: 'operator',
    answers: { 200: json('Its state.', serviceAnswer) },
    handler: () => deps.serviceState(),
  });

  route({
    method: 'post',
    path: `${SERVICE_PATH}/examination`,
    id: 'examineService',
    tag: 'Operator',
    summary: 'Ask the service what stands in the way of calls',
    description:
      'As `parley doctor` does: settings, ports, public address, database, keys, carriers, connections, store, clocks. How many calls the machine carries is left to the command line, because measuring it would slow calls down.',
    scope: 'operator',
    answers: { 200: json('What was found.', examinationAnswer) },
    async handler() {
      const sinceMs = deps.clock.nowMs();
      examining ??= deps.examine().finally(() => {
        examining = null;
      });
      const checks = await examining;
      const ok = checks.every(({ level }) => level !== 'fail');
      return { ok, ms: Math.round(deps.clock.nowMs() - sinceMs), checks };
    },
  });
}
