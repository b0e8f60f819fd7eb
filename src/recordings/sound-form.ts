/**
 * The forms in which a recording can be had. One is stored (stereo, Ogg/Opus); the others are
 * made of it when somebody asks.
 */

export const VARIANTS = ['stereo', 'mono', 'caller', 'agent'] as const;
export const FORMATS = ['ogg', 'wav'] as const;

export interface SoundForm {
  variant: (typeof VARIANTS)[number];
  /** `peaks`: the outline of the waveform, as JSON; for the console, and no download. */
  format: (typeof FORMATS)[number] | 'peaks';
}

export const STORED_FORM = { variant: 'stereo', format: 'ogg' } as const satisfies SoundForm;

export function isStored({ variant, format }: SoundForm): boolean {
  return variant === STORED_FORM.variant && format === STORED_FORM.format;
}

export const CONTENT_TYPES: Readonly<Record<SoundForm['format'], string>> = {
  ogg: 'audio/ogg; codecs=opus',
  wav: 'audio/wav',
  peaks: 'application/json',
};
