/** `/api/developer/calls/{callUuid}` and below (contract §13): the entry, hanging it up. */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ChangedBy } from '../../audit/audit-entry.ts';
import { readCall } from '../../calls/live-call.ts';
import type { RecordingLinks } from '../../recordings/recording-links.ts';
import type { Database } from '../../store/database.ts';
import { changedBy, type Guard } from '../guard.ts';
import { Refusal } from '../refusal.ts';
import { readCallView } from './call-view.ts';

export interface CallRouteDeps {
  database: Database;
  links: RecordingLinks;
  /** Asks the carrier to end a live call. `over`: it had ended already. */
  hangUp(callUuid: string, by: ChangedBy): Promise<'asked' | 'over'>;
}

export const callParams = z.object({
  callUuid: z.guid({ error: 'must be a UUID' }).transform((id) => id.toLowerCase()),
});

export function registerCalls(plain: FastifyInstance, guard: Guard, deps: CallRouteDeps): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const readable = { onRequest: guard('calls:read'), schema: { params: callParams } };

  app.get('/api/developer/calls/:callUuid', readable, async (request) => {
    const view = await readCallView(deps, { workspaceId: request.principal.workspaceId, ...request.params });
    if (view === undefined) throw new Refusal('call_not_found');
    return view;
  });

  const writable = { onRequest: guard('calls:write'), schema: { params: callParams } };
  app.post('/api/developer/calls/:callUuid/hangup', writable, async (request, reply) => {
    const { callUuid } = request.params;
    const call = await readCall(deps.database, request.principal.workspaceId, callUuid);
    if (call === undefined) throw new Refusal('call_not_found');
    const outcome = await deps.hangUp(callUuid, changedBy(request));
    const now = (await readCall(deps.database, request.principal.workspaceId, callUuid)) ?? call;
    return reply.code(outcome === 'asked' ? 202 : 200).send({ success: true, callUuid, status: now.status });
  });
}
