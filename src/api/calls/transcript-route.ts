/** `GET /api/developer/calls/{callUuid}/transcript?format=json|txt|vtt` (contract §13): what was heard, also while the call runs. */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { transcriptAsVtt } from '../../calls/call-log-transcript.ts';
import { readTurns } from '../../calls/call-turns.ts';
import { readCall } from '../../calls/live-call.ts';
import type { Database } from '../../store/database.ts';
import { transcriptOf } from '../../webhooks/transcript.ts';
import type { Guard } from '../guard.ts';
import { Refusal } from '../refusal.ts';
import { callParams } from './call-routes.ts';

export const transcriptQuery = z.object({
  format: z.enum(['json', 'txt', 'vtt']).default('json').meta({ description: '`vtt` is WebVTT, for players' }),
});

export function registerTranscript(plain: FastifyInstance, guard: Guard, deps: { database: Database }): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const options = { onRequest: guard('calls:read'), schema: { params: callParams, querystring: transcriptQuery } };
  app.get('/api/developer/calls/:callUuid/transcript', options, async (request, reply) => {
    const call = await readCall(deps.database, request.principal.workspaceId, request.params.callUuid);
    if (call === undefined) throw new Refusal('call_not_found');
    const turns = await readTurns(deps.database, call.callUuid);
    const transcript = transcriptOf(turns);
    if (transcript === null) throw new Refusal('transcript_not_ready');
    const { format } = request.query;
    if (format === 'json') {
      return {
        callUuid: call.callUuid,
        transcriptStatus: call.transcriptStatus,
        transcript,
        turns: turns.map((turn) => ({ ...turn, words: null })),
      };
    }
    const [type, text] =
      format === 'txt'
        ? ['text/plain; charset=utf-8', `${transcript}\n`]
        : ['text/vtt; charset=utf-8', transcriptAsVtt(turns)];
    return reply
      .header('content-disposition', `inline; filename="${call.callUuid}.${format}"`)
      .type(type)
      .serializer(String)
      .send(text);
  });
}
