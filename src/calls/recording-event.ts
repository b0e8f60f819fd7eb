/** How a call's recordings are told: in `recording.ready` (contract §6) and in the call log (contract §13). Addresses are signed and live a day. */
import { type RecordingLinks, TOLD_LIFE_MS } from '../recordings/recording-links.ts';
import { type SoundForm, STORED_FORM, VARIANTS } from '../recordings/sound-form.ts';
import type { CallRecord, StreamRecording } from './call-record.ts';

export interface RecordingShown {
  /** From 1: which stream of the call. */
  part: number;
  variant: SoundForm['variant'];
  url: string;
  urlExpiresAt: string;
  format: StreamRecording['format'];
  channels: number;
  sampleRate: number;
  durationSeconds: number;
  /** Null for a variant: it is made when it is asked for. */
  sizeBytes: number | null;
  sha256: string | null;
  redacted: false;
}

type Recorded = Pick<CallRecord, 'callUuid' | 'recordings'>;

/** `recording` is the first stream as it is stored; `recordings` has every stream in every variant. */
export function recordingEventFields(links: RecordingLinks, call: Recorded): Record<string, unknown> {
  const recordings = shownRecordings(links, call);
  return recordings.length === 0 ? {} : { recording: recordings[0], recordings };
}

/** Each stream of the call as it is stored, followed by its variants. */
export function shownRecordings(links: RecordingLinks, { callUuid, recordings }: Recorded): RecordingShown[] {
  return recordings.flatMap((recording, at) =>
    VARIANTS.map((variant) => shown(links, { callUuid, part: at + 1, variant }, recording)),
  );
}

function shown(
  links: RecordingLinks,
  { callUuid, part, variant }: { callUuid: string; part: number; variant: SoundForm['variant'] },
  recording: StreamRecording,
): RecordingShown {
  const { url, expiresAt } = links.sign({ ...STORED_FORM, callUuid, part, variant }, TOLD_LIFE_MS);
  const isStored = variant === STORED_FORM.variant;
  return {
    part,
    variant,
    url,
    urlExpiresAt: expiresAt.toISOString(),
    format: recording.format,
    channels: isStored ? recording.channels : 1,
    sampleRate: recording.rateHz,
    durationSeconds: Math.round(recording.durationMs / 100) / 10,
    sizeBytes: isStored ? recording.sizeBytes : null,
    sha256: isStored ? recording.sha256 : null,
    redacted: false,
  };
}
