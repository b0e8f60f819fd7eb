/**
 * How a call's recordings are told: in `recording.ready` (contract §6) and in the call log (contract §13). Addresses
 * are signed and live a day.
 */

import type { CallRecord, SoundFacts } from '../calls/call-record.ts';
import { type RecordingLinks, TOLD_LIFE_MS } from './recording-links.ts';
import { type SoundForm, STORED_FORM, VARIANTS } from './sound-form.ts';

export interface RecordingShown {
  /** Null: the whole call. From 1: one of its streams alone. */
  part: number | null;
  variant: SoundForm['variant'];
  url: string;
  urlExpiresAt: string;
  format: SoundFacts['format'];
  channels: number;
  sampleRate: number;
  /** Its place in the whole. */
  startSeconds: number;
  durationSeconds: number;
  /** Null for a variant: it is made when it is asked for. */
  sizeBytes: number | null;
  sha256: string | null;
  redacted: false;
}

type Recorded = Pick<CallRecord, 'callUuid' | 'recording' | 'recordings'>;

/**
 * `recording` is the whole call as it is stored; `recordings` has it in every variant, and then each stream's where
 * there were several.
 */
export function recordingEventFields(links: RecordingLinks, call: Recorded): Record<string, unknown> {
  const recordings = shownRecordings(links, call);
  return recordings.length === 0 ? {} : { recording: recordings[0], recordings };
}

/** The whole call, and its parts where it has such: as it is stored, followed by its variants. */
export function shownRecordings(
  links: RecordingLinks,
  { callUuid, recording, recordings }: Recorded,
): RecordingShown[] {
  if (recording === null) return [];
  const isJoined = recordings.length > 1 || recordings[0]?.sha256 !== recording.sha256;
  const parts = isJoined
    ? recordings.map((part, at) => ({ part: at + 1, facts: part, startMs: part.startMs ?? 0 }))
    : [];
  return [{ part: null, facts: recording, startMs: 0 }, ...parts].flatMap((one) =>
    VARIANTS.map((variant) => shown(links, { callUuid, variant, ...one })),
  );
}

function shown(
  links: RecordingLinks,
  one: {
    callUuid: string;
    part: number | null;
    variant: SoundForm['variant'];
    facts: SoundFacts;
    startMs: number;
  },
): RecordingShown {
  const { callUuid, part, variant, facts, startMs } = one;
  const { url, expiresAt } = links.sign({ ...STORED_FORM, callUuid, part, variant }, TOLD_LIFE_MS);
  const isStored = variant === STORED_FORM.variant;
  return {
    part,
    variant,
    url,
    urlExpiresAt: expiresAt.toISOString(),
    format: facts.format,
    channels: isStored ? facts.channels : 1,
    sampleRate: facts.rateHz,
    startSeconds: startMs / 1000,
    durationSeconds: Math.round(facts.durationMs / 100) / 10,
    sizeBytes: isStored ? facts.sizeBytes : null,
    sha256: isStored ? facts.sha256 : null,
    redacted: false,
  };
}
