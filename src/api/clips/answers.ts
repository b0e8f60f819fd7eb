/** What the routes of clips answer, as zod schemas for the published document. */
import { z } from 'zod';
import { time, uuid, wholeList } from '../openapi/shared-answers.ts';

const fields = {
  id: uuid.describe('For `clip` in an agent; its name will do too'),
  name: z.string(),
  text: z.string().describe('What it says, for transcripts; may be empty'),
  kind: z
    .enum(['wav', 'ogg_opus', 'webm_opus', 'other'])
    .describe('Of the file that was sent; `other` was read by FFmpeg'),
  durationMs: z.int(),
  loudnessLufs: z.number().describe('As it is stored, by EBU R 128; -16 is aimed at'),
  sizeBytes: z.int().describe('Of the WAV that is stored'),
  createdAt: time,
};
const clip = z.strictObject(fields).meta({ id: 'Clip' });

export const clipsAnswer = wholeList(clip).meta({ id: 'Clips' });
export const storedClipAnswer = z.strictObject({ success: z.literal(true), clip }).meta({ id: 'StoredClip' });
export const deletedClipAnswer = z.strictObject({ success: z.literal(true), clipId: uuid }).meta({ id: 'DeletedClip' });

export const clipAnswer = z
  .strictObject({
    ...fields,
    usedBy: z
      .array(z.strictObject({ agentId: uuid, name: z.string() }))
      .describe('Agents whose current version plays it'),
  })
  .meta({ id: 'ClipDetail' });
