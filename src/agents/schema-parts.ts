/**
 * Pieces of the shape of an agent's JSON that `definition-schema.ts`, `cascade-schema.ts` and `tool-schema.ts` share.
 */
import { z } from 'zod';

export const LONGEST_TEXT = 20_000;
export const LONGEST_LINE = 2_000;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;

export const text = (longest: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(longest, `must have at most ${longest} characters`)
    .refine((value) => !value.includes('\u0000'), 'must not hold a NUL character');
export const line = text(LONGEST_LINE);
/** What an agent says: a text, or a clip (`media/contract/clip.ts`). */
export const spokenLine = z.union([line, z.strictObject({ clip: text(64), text: line.exactOptional() })]);
export const variable = z
  .string()
  .regex(VARIABLE, 'must be a letter or _ and then letters, digits, _, . or -, 64 at most');

export const MAX_DURATION_SECONDS = { least: 30, most: 14_400 };
export const label = text(120);
export const direction = z.enum(['outbound', 'inbound', 'web', 'any']);
export const maxDurationSeconds = z
  .int()
  .min(MAX_DURATION_SECONDS.least, `must be at least ${MAX_DURATION_SECONDS.least}`)
  .max(MAX_DURATION_SECONDS.most, `must be at most ${MAX_DURATION_SECONDS.most}`);
export const milliseconds = z.int().min(500, 'must be at least 500').max(600_000, 'must be at most 600000');
export const analysis = z.strictObject({
  data: z.record(z.string(), z.unknown()).exactOptional(),
  successIntents: z.array(label).max(50, 'must hold at most 50 labels').exactOptional(),
  successWhen: line.exactOptional(),
  useModel: z.boolean().exactOptional(),
});
