/**
 * The neural voice activity for an emulated recogniser: what is no voice (music, keys, doors) gives a real service no
 * words, but a decoder that can tell nothing else than its vocabulary finds some in it. Needs the development packages
 * of the neural gate; without them the ordinary gate decides alone. Runs from `dist/`.
 */
import { pino } from 'pino';
import { systemClock } from '../../../media/contract/clock.ts';
import type { VoiceActivity } from '../../../media/contract/engines.ts';
import { VoiceActivityScoring } from '../../../media/engines/local/voice-activity-scoring.ts';
import { createScoringHost } from '../../../media/io/threads/scoring-host.ts';
import { builtEntry } from '../../../src/config/built-entry.ts';

const RATE_HZ = 8_000;

export interface NeuralGates {
  /** At 8 kHz; the ordinary gate at another rate. */
  create(rateHz: number): VoiceActivity;
  close(): Promise<void>;
}

export function startNeuralGates(gate: (rateHz: number) => VoiceActivity): NeuralGates {
  const url = new URL(`file://${builtEntry('media/threads/voice-activity-thread.js')}`);
  const host = createScoringHost({ url, log: pino({ level: 'silent' }) });
  const scoring = new VoiceActivityScoring({
    gate,
    rateHz: RATE_HZ,
    clock: systemClock,
    attach: (shape, memory) => host.attach(0, shape, memory, (why) => scoring.failed(why)),
  });
  scoring.warm();
  return {
    create: (rateHz) => (rateHz === RATE_HZ ? scoring.create(() => {}) : gate(rateHz)),
    close: () => host.close(),
  };
}
