/**
 * `/api/developer/clips`: sound that agents play where they would speak. A clip comes as a form with a file in it, so
 * this resource has a parser and a limit of its own. What makes and keeps clips is `src/clips`; the command line uses
 * the same.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { LARGEST_CLIP_FILE_BYTES } from '../../../media/contract/clip.ts';
import type { Clip } from '../../clips/clip-rows.ts';
import { CLIP_NAME, ClipFileRefused, ClipInUse, type Clips } from '../../clips/clips.ts';
import { ClipsBusy } from '../../clips/convert-file.ts';
import { RecordingKeyLost } from '../../recordings/recording-keys.ts';
import { StoreFault } from '../../recordings/recording-store.ts';
import { isStorable } from '../../store/storable.ts';
import { changedBy, type Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { type CreateOnceDeps, createOnce } from '../settings/create-once.ts';
import { refusing } from '../settings/setting-refusal.ts';
import type { UploadRoom } from '../upload-room.ts';
import { clipAnswer, clipsAnswer, deletedClipAnswer, storedClipAnswer } from './answers.ts';

export const CLIPS_PATH = '/api/developer/clips';
const LONGEST_TEXT = 2_000;
const RETRY_SECONDS = 5;
const LIMITS = { fileSize: LARGEST_CLIP_FILE_BYTES, files: 1, fields: 4, parts: 5, fieldSize: 16_384, headerPairs: 20 };

export interface ClipRouteDeps extends CreateOnceDeps {
  clips: Clips;
  uploadRoom: UploadRoom;
}

export const clipParams = z.object({
  clipId: z.guid({ error: 'must be a UUID' }).transform((id) => id.toLowerCase()),
});

export const clipBody = z
  .strictObject({
    name: z
      .string({ error: 'is missing' })
      .regex(CLIP_NAME, 'must be 1 to 64 letters, digits, ., _ or -, a letter or digit first')
      .meta({ description: 'Unique in the workspace; what agents call it' }),
    text: z
      .string()
      .max(LONGEST_TEXT, `must have at most ${LONGEST_TEXT} characters`)
      .refine(isStorable, 'must not hold a NUL character')
      .default('')
      .meta({ description: 'What it says, for transcripts. An agent may say it itself.' }),
    file: z
      .custom<Buffer>((value) => Buffer.isBuffer(value), 'must be a file: -F file=@welcome.ogg')
      .meta({ type: 'string', format: 'binary', description: 'At most 10 MB' }),
  })
  .meta({ id: 'ClipRequest' });

export function registerClips(app: FastifyInstance, guard: Guard, deps: ClipRouteDeps): void {
  registerReading(app, guard, deps);
  app.register((scope, _options, registered) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(new Refusal('unsupported_clip_type')));
    void scope.register(multipart, { limits: LIMITS }).after(() => registerAdding(scope, guard, deps));
    registered();
  });
}

function registerAdding(app: FastifyInstance, guard: Guard, deps: ClipRouteDeps): void {
  const route = routesOn(app, guard);
  route({
    method: 'post',
    path: CLIPS_PATH,
    id: 'createClip',
    tag: 'Settings',
    summary: 'Make a clip of a sound file',
    description:
      'Ogg Opus, WebM Opus and WAV; anything else where FFmpeg is installed. At most 10 MB and three minutes. It becomes one channel at -16 LUFS.',
    scope: 'settings:write',
    once: true,
    body: clipBody,
    bodyTypes: ['multipart/form-data'],
    onRequest: deps.uploadRoom.enter(LARGEST_CLIP_FILE_BYTES),
    async preValidation(request) {
      request.body = await fieldsOf(request);
    },
    answers: { 201: json('The clip.', storedClipAnswer) },
    errors: [
      'invalid_clip',
      'clip_too_large',
      'unsupported_clip_type',
      'clips_busy',
      'overloaded',
      'recording_store_unavailable',
      'setting_refused',
      'already_exists',
    ],
    handler(request, reply) {
      const { name, text, file } = request.body;
      const { workspaceId } = request.principal;
      const clip = { workspaceId, name, text, file, by: changedBy(request) };
      return deps.uploadRoom.during(request, () =>
        createOnce<Clip>(deps, request, reply, {
          run: (once) => told(deps.clips.add(once, clip)),
          answer: (made) => ({ status: 201, body: { success: true, clip: made } }),
          asked: { name, text, file: createHash('sha256').update(file).digest('hex') },
        }),
      );
    },
  });
}

function registerReading(app: FastifyInstance, guard: Guard, { clips }: ClipRouteDeps): void {
  const route = routesOn(app, guard);
  const one = `${CLIPS_PATH}/:clipId`;

  route({
    method: 'get',
    path: CLIPS_PATH,
    id: 'listClips',
    tag: 'Settings',
    summary: 'The clips of the workspace',
    description: 'Sound that agents play where they would speak: docs/clips.md.',
    scope: 'settings:read',
    answers: { 200: json('All of them, by name.', clipsAnswer) },
    handler: async (request) => ({
      data: await clips.list(request.principal.workspaceId),
      nextCursor: null,
    }),
  });

  route({
    method: 'get',
    path: one,
    id: 'readClip',
    tag: 'Settings',
    summary: 'A clip, and which agents play it',
    description: 'It cannot be deleted while one does.',
    scope: 'settings:read',
    params: clipParams,
    answers: { 200: json('The clip.', clipAnswer) },
    errors: ['clip_not_found'],
    async handler(request) {
      const clip = await clips.read(request.principal.workspaceId, request.params.clipId);
      if (clip === undefined) throw new Refusal('clip_not_found');
      return clip;
    },
  });

  route({
    method: 'get',
    path: `${one}/sound`,
    id: 'readClipSound',
    tag: 'Settings',
    summary: 'The sound of a clip',
    description: 'As it is stored: 16-bit PCM, one channel, 24 kHz. Legs get it in their own format.',
    scope: 'settings:read',
    params: clipParams,
    answers: { 200: { description: 'The WAV.', content: { 'audio/wav': z.unknown() } } },
    errors: ['clip_not_found', 'recording_store_unavailable', 'recording_unreadable'],
    async handler(request, reply) {
      const sound = await told(clips.sound(request.principal.workspaceId, request.params.clipId));
      if (sound === undefined) throw new Refusal('clip_not_found');
      // Before the first line of the answer, so that a fault can still be told.
      const first = await told(sound.pieces.next());
      reply.headers({
        'content-type': 'audio/wav',
        'content-length': sound.sizeBytes,
        'content-disposition': `inline; filename="${sound.name}.wav"`,
        'cache-control': 'private, no-store',
        etag: `"${sound.sha256}"`,
      });
      const whole = async function* (): AsyncGenerator<Buffer, void, undefined> {
        if (first.done !== true) yield first.value;
        yield* sound.pieces;
      };
      return reply.send(Readable.from(whole(), { objectMode: false }));
    },
  });

  route({
    method: 'delete',
    path: one,
    id: 'deleteClip',
    tag: 'Settings',
    summary: 'Delete a clip',
    description:
      'Its key is forgotten first, so that every copy of it is noise. A live call that has it plays it to its end.',
    scope: 'settings:write',
    params: clipParams,
    answers: { 200: json('It is gone.', deletedClipAnswer) },
    errors: ['clip_not_found', 'clip_in_use', 'setting_refused'],
    async handler(request) {
      const { clipId } = request.params;
      const { workspaceId } = request.principal;
      const removed = await told(clips.remove({ workspaceId, named: clipId, by: changedBy(request) }));
      if (removed === undefined) throw new Refusal('clip_not_found');
      return { success: true, clipId };
    },
  });
}

/** The form's fields, its file as bytes. */
async function fieldsOf(request: FastifyRequest): Promise<Record<string, unknown>> {
  if (!request.isMultipart()) throw new Refusal('unsupported_clip_type');
  const fields: Record<string, unknown> = {};
  try {
    for await (const part of request.parts()) {
      fields[part.fieldname] = part.type === 'file' ? await part.toBuffer() : part.value;
    }
  } catch (error) {
    const { code = '' } = error as { code?: string };
    if (code === 'FST_REQ_FILE_TOO_LARGE') throw new Refusal('clip_too_large');
    const issue = code.endsWith('_LIMIT') ? 'has more fields than name, text and file' : 'is no form that can be read';
    throw new Refusal('invalid_request', { details: [{ field: 'body', issue }] });
  }
  return fields;
}

async function told<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await refusing('clip_not_found', work.catch(refuse));
  } catch (error) {
    if (error instanceof StoreFault)
      throw new Refusal('recording_store_unavailable', { retryAfterSeconds: RETRY_SECONDS });
    if (error instanceof RecordingKeyLost) throw new Refusal('recording_unreadable');
    throw error;
  }
}

/** What has a code of its own. */
function refuse(error: unknown): never {
  if (error instanceof ClipFileRefused) {
    throw new Refusal('invalid_clip', { details: [{ field: 'file', issue: error.problem }] });
  }
  if (error instanceof ClipInUse) {
    throw new Refusal('clip_in_use', { details: [{ field: 'clipId', issue: error.message }] });
  }
  if (error instanceof ClipsBusy) throw new Refusal('clips_busy', { retryAfterSeconds: RETRY_SECONDS });
  throw error;
}
