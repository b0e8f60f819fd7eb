/**
 * `GET /api/developer/calls/{callUuid}/events`: what happened, as a JSON list, or as a stream of server-sent events
 * that begins with what is stored and goes on live. The table is the truth, so events of another node come too; the bus
 * shortens the wait, also where the table is late (`early-events.ts`). A stream ends 60 s after the call at the latest,
 * sooner when recording and webhooks are settled; and with its key.
 */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Clock } from '../../../media/contract/clock.ts';
import type { CallEventBus } from '../../calls/call-event-bus.ts';
import { readCall } from '../../calls/call-row.ts';
import type { UnwrittenTalk } from '../../media-link/unwritten-talk.ts';
import type { Database } from '../../store/database.ts';
import type { Authenticator } from '../authentication.ts';
import { beginEventStream, wantsStream, writeText } from '../event-stream.ts';
import type { Guard } from '../guard.ts';
import { maskedStream } from '../masking.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { eventsAnswer } from './answers.ts';
import { callParams, WRITTEN_LIMIT_MS } from './call-routes.ts';
import { createEventStreams } from './event-streams.ts';
import { readEvents } from './stored-events.ts';

export interface EventRouteDeps extends Pick<Authenticator, 'stillHold'> {
  database: Database;
  clock: Clock;
  log: Logger;
  bus: Pick<CallEventBus, 'subscribe'>;
  unwritten: UnwrittenTalk;
}

const RETRY_SECONDS = 5;

export function registerCallEvents(app: FastifyInstance, guard: Guard, deps: EventRouteDeps): void {
  const route = routesOn(app, guard);
  const streams = createEventStreams(deps);
  app.addHook('preClose', async () => streams.close());

  route({
    method: 'get',
    path: '/api/developer/calls/:callUuid/events',
    id: 'readCallEvents',
    tag: 'Calls',
    summary: 'What happened in a call, in order',
    description:
      'A list, or with `Accept: text/event-stream` a stream that begins with what is stored and goes on live; `Last-Event-ID` continues one. Partial words have no id, and neither has what is shown before it is stored, because the database is slow or away: its id follows alone, without an event, once it is; after a break it may come again, with its id. It ends with the event `end`, or without it when its key is revoked.',
    scope: 'calls:read',
    headers: { Accept: '`text/event-stream` for a stream', 'Last-Event-ID': 'The last event that was received' },
    params: callParams,
    answers: {
      200: {
        description: 'The events.',
        content: { 'application/json': eventsAnswer, 'text/event-stream': z.string() },
      },
    },
    errors: ['invalid_call_id', 'call_not_found', 'event_stream_limit'],
    async handler(request, reply) {
      const { callUuid } = request.params;
      const call = await readCall(deps.database, request.principal.workspaceId, callUuid);
      if (call === undefined) throw new Refusal('call_not_found');
      if (!wantsStream(request.headers.accept)) {
        await deps.unwritten.allWritten(callUuid, WRITTEN_LIMIT_MS);
        return { data: await readEvents(deps.database, callUuid, '0'), nextCursor: null };
      }
      // Whoever has gone meanwhile closes no more, and would hold a place until the call ends.
      if (reply.raw.destroyed) return reply.hijack();
      const { holder: keyId, masking } = request.principal;
      if (!streams.hasRoom(callUuid, keyId)) {
        throw new Refusal('event_stream_limit', { retryAfterSeconds: RETRY_SECONDS });
      }
      const lastEventId = request.headers['last-event-id'];
      beginEventStream(reply);
      const end = streams.open({
        callUuid,
        keyId,
        address: request.ip ?? 'local',
        afterId: typeof lastEventId === 'string' && /^\d{1,18}$/.test(lastEventId) ? lastEventId : '0',
        write: (text) => writeText(reply.raw, masking === null ? text : maskedStream(text, masking)),
        onEnd: () => void reply.raw.end(),
      });
      reply.raw.on('close', end);
      return reply;
    },
  });
}
