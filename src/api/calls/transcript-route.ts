/**
 * `GET /api/developer/calls/{callUuid}/transcript?format=json|txt|vtt` (contract §13): what was heard, also while the
 * call runs.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { transcriptAsVtt } from '../../call-log/call-log-transcript.ts';
import { readCall } from '../../calls/call-row.ts';
import { readTurns } from '../../calls/call-turns.ts';
import type { UnwrittenTalk } from '../../media-link/unwritten-talk.ts';
import type { Database } from '../../store/database.ts';
import { transcriptOf } from '../../webhooks/transcript.ts';
import type { Guard } from '../guard.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { transcriptAnswer } from './answers.ts';
import { callParams, WRITTEN_LIMIT_MS } from './call-routes.ts';

export const transcriptQuery = z.object({
  format: z.enum(['json', 'txt', 'vtt']).default('json').meta({ description: '`vtt` is WebVTT, for players' }),
});

export function registerTranscript(
  app: FastifyInstance,
  guard: Guard,
  deps: { database: Database; unwritten: UnwrittenTalk },
): void {
  const route = routesOn(app, guard);
  route({
    method: 'get',
    path: '/api/developer/calls/:callUuid/transcript',
    id: 'readTranscript',
    tag: 'Calls',
    summary: 'The transcript of a call',
    description:
      'What was heard so far. As JSON with its turns, as text with a line a turn, or as subtitles for the recording.',
    scope: 'calls:read',
    params: callParams,
    query: transcriptQuery,
    answers: {
      200: {
        description: 'The transcript.',
        content: { 'application/json': transcriptAnswer, 'text/plain': z.string(), 'text/vtt': z.string() },
      },
    },
    errors: ['transcript_not_ready', 'invalid_call_id', 'call_not_found'],
    async handler(request, reply) {
      await deps.unwritten.allWritten(request.params.callUuid, WRITTEN_LIMIT_MS);
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
    },
  });
}
