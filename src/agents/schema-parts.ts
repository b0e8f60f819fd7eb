/** Pieces of the shape of an agent's JSON that `definition-schema.ts` and `tool-schema.ts` share. */
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
