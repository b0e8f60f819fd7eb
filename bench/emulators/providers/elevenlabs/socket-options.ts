/** What the sockets of one emulated ElevenLabs share. */
import type { EmulatedVoice } from '../voice/emulated-voice.ts';
import type { DurationsKey } from './alignment.ts';
import type { Latencies } from './speaking.ts';

export interface SocketOptions {
  voice: EmulatedVoice;
  latencies: Latencies;
  durationsKey: DurationsKey;
  /** Contexts of one socket; one more closes it. */
  mostContexts: number;
}
