/** `/api/developer/calls/{callUuid}` and below (contract §13): the entry, hanging it up. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ChangedBy } from '../../audit/audit-entry.ts';
import { readCall } from '../../calls/call-row.ts';
import type { UnwrittenTalk } from '../../media-link/unwritten-talk.ts';
import type { RecordingLinks } from '../../recordings/recording-links.ts';
import type { Database } from '../../store/database.ts';
import { changedBy, type Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { callAnswer, hangupAnswer } from './answers.ts';
import { linkLifeFor, readCallView } from './call-view.ts';

export interface CallRouteDeps {
  database: Database;
  links: RecordingLinks;
  unwritten: UnwrittenTalk;
  /** Asks the carrier to end an active call. `over`: it had ended already. */
  hangUp(callUuid: string, by: ChangedBy): Promise<'asked' | 'over'>;
}

/** What was said of a call that runs is read with it, unless the database is slow. */
export const WRITTEN_LIMIT_MS = 300;

export const callParams = z.object({
  callUuid: z.guid({ error: 'must be a UUID' }).transform((id) => id.toLowerCase()),
});

export function registerCalls(app: FastifyInstance, guard: Guard, deps: CallRouteDeps): void {
  const route = routesOn(app, guard);

  route({
    method: 'get',
    path: '/api/developer/calls/:callUuid',
    id: 'readCall',
    tag: 'Calls',
    summary: 'One entry of the call log',
    description: 'The call as it is now; while it runs, what is not known yet is null or empty.',
    scope: 'calls:read',
    params: callParams,
    answers: { 200: json('The call.', callAnswer) },
    errors: ['invalid_call_id', 'call_not_found'],
    async handler(request) {
      const { principal, params } = request;
      await deps.unwritten.allWritten(params.callUuid, WRITTEN_LIMIT_MS);
      const linkLifeMs = linkLifeFor(principal);
      const view = await readCallView({ ...deps, linkLifeMs }, { workspaceId: principal.workspaceId, ...params });
      if (view === undefined) throw new Refusal('call_not_found');
      return view;
    },
  });

  route({
    method: 'post',
    path: '/api/developer/calls/:callUuid/hangup',
    id: 'hangUp',
    tag: 'Calls',
    summary: 'End a call',
    description:
      'Before the answer the call becomes `no_answer/canceled`, after it `completed/api_hangup`; by a person at the console `completed/operator_hangup`.',
    scope: 'calls:write',
    right: 'calls:control',
    params: callParams,
    answers: {
      200: json('The call was over already.', hangupAnswer),
      202: json('The carrier is asked to hang up.', hangupAnswer),
    },
    errors: ['invalid_call_id', 'call_not_found'],
    async handler(request, reply) {
      const { callUuid } = request.params;
      const call = await readCall(deps.database, request.principal.workspaceId, callUuid);
      if (call === undefined) throw new Refusal('call_not_found');
      const outcome = await deps.hangUp(callUuid, changedBy(request));
      const now = (await readCall(deps.database, request.principal.workspaceId, callUuid)) ?? call;
      return reply.code(outcome === 'asked' ? 202 : 200).send({ success: true, callUuid, status: now.status });
    },
  });
}
