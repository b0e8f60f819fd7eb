/**
 * Recordings over HTTP. `GET /api/developer/calls/{callUuid}/recording` wants the API key and redirects to a signed
 * address (contract §13); `GET /api/developer/recordings/{callUuid}` is that address: no key, ranges, for players and
 * downloads.
 */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { readCall } from '../../calls/call-row.ts';
import { RecordingKeyLost } from '../../recordings/recording-keys.ts';
import { REDIRECT_LIFE_MS, type RecordingLinks, type RecordingTarget } from '../../recordings/recording-links.ts';
import { StoreFault } from '../../recordings/recording-store.ts';
import { RenderingBusy } from '../../recordings/renditions.ts';
import type { SoundFile, SoundFiles } from '../../recordings/sound-files.ts';
import { FORMATS, STORED_FORM, VARIANTS } from '../../recordings/sound-form.ts';
import type { Database } from '../../store/database.ts';
import { callParams } from '../calls/call-routes.ts';
import type { Guard } from '../guard.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { rangeOf } from './byte-range.ts';

export interface RecordingRouteDeps {
  database: Database;
  links: RecordingLinks;
  sounds: SoundFiles;
}

export const recordingQuery = z.object({
  variant: z.enum(VARIANTS).default(STORED_FORM.variant).meta({
    description:
      '`stereo` has the caller left and the agent right, `mono` both in one; `caller` and `agent` one of them alone',
  }),
  format: z.enum(FORMATS).default(STORED_FORM.format).meta({ description: '`ogg` is Ogg/Opus, `wav` 16-bit PCM' }),
  part: z.coerce
    .number()
    .int()
    .min(1)
    .max(1000)
    .optional()
    .meta({ description: 'One of `recording.parts` alone; without it the whole call' }),
});

export const linkQuery = recordingQuery.extend({
  expires: z.coerce.number().int().min(0).max(1e11).meta({ description: 'Unix seconds' }),
  signature: z.string().max(100).meta({ description: 'Of everything else in the address' }),
});

const BUSY_RETRY_SECONDS = 5;
const SOUND = { 'audio/ogg': z.file(), 'audio/wav': z.file() };
const SOUND_HEADERS = { 'Accept-Ranges': '`bytes`', ETag: 'SHA-256 of the stored file' };

export function registerRecordings(app: FastifyInstance, guard: Guard, deps: RecordingRouteDeps): void {
  const route = routesOn(app, guard);

  route({
    method: 'get',
    path: '/api/developer/calls/:callUuid/recording',
    id: 'readRecording',
    tag: 'Calls',
    summary: 'The recording of a call',
    description:
      'Redirects to a signed address that lives five minutes and needs no key. Stored is Ogg/Opus in stereo; every other form is made of it when it is asked for, which takes a second or two.',
    scope: 'calls:read',
    right: 'recordings:read',
    params: callParams,
    query: recordingQuery,
    answers: {
      302: { description: 'Where it is.', content: {}, headers: { Location: 'The signed address' } },
    },
    errors: ['recording_not_ready', 'invalid_call_id', 'call_not_found'],
    async handler(request, reply) {
      const { callUuid } = request.params;
      const call = await readCall(deps.database, request.principal.workspaceId, callUuid);
      if (call === undefined) throw new Refusal('call_not_found');
      const { part = null } = request.query;
      const isThere = part === null ? call.recordingStatus === 'ready' : call.recordings[part - 1] !== undefined;
      if (!isThere) throw new Refusal('recording_not_ready');
      return reply.redirect(deps.links.sign({ ...request.query, part, callUuid }, REDIRECT_LIFE_MS).url, 302);
    },
  });

  route({
    method: 'get',
    path: '/api/developer/recordings/:callUuid',
    id: 'downloadRecording',
    tag: 'Calls',
    summary: 'A recording, at its signed address',
    description:
      'The addresses in `recording.ready` and in the call log, and the one that `readRecording` redirects to. HEAD and single byte ranges are answered; no key is needed, so treat the address as a secret.',
    scope: null,
    headers: { Range: '`bytes=0-1023`', 'If-Range': 'An ETag' },
    params: callParams,
    query: linkQuery,
    answers: {
      200: { description: 'The file.', content: SOUND, headers: SOUND_HEADERS },
      206: {
        description: 'The range.',
        content: SOUND,
        headers: { ...SOUND_HEADERS, 'Content-Range': 'Which bytes of how many' },
      },
    },
    errors: [
      'link_invalid',
      'link_expired',
      'recording_not_ready',
      'range_not_satisfiable',
      'recording_store_unavailable',
      'recording_busy',
      'recording_unreadable',
      'invalid_call_id',
    ],
    // Fastify's own would tell a length of 0.
    answersHead: true,
    async handler(request, reply) {
      const { expires, signature, part = null, ...form } = request.query;
      const target = { ...form, part, callUuid: request.params.callUuid };
      const verdict = deps.links.check(target, expires, signature);
      if (verdict === 'bad') throw new Refusal('link_invalid');
      if (verdict === 'expired') throw new Refusal('link_expired');
      const sound = await toldAsRefusal(() => deps.sounds.open(target));
      if (sound === null) throw new Refusal('recording_not_ready');
      return send(request, reply, target, sound);
    },
  });
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { callUuid, variant, format, part }: RecordingTarget,
  sound: SoundFile,
): Promise<FastifyReply> {
  const etag = sound.sha256 === null ? null : `"${sound.sha256}"`;
  const ifRange = request.headers['if-range'];
  const isSame = ifRange === undefined || ifRange === etag;
  const range = isSame ? rangeOf(request.headers.range, sound.sizeBytes) : 'whole';
  if (range === 'unsatisfiable') {
    await sound.close();
    throw new Refusal('range_not_satisfiable', { headers: { 'content-range': `bytes */${sound.sizeBytes}` } });
  }
  const { start, end } = range === 'whole' ? { start: 0, end: sound.sizeBytes } : range;
  const name = `${callUuid}${part === null ? '' : `.${part}`}${variant === 'stereo' ? '' : `.${variant}`}.${format}`;
  reply.code(range === 'whole' ? 200 : 206).headers({
    'content-type': sound.contentType,
    'content-length': end - start,
    'accept-ranges': 'bytes',
    'content-disposition': `inline; filename="${name}"`,
    // An address with a signature in it must not reach another site.
    'referrer-policy': 'no-referrer',
    'cache-control': 'private, no-store',
    ...(etag === null ? {} : { etag }),
    ...(range === 'whole' ? {} : { 'content-range': `bytes ${start}-${end - 1}/${sound.sizeBytes}` }),
  });
  if (request.method === 'HEAD') {
    await sound.close();
    return reply.send();
  }
  const pieces = sound.range(start, end);
  // Before the first line of the answer, so that a fault can still be told.
  const first = await toldAsRefusal(async () => pieces.next()).catch(async (error: unknown) => {
    await sound.close();
    reply.removeHeader('content-length').removeHeader('etag').removeHeader('content-range');
    throw error;
  });
  const body = Readable.from(streamed(first, pieces), { objectMode: false });
  // Not in the generator: one whose client left before the first read never begins.
  body.once('close', () => void sound.close());
  return reply.send(body);
}

async function* streamed(
  first: IteratorResult<Buffer, void>,
  pieces: AsyncGenerator<Buffer, void, undefined>,
): AsyncGenerator<Buffer, void, undefined> {
  if (first.done !== true) yield first.value;
  yield* pieces;
}

/** What the store and the converter throw, as the client is told it. */
export async function toldAsRefusal<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreFault)
      throw new Refusal('recording_store_unavailable', { retryAfterSeconds: BUSY_RETRY_SECONDS });
    if (error instanceof RenderingBusy) throw new Refusal('recording_busy', { retryAfterSeconds: BUSY_RETRY_SECONDS });
    if (error instanceof RecordingKeyLost) throw new Refusal('recording_unreadable');
    throw error;
  }
}
