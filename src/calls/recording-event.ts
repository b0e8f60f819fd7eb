/** What `recording.ready` says beyond the fields of every event (contract §6). */
import type { StreamRecording } from './call-record.ts';
import type { LiveCall } from './live-call.ts';

/** `recordings` has an entry for each stream of a call that came back; `recording` is the first. */
export function recordingEventFields(publicUrl: string, call: LiveCall): Record<string, unknown> {
  if (call.recordings.length === 0) return {};
  const url = `${publicUrl}/api/developer/calls/${call.callUuid}/recording`;
  const recordings = call.recordings.map((recording, at) =>
    described(recording, at === 0 ? url : `${url}?part=${at + 1}`),
  );
  return { recording: recordings[0], recordings };
}

function described(recording: StreamRecording, url: string): Record<string, unknown> {
  return {
    // Asked for with an API key, so it does not expire.
    url,
    urlExpiresAt: null,
    format: recording.format,
    channels: recording.channels,
    sampleRate: recording.rateHz,
    durationSeconds: Math.round(recording.durationMs / 100) / 10,
    sizeBytes: recording.sizeBytes,
    sha256: recording.sha256,
    redacted: false,
  };
}
