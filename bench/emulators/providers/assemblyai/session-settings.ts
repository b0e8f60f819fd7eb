/** What a session is asked for: in the query of its socket, and changed by `UpdateConfiguration` on the way. */
import { z } from 'zod';
import type { SoundFormat } from '../hearing/hearing.ts';

export interface SessionSettings {
  model: string;
  format: SoundFormat;
  /** It transcribes a turn anew at each pause and writes marks, which end it; the others tell word by word. */
  isBySegment: boolean;
  minTurnSilenceMs: number;
  maxTurnSilenceMs: number;
  /** Of the others. */
  endOfTurnConfidence: number;
  /** After the first speech, so long before its first words are told. */
  firstPartialMs: number;
  isFormatted: boolean;
  keyterms: string[];
  hasHeartbeat: boolean;
}

/** Refused by an error on the open socket; its message is what the service says. */
export class SettingFault extends Error {
  override readonly name = 'SettingFault';
}

const SEGMENTS = /^(universal-3-\d(-pro)?|u3-(rt-)?pro)$/;
const WORDS = new Set(['universal-streaming-english', 'universal-streaming-multilingual']);
/** Without a model in the query. */
const DEFAULT_MODEL = 'universal-streaming-english';
const MODES = {
  min_latency: { minTurnSilenceMs: 128, maxTurnSilenceMs: 640, interruptionDelayMs: 0 },
  balanced: { minTurnSilenceMs: 128, maxTurnSilenceMs: 1_280, interruptionDelayMs: 500 },
  max_accuracy: { minTurnSilenceMs: 512, maxTurnSilenceMs: 2_560, interruptionDelayMs: 500 },
};
const BY_WORDS = { minTurnSilenceMs: 400, maxTurnSilenceMs: 1_280, interruptionDelayMs: 0 };
/** On top of `interruption_delay`. */
const LEAST_FIRST_PARTIAL_MS = 300;
const MOST_KEYTERMS = 100;
const MOST_LANGUAGES = 10;

const terms = z.array(z.string()).max(MOST_KEYTERMS);
const ms = z.coerce.number().int().nonnegative();
const flag = z.enum(['true', 'false']).transform((value) => value === 'true');
const listOf = (schema: z.ZodType<string[]>) =>
  z.string().transform((text, context): string[] => {
    try {
      return schema.parse(JSON.parse(text));
    } catch {
      context.addIssue({ code: 'custom', message: 'not a list of texts, or too long a one' });
      return z.NEVER;
    }
  });

const querySchema = z.object({
  speech_model: z
    .string()
    .refine((name) => SEGMENTS.test(name) || WORDS.has(name), 'unknown model')
    .default(DEFAULT_MODEL),
  sample_rate: z
    .enum(['8000', '16000'], '8000 and 16000 are emulated')
    .transform((rate) => (rate === '8000' ? 8000 : 16_000)),
  encoding: z.enum(['pcm_s16le', 'pcm_mulaw'], 'pcm_s16le and pcm_mulaw are emulated').default('pcm_s16le'),
  mode: z.enum(['min_latency', 'balanced', 'max_accuracy']).default('balanced'),
  min_turn_silence: ms.optional(),
  max_turn_silence: ms.optional(),
  end_of_turn_confidence_threshold: z.coerce.number().min(0).max(1).default(0.4),
  interruption_delay: ms.max(1_000).optional(),
  format_turns: flag.default(false),
  keyterms_prompt: listOf(terms).optional(),
  language_codes: listOf(z.array(z.string()).max(MOST_LANGUAGES)).optional(),
  session_heartbeat: flag.default(false),
});

export const commandSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('Terminate') }),
  z.object({ type: z.literal('ForceEndpoint') }),
  z.object({ type: z.literal('KeepAlive') }),
  z.object({
    type: z.literal('UpdateConfiguration'),
    min_turn_silence: z.number().int().nonnegative().optional(),
    max_turn_silence: z.number().int().nonnegative().optional(),
    end_of_turn_confidence_threshold: z.number().min(0).max(1).optional(),
    keyterms_prompt: terms.optional(),
  }),
]);

export type Change = Extract<z.output<typeof commandSchema>, { type: 'UpdateConfiguration' }>;

export function readSettings(query: URLSearchParams): SessionSettings {
  const read = querySchema.safeParse(Object.fromEntries(query));
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new SettingFault(`Invalid ${issue?.path.join('.')}: ${issue?.message}`);
  }
  const asked = read.data;
  const isBySegment = SEGMENTS.test(asked.speech_model);
  const usual = isBySegment ? MODES[asked.mode] : BY_WORDS;
  return {
    model: asked.speech_model,
    format: { encoding: asked.encoding === 'pcm_mulaw' ? 'mulaw' : 'linear16', rateHz: asked.sample_rate },
    isBySegment,
    minTurnSilenceMs: asked.min_turn_silence ?? usual.minTurnSilenceMs,
    maxTurnSilenceMs: asked.max_turn_silence ?? usual.maxTurnSilenceMs,
    endOfTurnConfidence: asked.end_of_turn_confidence_threshold,
    firstPartialMs: LEAST_FIRST_PARTIAL_MS + (asked.interruption_delay ?? usual.interruptionDelayMs),
    isFormatted: asked.format_turns,
    keyterms: asked.keyterms_prompt ?? [],
    hasHeartbeat: asked.session_heartbeat,
  };
}

export function changedBy(settings: SessionSettings, change: Change): SessionSettings {
  return {
    ...settings,
    minTurnSilenceMs: change.min_turn_silence ?? settings.minTurnSilenceMs,
    maxTurnSilenceMs: change.max_turn_silence ?? settings.maxTurnSilenceMs,
    endOfTurnConfidence: change.end_of_turn_confidence_threshold ?? settings.endOfTurnConfidence,
    keyterms: change.keyterms_prompt ?? settings.keyterms,
  };
}
