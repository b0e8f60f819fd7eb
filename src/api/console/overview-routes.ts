/**
 * `/api/console/w/{enterprise}/overview` and `…/live`: what a workspace's first page and its live board show. What is
 * read is `src/overview`.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type ErrorCode, factsOf } from '../../errors/error-codes.ts';
import type { UnwrittenTalk } from '../../media-link/unwritten-talk.ts';
import { type CallRefusals, readCallRefusals } from '../../overview/call-refusals.ts';
import { boundsOf, readDayCalls, readNotSetUp, readWebhooksBehind } from '../../overview/day-overview.ts';
import { createLiveBoard, type LiveBoard } from '../../overview/live-board.ts';
import { isOurs, wayOutOf } from '../../overview/way-out.ts';
import type { CallAdmission } from '../../placement/ports.ts';
import type { Database } from '../../store/database.ts';
import { beginEventStream, writeText } from '../event-stream.ts';
import type { Guard } from '../guard.ts';
import { maskedValue } from '../masking.ts';
import { json } from '../openapi/operation.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { overviewAnswer } from './answers.ts';
import { WORKSPACE_PATH } from './second-door.ts';
import { sessionsStillHold } from './session-guard.ts';

type BoardDeps = Omit<Parameters<typeof createLiveBoard>[0], 'stillHold' | 'unwritten'>;

export interface OverviewRouteDeps extends BoardDeps {
  database: Database;
  unwritten: UnwrittenTalk;
  admission: CallAdmission;
  /** Of the folder in which recordings begin; null: it cannot be asked. */
  disk(): Promise<{ freeBytes: number; totalBytes: number } | null>;
}

export const OVERVIEW_PATH = `${WORKSPACE_PATH}/overview`;
export const LIVE_PATH = `${WORKSPACE_PATH}/live`;
const RETRY_SECONDS = 5;

export const workspaceParams = z.object({ enterprise: z.string() });
export const overviewQuery = z.object({
  day: z.iso.date().optional().meta({ description: 'Default: today there' }),
  zone: z
    .string()
    .max(64)
    .refine(isZone, 'must be an IANA name, like Europe/Berlin')
    .default('UTC')
    .meta({ description: 'In which the day begins' }),
});

export function registerOverview(app: FastifyInstance, guard: Guard, deps: OverviewRouteDeps): void {
  const route = routesOn(app, guard);
  const { database, clock } = deps;

  route({
    method: 'get',
    path: OVERVIEW_PATH,
    id: 'readOverview',
    tag: 'Console',
    summary: 'What happens now, how a day went, and why nothing is dialled',
    description:
      'Rates are of calls that are over. `notDialled` counts requests that made no call, and calls that failed before anything rang.',
    scope: 'person',
    right: 'calls:read',
    params: workspaceParams,
    query: overviewQuery,
    answers: { 200: json('The day.', overviewAnswer) },
    async handler(request) {
      const { workspaceId } = request.principal;
      const { zone, day = dayIn(zone, clock.epochMs()) } = request.query;
      const bounds = await boundsOf(database, { day, zone });
      const of = { workspaceId, ...bounds };
      const { reasons, ...calls } = await readDayCalls(database, of);
      const refusals = await readCallRefusals(database, of);
      const admission = deps.admission.state();
      const notDialled = [
        ...(admission === 'open'
          ? []
          : [
              {
                reason: admission,
                of: 'service',
                count: null,
                since: null,
                last: null,
                wayOut: wayOutOf(NOT_OPEN[admission]),
              },
            ]),
        ...refusals.map(({ code, ...told }) => ({ reason: code, of: 'requests', ...told, wayOut: wayOutOf(code) })),
        ...reasons
          .filter(({ reason }) => isOurs(reason))
          .map((told) => ({ ...told, of: 'calls', wayOut: wayOutOf(told.reason) })),
      ];
      return {
        day,
        zone,
        ...bounds,
        ...calls,
        refusals: refusals.map(({ code, count }) => ({ code, count, message: factsOf(code as ErrorCode).message })),
        notDialled,
        webhooks: await readWebhooksBehind(database, workspaceId),
        disk: await deps.disk(),
        notSetUp: await readNotSetUp(database, workspaceId),
      };
    },
  });
}

/** Not in the published document's answers: a stream of `snapshot`, `change` and `heartbeat`. */
export function registerLive(app: FastifyInstance, guard: Guard, deps: OverviewRouteDeps): void {
  const route = routesOn(app, guard);
  const board: LiveBoard = createLiveBoard({ ...deps, stillHold: (uses) => sessionsStillHold(deps.database, uses) });
  app.addHook('preClose', async () => board.close());

  route({
    method: 'get',
    path: LIVE_PATH,
    id: 'watchLiveCalls',
    tag: 'Console',
    summary: 'The calls in progress, as they change',
    description:
      'Server-sent events. `snapshot` has all of them; each `changes` the calls that are new or different, and the ids of those that are gone; `heartbeat` says that nothing did. At most four a second. A stream that comes again begins with a snapshot. It ends with the session, and when the role of the person changes.',
    scope: 'person',
    right: 'calls:read',
    params: workspaceParams,
    answers: { 200: { description: 'The stream.', content: { 'text/event-stream': z.string() } } },
    errors: ['event_stream_limit'],
    handler(request, reply) {
      if (reply.raw.destroyed) return reply.hijack();
      const { workspaceId, holder, masking } = request.principal;
      if (!board.hasRoom(workspaceId, holder)) {
        throw new Refusal('event_stream_limit', { retryAfterSeconds: RETRY_SECONDS });
      }
      beginEventStream(reply);
      const shown = (data: object): unknown =>
        masking === null ? data : maskedValue(JSON.parse(JSON.stringify(data)), masking);
      const end = board.open({
        ...{ workspaceId, holder, address: request.ip ?? 'local' },
        write: (event, data) => writeText(reply.raw, `event: ${event}\ndata: ${JSON.stringify(shown(data))}\n\n`),
        onEnd: () => void reply.raw.end(),
      });
      reply.raw.on('close', end);
      return reply;
    },
  });
}

/** Of operations that place a call: what came of none is counted, for `notDialled`. */
export function countRefusals(app: FastifyInstance, refusals: Pick<CallRefusals, 'note'>): void {
  app.addHook('onResponse', async (request, reply) => {
    const { operation } = request.routeOptions.config;
    if (operation === undefined || !PLACING.has(operation.id)) return;
    const code = reply.getHeader('x-error-code');
    const { workspaceId } = (request.principal as typeof request.principal | null) ?? {};
    if (typeof code !== 'string' || workspaceId === undefined || reply.getHeader('x-call-uuid') !== undefined) return;
    refusals.note(workspaceId, code);
  });
}

/** By state of the node, the code that requests are refused with. */
const NOT_OPEN = { draining: 'draining', no_capacity: 'draining', overloaded: 'overloaded' } as const;
const PLACING = new Set(['placeCall', 'callLead']);

function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** `2026-11-23`, as it is there. */
function dayIn(zone: string, epochMs: number): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(epochMs);
}
