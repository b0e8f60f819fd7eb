/** `/api/developer/calls/{callUuid}` and below (contract §13): the entry, its recording, hanging it up. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ChangedBy } from '../../audit/audit-entry.ts';
import { readCall } from '../../calls/live-call.ts';
import type { Database } from '../../store/database.ts';
import { changedBy, type Guard } from '../guard.ts';
import { Refusal } from '../refusal.ts';
import { readCallView } from './call-view.ts';

export interface CallRouteDeps {
  database: Database;
  publicUrl: string;
  /** Asks the carrier to end a live call. `over`: it had ended already. */
  hangUp(callUuid: string, by: ChangedBy): Promise<'asked' | 'over'>;
}

export const callParams = z.object({
  callUuid: z.guid({ error: 'must be a UUID' }).transform((id) => id.toLowerCase()),
});

export const recordingQuery = z.object({
  part: z.coerce.number().int().min(1).default(1).meta({ description: 'Which of `recording.parts`' }),
});

export function registerCalls(plain: FastifyInstance, guard: Guard, deps: CallRouteDeps): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const readable = { onRequest: guard('calls:read'), schema: { params: callParams } };

  app.get('/api/developer/calls/:callUuid', readable, async (request) => {
    const view = await readCallView(deps, { workspaceId: request.principal.workspaceId, ...request.params });
    if (view === undefined) throw new Refusal('call_not_found');
    return view;
  });

  const recorded = { ...readable, schema: { params: callParams, querystring: recordingQuery } };
  app.get('/api/developer/calls/:callUuid/recording', recorded, async (request, reply) => {
    const call = await readCall(deps.database, request.principal.workspaceId, request.params.callUuid);
    if (call === undefined) throw new Refusal('call_not_found');
    const { part } = request.query;
    const recording = (part === 1 ? call.recording : call.recordings[part - 1]) ?? null;
    if (call.recordingStatus !== 'ready' || recording === null) throw new Refusal('recording_not_ready');
    const file = await stat(recording.path).catch(() => null);
    if (file === null) throw new Refusal('recording_not_ready');
    return reply
      .headers({
        'content-type': 'audio/ogg; codecs=opus',
        'content-length': file.size,
        'content-disposition': `inline; filename="${call.callUuid}.ogg"`,
      })
      .send(createReadStream(recording.path));
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
