/** What a Flux socket is asked for: in the query of its upgrade, and changed by `Configure` on the way. */
import { z } from 'zod';
import type { SoundFormat } from '../hearing/hearing.ts';
import { QueryFault, readNumber, readSoundFormat } from './query.ts';

export interface FluxSettings {
  model: 'flux-general-en' | 'flux-general-multi';
  format: SoundFormat;
  eotThreshold: number;
  /** Null: no eager ends, and no resumed turns. */
  eagerEotThreshold: number | null;
  eotTimeoutMs: number;
  keyterms: string[];
  languageHints: string[];
}

const DEFAULT_EOT = 0.7;
const DEFAULT_TIMEOUT_MS = 5_000;
const EOT = { least: 0.5, most: 1 };
const EAGER = { least: 0.3, most: 0.9 };
const TIMEOUT_MS = { least: 500, most: 60_000 };

const number = z.coerce.number();
const terms = z.union([z.string().transform((term) => [term]), z.array(z.string())]);

export const fluxCommandSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('CloseStream') }),
  z.object({ type: z.literal('ForceEndTurn') }),
  z.object({
    type: z.literal('Configure'),
    thresholds: z
      .object({
        eot_threshold: number.optional(),
        eager_eot_threshold: number.nullish(),
        eot_timeout_ms: number.optional(),
      })
      .optional(),
    keyterms: terms.optional(),
    language_hints: z.array(z.string()).optional(),
    numerals: z.boolean().optional(),
  }),
]);

export type Configure = Extract<z.output<typeof fluxCommandSchema>, { type: 'Configure' }>;

export function readFlux(query: URLSearchParams): FluxSettings {
  const model = query.get('model');
  if (model !== 'flux-general-en' && model !== 'flux-general-multi')
    throw new QueryFault('No such model: v2 knows flux-general-en and flux-general-multi.');
  const settings: FluxSettings = {
    model,
    format: readSoundFormat(query),
    eotThreshold: readNumber(query, 'eot_threshold', EOT.least, EOT.most) ?? DEFAULT_EOT,
    eagerEotThreshold: readNumber(query, 'eager_eot_threshold', EAGER.least, EAGER.most),
    eotTimeoutMs: readNumber(query, 'eot_timeout_ms', TIMEOUT_MS.least, TIMEOUT_MS.most) ?? DEFAULT_TIMEOUT_MS,
    keyterms: query.getAll('keyterm'),
    languageHints: query.getAll('language_hint'),
  };
  const fault = faultOf(settings);
  if (fault !== null) throw new QueryFault(fault);
  return settings;
}

/** Null when the change is refused; then nothing of it holds. */
export function changedBy(
  settings: FluxSettings,
  { thresholds, keyterms, language_hints }: Configure,
): FluxSettings | null {
  const eager = thresholds?.eager_eot_threshold;
  const changed: FluxSettings = {
    ...settings,
    eotThreshold: thresholds?.eot_threshold ?? settings.eotThreshold,
    eagerEotThreshold: eager === undefined ? settings.eagerEotThreshold : eager,
    eotTimeoutMs: thresholds?.eot_timeout_ms ?? settings.eotTimeoutMs,
    keyterms: keyterms ?? settings.keyterms,
    languageHints: language_hints ?? settings.languageHints,
  };
  return faultOf(changed) === null ? changed : null;
}

function faultOf({ model, eotThreshold, eagerEotThreshold, eotTimeoutMs, languageHints }: FluxSettings): string | null {
  if (!isWithin(eotThreshold, EOT)) return 'Invalid eot_threshold.';
  if (eagerEotThreshold !== null && !isWithin(eagerEotThreshold, EAGER)) return 'Invalid eager_eot_threshold.';
  if (eagerEotThreshold !== null && eagerEotThreshold > eotThreshold)
    return 'eager_eot_threshold must not be above eot_threshold.';
  if (!isWithin(eotTimeoutMs, TIMEOUT_MS)) return 'Invalid eot_timeout_ms.';
  if (languageHints.some((hint) => hint === '')) return 'A language_hint is empty.';
  if (languageHints.length > 0 && model !== 'flux-general-multi') return 'language_hint is for flux-general-multi.';
  return null;
}

function isWithin(value: number, { least, most }: { least: number; most: number }): boolean {
  return value >= least && value <= most;
}
