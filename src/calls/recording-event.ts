/** What `recording.ready` says beyond the fields of every event (contract §6). */
import type { LiveCall } from './live-call.ts';

export function recordingEventFields(publicUrl: string, call: LiveCall): Record<string, unknown> {
  const { recording } = call;
  if (recording === null) return {};
  const described = {
    // Asked for with an API key, so it does not expire.
    url: `${publicUrl}/api/developer/calls/${call.callUuid}/recording`,
    urlExpiresAt: null,
    format: recording.format,
    channels: recording.channels,
    sampleRate: recording.rateHz,
    durationSeconds: Math.round(recording.durationMs / 100) / 10,
    sizeBytes: recording.sizeBytes,
    sha256: recording.sha256,
    redacted: false,
  };
  return { recording: described, recordings: [described] };
}
