/**
 * `/api/developer/legal-holds`, and a purge by hand: what is kept whatever the days say, and removing now what is due.
 * The rules are `src/retention`; the command line runs the same functions. A key releases what a key has placed; the
 * operator's holds stay his.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../../../media/contract/clock.ts';
import { listHolds, placeHold, releaseHold } from '../../retention/legal-holds.ts';
import { listReceipts } from '../../retention/purge-receipts.ts';
import type { PurgeReport } from '../../retention/retention-purge.ts';
import type { Database } from '../../store/database.ts';
import type { CursorCodec } from '../cursor.ts';
import { changedBy, type Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { anyOf, id, page } from '../query-values.ts';
import { routesOn } from '../route.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { holdsAnswer, placedAnswer, purgedAnswer, receiptsAnswer, releasedAnswer } from './answers.ts';
import { RETENTION_PATH } from './retention-routes.ts';

export interface HoldRouteDeps {
  database: Database;
  clock: Pick<Clock, 'epochMs'>;
  cursors: CursorCodec;
  /** A part of what is due in one workspace. */
  purge(only: { workspaceId: string }): Promise<PurgeReport>;
}

export const HOLDS_PATH = '/api/developer/legal-holds';
export const PURGE_PATH = `${RETENTION_PATH}/purge`;
export const RECEIPTS_PATH = `${RETENTION_PATH}/receipts`;

export const holdsQuery = z.object({ callUuid: anyOf(id, 'Of these calls'), ...page() });
export const receiptsQuery = z.object({ callUuid: anyOf(id, 'Of these calls'), ...page() });
export const holdParams = z.object({ holdId: id });
export const newHoldBody = z
  .strictObject({
    callUuid: id.nullish().meta({ description: 'Null or absent: every call of the workspace' }),
    reason: z.string().trim().min(1).max(500).meta({ description: 'Why; it is audited' }),
  })
  .meta({ id: 'NewLegalHold' });

export function registerHolds(app: FastifyInstance, guard: Guard, deps: HoldRouteDeps): void {
  const route = routesOn(app, guard);
  const { database, cursors } = deps;
  const now = (): Date => new Date(deps.clock.epochMs());

  route({
    method: 'get',
    path: HOLDS_PATH,
    id: 'listLegalHolds',
    tag: 'Settings',
    summary: 'The legal holds that live, newest first',
    description: 'In pages. With `callUuid`: those that hold one of these calls.',
    scope: 'settings:read',
    query: holdsQuery,
    answers: { 200: json('A page.', holdsAnswer) },
    errors: ['invalid_cursor'],
    async handler(request) {
      const { workspaceId } = request.principal;
      const { cursor, limit, ...filters } = request.query;
      const scope = { kind: 'legal-holds', workspaceId, filters };
      const before = cursor === undefined ? null : (cursors.decode(scope, cursor)[0] ?? null);
      const found = await listHolds(database, workspaceId, { ...filters, before, limit: limit + 1 });
      const data = found.slice(0, limit);
      return { data, nextCursor: found.length > limit ? cursors.encode(scope, [data.at(-1)!.id]) : null };
    },
  });

  route({
    method: 'post',
    path: HOLDS_PATH,
    id: 'placeLegalHold',
    tag: 'Settings',
    summary: 'Keep a call, or every call, whatever the days say and whoever asks',
    description: 'Nothing of what is held is removed, by a purge or by a request, until the hold is released.',
    scope: 'settings:write',
    body: newHoldBody,
    answers: { 201: json('It is held.', placedAnswer) },
    errors: ['call_not_found'],
    async handler(request, reply) {
      const { callUuid = null, reason } = request.body;
      const { workspaceId } = request.principal;
      const wanted = { workspaceId, callUuid, reason, by: changedBy(request), at: now() };
      const hold = await refusing('call_not_found', placeHold(database, wanted));
      return reply.code(201).send({ success: true, hold });
    },
  });

  route({
    method: 'delete',
    path: `${HOLDS_PATH}/:holdId`,
    id: 'releaseLegalHold',
    tag: 'Settings',
    summary: 'Release a legal hold',
    description:
      'What is due is removed at the next purge. A hold that the operator has placed, the operator releases; one that a person has placed, a person.',
    scope: 'settings:write',
    params: holdParams,
    answers: { 200: json('It is released.', releasedAnswer) },
    errors: ['hold_not_found', 'setting_refused'],
    async handler(request) {
      const { workspaceId } = request.principal;
      const { holdId } = request.params;
      const wanted = { workspaceId, id: holdId, by: changedBy(request), at: now() };
      await refusing('hold_not_found', releaseHold(database, wanted));
      return { success: true, holdId };
    },
  });

  route({
    method: 'post',
    path: PURGE_PATH,
    id: 'purge',
    tag: 'Settings',
    summary: 'Remove now what has been kept long enough',
    description: 'The service does so each hour. At most some 1,000 calls a request; what is held stays.',
    scope: 'settings:write',
    answers: { 200: json('It is gone.', purgedAnswer) },
    async handler(request, reply) {
      const { removed, putOff, more } = await deps.purge({ workspaceId: request.principal.workspaceId });
      return reply.code(200).send({ success: true, removed, putOff, more });
    },
  });

  route({
    method: 'get',
    path: RECEIPTS_PATH,
    id: 'listPurgeReceipts',
    tag: 'Settings',
    summary: 'What was removed of calls for good, newest first',
    description: 'In pages; nothing of what is gone is in them.',
    scope: 'settings:read',
    query: receiptsQuery,
    answers: { 200: json('A page.', receiptsAnswer) },
    errors: ['invalid_cursor'],
    async handler(request) {
      const { workspaceId } = request.principal;
      const { cursor, limit, ...filters } = request.query;
      const scope = { kind: 'purge-receipts', workspaceId, filters };
      const before = cursor === undefined ? null : (cursors.decode(scope, cursor)[0] ?? null);
      const found = await listReceipts(database, { workspaceId, ...filters, before, limit: limit + 1 });
      const data = found.slice(0, limit);
      return { data, nextCursor: found.length > limit ? cursors.encode(scope, [data.at(-1)!.id]) : null };
    },
  });
}
