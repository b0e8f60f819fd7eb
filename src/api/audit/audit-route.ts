/**
 * `GET /api/developer/audit` (contract §17): who changed what in this workspace, newest first; and whether all of it is
 * as it was written.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../../../media/contract/clock.ts';
import type { ChainSigner } from '../../audit/chain-signer.ts';
import { linkAudit } from '../../audit/link-chain.ts';
import { readAudit } from '../../audit/read-audit.ts';
import { type ChainReport, verifyChain } from '../../audit/verify-chain.ts';
import type { Database } from '../../store/database.ts';
import type { CursorCodec } from '../cursor.ts';
import type { Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { anyOf, page, text } from '../query-values.ts';
import { routesOn } from '../route.ts';
import { auditAnswer, auditVerificationAnswer } from './answers.ts';

export const auditQuery = z.object({
  actor: anyOf(text(200), 'Who did it, such as key:AbCdEfGh'),
  action: anyOf(text(200), 'What was done, such as line.limits_changed'),
  target: anyOf(text(200), 'To what it was done'),
  ...page(),
});

export interface AuditRouteDeps {
  database: Database;
  cursors: CursorCodec;
  clock: Clock;
  /** Tells whether a seal is ours. */
  auditSigner: ChainSigner;
}

export function registerAudit(app: FastifyInstance, guard: Guard, deps: AuditRouteDeps): void {
  const route = routesOn(app, guard);
  /** Under way, by workspace: a chain is read once for all who ask meanwhile. */
  const verifying = new Map<string, Promise<ChainReport>>();

  function verified(workspaceId: string): Promise<ChainReport> {
    const known = verifying.get(workspaceId);
    if (known !== undefined) return known;
    const begun = linkAudit(deps.database, deps.auditSigner, workspaceId)
      .then(() => verifyChain(deps.database, workspaceId, deps.auditSigner))
      .finally(() => verifying.delete(workspaceId));
    verifying.set(workspaceId, begun);
    return begun;
  }

  route({
    method: 'get',
    path: '/api/developer/audit',
    id: 'listAudit',
    tag: 'Directory',
    summary: 'Who changed what in the workspace, newest first',
    description:
      'In pages. Rows are chained by their hashes and never change; `…/audit/verification` checks the whole chain.',
    scope: 'audit:read',
    query: auditQuery,
    answers: { 200: json('A page.', auditAnswer) },
    errors: ['invalid_cursor'],
    async handler(request) {
      const { cursor, limit, ...filters } = request.query;
      const { workspaceId } = request.principal;
      const scope = { kind: 'audit', workspaceId, filters };
      const before = cursor === undefined ? null : Number(deps.cursors.decode(scope, cursor)[0]);
      const found = await readAudit(deps.database, null, { workspaceId, filters, before, limit: limit + 1 });
      const data = found.slice(0, limit);
      const nextCursor = found.length > limit ? deps.cursors.encode(scope, [String(data.at(-1)!.position)]) : null;
      return { data, nextCursor };
    },
  });

  route({
    method: 'get',
    path: '/api/developer/audit/verification',
    id: 'verifyAudit',
    tag: 'Directory',
    summary: 'Is the whole audit as it was written?',
    description:
      'Every row is hashed anew, and every seal compared with what the service signs: what was changed, removed, put in or moved in the database is named. A million rows take some ten seconds.',
    scope: 'audit:read',
    answers: { 200: json('What was found.', auditVerificationAnswer) },
    async handler(request) {
      const sinceMs = deps.clock.nowMs();
      const { chain: _chain, ...report } = await verified(request.principal.workspaceId);
      return { ok: report.faults.length === 0, ...report, ms: Math.round(deps.clock.nowMs() - sinceMs) };
    },
  });
}
