/**
 * The shape of an agent that converses (`docs/cascade.md`), strict. Part of `definition-schema.ts`, which the compiler
 * holds equal to the contract's types; what the fields mean is checked in `cascade-check.ts`.
 */
import { z } from 'zod';
import { BUILT_IN_TOOLS } from '../../media/contract/agent-definition.ts';
import {
  analysis,
  direction,
  LONGEST_LINE,
  LONGEST_TEXT,
  label,
  line,
  maxDurationSeconds,
  milliseconds,
  text,
  variable,
} from './schema-parts.ts';
import { tool } from './tool-schema.ts';

const LANGUAGE = /^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$/;
const ENGINE = /^[a-z0-9][a-z0-9_-]{0,62}$/;

const whole = (least: number, most: number) =>
  z.int().min(least, `must be at least ${least}`).max(most, `must be at most ${most}`);
const dollars = z.number().min(0, 'must not be negative').max(1_000_000, 'must be at most 1000000');
const language = z.string().regex(LANGUAGE, 'must be a language tag such as "en-US", "de" or "pt-BR"');
const engine = z.string().regex(ENGINE, 'must be the name of an engine: small letters, digits, - and _');
const connection = text(63);
/** What an engine makes of them it says itself; they travel with every call. */
const settings = z
  .record(z.string(), z.unknown())
  .refine((value) => JSON.stringify(value).length <= 4_000, 'must have at most 4000 characters of JSON');

const model = z.strictObject({
  connection,
  engine: engine.exactOptional(),
  model: label,
  temperature: z.number().min(0, 'must be at least 0').max(2, 'must be at most 2').exactOptional(),
  maxTokens: whole(16, 16_384).exactOptional(),
  price: z.strictObject({ input: dollars, cachedInput: dollars.exactOptional(), output: dollars }).exactOptional(),
  settings: settings.exactOptional(),
});

const ear = z.strictObject({
  connection: connection.exactOptional(),
  engine,
  model: label.exactOptional(),
  keyterms: z.array(label).max(100, 'must hold at most 100 words').exactOptional(),
  settings: settings.exactOptional(),
});

const voice = z.strictObject({
  connection: connection.exactOptional(),
  engine,
  voice: label,
  model: label.exactOptional(),
  settings: settings.exactOptional(),
});

export const cascade = z.strictObject({
  kind: z.literal('cascade'),
  schema: z.literal(1, { error: 'must be 1, the version of this shape' }),
  name: label,
  direction,
  language,
  otherLanguages: z.array(language).max(20, 'must hold at most 20 languages').exactOptional(),
  script: text(LONGEST_TEXT),
  firstMessage: line.exactOptional(),
  speaksFirst: z.enum(['agent', 'caller'], { error: 'must be "agent" or "caller"' }).exactOptional(),
  think: z.array(model).min(1, 'must hold at least one model').max(5, 'must hold at most 5 models'),
  listen: ear,
  speak: z.array(voice).min(1, 'must hold at least one voice').max(5, 'must hold at most 5 voices'),
  voiceActivity: z.enum(['gate', 'neural'], { error: 'must be "gate" or "neural"' }).exactOptional(),
  tools: z.array(tool).max(50, 'must hold at most 50 tools').exactOptional(),
  builtInTools: z
    .array(z.enum(BUILT_IN_TOOLS, { error: `must be one of ${BUILT_IN_TOOLS.join(', ')}` }))
    .exactOptional(),
  end: z
    .strictObject({
      when: line.exactOptional(),
      farewell: line.exactOptional(),
      dispositions: z.array(label).min(1, 'must hold at least one').max(50, 'must hold at most 50').exactOptional(),
    })
    .exactOptional(),
  patience: z.strictObject({ minMs: whole(200, 3_000), maxMs: whole(400, 5_000) }).exactOptional(),
  filler: z
    .strictObject({
      afterMs: whole(300, 1_500).exactOptional(),
      say: z.array(line).max(20, 'must hold at most 20 lines').exactOptional(),
    })
    .exactOptional(),
  idle: z
    .strictObject({
      promptAfterMs: milliseconds,
      say: z.array(line).max(20, 'must hold at most 20 lines'),
      endAfterMs: milliseconds,
    })
    .exactOptional(),
  hedgeAfterMs: whole(300, 5_000).exactOptional(),
  limits: z
    .strictObject({
      tokens: whole(1_000, 100_000_000).exactOptional(),
      costUsd: z.number().min(0.001, 'must be at least 0.001').max(1_000, 'must be at most 1000').exactOptional(),
      answerCharacters: whole(100, 10_000).exactOptional(),
    })
    .exactOptional(),
  maxDurationSeconds: maxDurationSeconds.exactOptional(),
  defaults: z.record(variable, z.string().max(LONGEST_LINE)).exactOptional(),
  intents: z.array(label).max(50, 'must hold at most 50 labels').exactOptional(),
  analysis: analysis.exactOptional(),
});
