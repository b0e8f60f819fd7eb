/**
 * The shape of one custom tool in an agent's JSON (contract §14), strict. Part of `definition-schema.ts`, which the
 * compiler holds equal to the contract's types; what the fields mean is checked in `tool-check.ts`.
 */
import { z } from 'zod';
import { LONGEST_LINE, line, variable } from './schema-parts.ts';

/** `tool.NAME.result` must fit a placeholder's 64 characters. */
const TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,47}$/;
/** So that nobody hears 2 s of nothing: the voice needs time to begin. */
const LATEST_FILLER_MS = 1_500;

const whole = (least: number, most: number, why = '') =>
  z.int().min(least, `must be at least ${least}`).max(most, `must be at most ${most}${why}`);

export const toolName = z
  .string()
  .regex(TOOL_NAME, 'must be a letter or _ and then letters, digits, _ or -, 48 at most');

export const tool = z.strictObject({
  kind: z.enum(['http', 'client'], { error: 'must be "http" or "client"' }).exactOptional(),
  name: toolName,
  description: z.string().max(LONGEST_LINE, `must have at most ${LONGEST_LINE} characters`).exactOptional(),
  method: z.literal('POST', { error: 'must be "POST", the only method of a tool' }).exactOptional(),
  url: z.string().exactOptional(),
  headers: z.record(z.string(), z.string().max(LONGEST_LINE)).exactOptional(),
  parameters: z.record(z.string(), z.unknown()).exactOptional(),
  timeoutMs: whole(500, 60_000).exactOptional(),
  retries: z
    .union([z.literal(0), z.literal(1)], { error: 'must be 0, or 1 for what may happen twice' })
    .exactOptional(),
  speakDuring: z.array(line).max(20, 'must hold at most 20 lines').exactOptional(),
  speakAfterMs: whole(0, LATEST_FILLER_MS, ', so that nobody hears 2 s of nothing').exactOptional(),
  speakOnError: z.array(line).max(20, 'must hold at most 20 lines').exactOptional(),
  argsAtRoot: z.boolean().exactOptional(),
  responseVariables: z.record(variable, z.string().max(500)).exactOptional(),
  maxResponseBytes: whole(256, 1_048_576).exactOptional(),
});
