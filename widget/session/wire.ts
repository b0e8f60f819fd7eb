/** The messages of `/ws/live` (docs/live-protocol.md) as far as the widget reads them. Types only. */

export interface AudioFormat {
  codec: 'opus' | 'pcm_s16le' | 'mulaw';
  sampleRate: number;
  frameMs: number;
}

export interface Ready {
  callUuid: string;
  resumeToken: string;
  resumeWindowMs?: number;
  resumed?: boolean;
  audio: { input: AudioFormat; output: AudioFormat };
  limits?: { maxSessionSeconds?: number; pingIntervalMs?: number };
}

export interface ServerMessage {
  type: string;
  ordinal?: number;
  id?: number;
  phase?: string;
  code?: string;
  fatal?: boolean;
  reason?: string;
  utteranceId?: string;
  toolCallId?: string;
  name?: string;
  arguments?: unknown;
}
