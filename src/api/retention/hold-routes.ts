/**
 * `/api/developer/legal-holds`, and a purge by hand: what is kept whatever the days say, and removing now what is due. The rules are
 * `src/retention`; the command line runs the same functions. A key releases what a key has placed; the operator's holds stay his.
 */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Clock } from '../../../media/contract/clock.ts';
import { listHolds, placeHold, releaseHold } from '../../retention/legal-holds.ts';
import { listReceipts } from '../../retention/purge-receipts.ts';
import type { PurgeReport } from '../../retention/retention-purge.ts';
import type { Database } from '../../store/database.ts';
import type { CursorCodec } from '../cursor.ts';
import { changedBy, type Guard } from '../guard.ts';
import { anyOf, id, page } from '../query-values.ts';
import { refusing } from '../settings/setting-refusal.ts';
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

export function registerHolds(plain: FastifyInstance, guard: Guard, deps: HoldRouteDeps): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const { database, cursors } = deps;
  const reading = { onRequest: guard('settings:read') };
  const writing = { onRequest: guard('settings:write') };
  const now = (): Date => new Date(deps.clock.epochMs());

  app.get(HOLDS_PATH, { ...reading, schema: { querystring: holdsQuery } }, async (request) => {
    const { workspaceId } = request.principal;
    const { cursor, limit, ...filters } = request.query;
    const scope = { kind: 'legal-holds', workspaceId, filters };
    const before = cursor === undefined ? null : (cursors.decode(scope, cursor)[0] ?? null);
    const found = await listHolds(database, workspaceId, { ...filters, before, limit: limit + 1 });
    const data = found.slice(0, limit);
    return { data, nextCursor: found.length > limit ? cursors.encode(scope, [data.at(-1)!.id]) : null };
  });

  app.post(HOLDS_PATH, { ...writing, schema: { body: newHoldBody } }, async (request, reply) => {
    const { callUuid = null, reason } = request.body;
    const { workspaceId } = request.principal;
    const wanted = { workspaceId, callUuid, reason, by: changedBy(request), at: now() };
    const hold = await refusing('call_not_found', placeHold(database, wanted));
    return reply.code(201).send({ success: true, hold });
  });

  app.delete(`${HOLDS_PATH}/:holdId`, { ...writing, schema: { params: holdParams } }, async (request) => {
    const { workspaceId } = request.principal;
    const { holdId } = request.params;
    const wanted = { workspaceId, id: holdId, by: changedBy(request), at: now(), placedByKey: true };
    await refusing('hold_not_found', releaseHold(database, wanted));
    return { success: true, holdId };
  });

  app.post(PURGE_PATH, writing, async (request, reply) => {
    const { removed, putOff, more } = await deps.purge({ workspaceId: request.principal.workspaceId });
    return reply.code(200).send({ success: true, removed, putOff, more });
  });

  app.get(RECEIPTS_PATH, { ...reading, schema: { querystring: receiptsQuery } }, async (request) => {
    const { workspaceId } = request.principal;
    const { cursor, limit, ...filters } = request.query;
    const scope = { kind: 'purge-receipts', workspaceId, filters };
    const before = cursor === undefined ? null : (cursors.decode(scope, cursor)[0] ?? null);
    const found = await listReceipts(database, { workspaceId, ...filters, before, limit: limit + 1 });
    const data = found.slice(0, limit);
    return { data, nextCursor: found.length > limit ? cursors.encode(scope, [data.at(-1)!.id]) : null };
  });
}
