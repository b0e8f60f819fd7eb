/** The routes of clips, described for the published document. */
import { z } from 'zod';
import { BODY, json, KEYED, ONCE, type Operation, RATE_HEADERS, REPLAYED } from '../openapi/operation.ts';
import { CHANGING, CREATING, settings } from '../settings/described.ts';
import { clipAnswer, clipsAnswer, deletedClipAnswer, storedClipAnswer } from './answers.ts';
import { CLIPS_PATH, clipBody, clipParams } from './clip-routes.ts';

const one = `${CLIPS_PATH}/:clipId`;

export const clipOperations: readonly Operation[] = [
  {
    ...settings,
    method: 'get',
    route: CLIPS_PATH,
    id: 'listClips',
    summary: 'The clips of the workspace',
    description: 'Sound that agents play where they would speak: docs/clips.md.',
    scope: 'settings:read',
    answers: { 200: json('All of them, by name.', clipsAnswer, RATE_HEADERS) },
    errors: KEYED,
  },
  {
    ...settings,
    method: 'post',
    route: CLIPS_PATH,
    id: 'createClip',
    summary: 'Make a clip of a sound file',
    description:
      'Ogg Opus, WebM Opus and WAV; anything else where FFmpeg is installed. At most 10 MB and three minutes. It becomes one channel at -16 LUFS.',
    scope: 'settings:write',
    headers: ONCE,
    body: clipBody,
    bodyTypes: ['multipart/form-data'],
    answers: { 201: json('The clip.', storedClipAnswer, REPLAYED) },
    errors: [
      'invalid_clip',
      'clip_too_large',
      'unsupported_clip_type',
      'clips_busy',
      'overloaded',
      'recording_store_unavailable',
      ...CREATING.filter((code) => !BODY.includes(code)),
    ],
  },
  {
    ...settings,
    method: 'get',
    route: one,
    id: 'readClip',
    summary: 'A clip, and which agents play it',
    description: 'It cannot be deleted while one does.',
    scope: 'settings:read',
    params: clipParams,
    answers: { 200: json('The clip.', clipAnswer, RATE_HEADERS) },
    errors: ['clip_not_found', 'invalid_request', ...KEYED],
  },
  {
    ...settings,
    method: 'get',
    route: `${one}/sound`,
    id: 'readClipSound',
    summary: 'The sound of a clip',
    description: 'As it is stored: 16-bit PCM, one channel, 24 kHz. Legs get it in their own format.',
    scope: 'settings:read',
    params: clipParams,
    answers: { 200: { description: 'The WAV.', content: { 'audio/wav': z.unknown() }, headers: RATE_HEADERS } },
    errors: ['clip_not_found', 'recording_store_unavailable', 'recording_unreadable', 'invalid_request', ...KEYED],
  },
  {
    ...settings,
    method: 'delete',
    route: one,
    id: 'deleteClip',
    summary: 'Delete a clip',
    description:
      'Its key is forgotten first, so that every copy of it is noise. A live call that has it plays it to its end.',
    scope: 'settings:write',
    params: clipParams,
    answers: { 200: json('It is gone.', deletedClipAnswer, RATE_HEADERS) },
    errors: ['clip_not_found', 'clip_in_use', ...CHANGING.filter((code) => code !== 'precondition_failed')],
  },
];
