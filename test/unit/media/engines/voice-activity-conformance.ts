/** What every `VoiceActivity` must do, on speech of the local voice over a mu-law line and on lines without speech. */

import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../../bench/harness/seeded-random.ts';
import type { VoiceActivity } from '../../../../media/contract/engines.ts';
import type { FliteVoice } from '../../../../media/engines/local/flite-voice.ts';
import { overTheLine, throughMulaw } from './speech-fixtures.ts';

const SENTENCE = 'Thank you for calling Acme, how can I help you today please?';

export interface VoiceActivityMaker {
  create(rateHz: 8000 | 16000): VoiceActivity;
  /** What happens elsewhere in the 20 ms between two frames. Absent: nothing. */
  between?: () => Promise<void>;
}

/** Ratio of frames taken for speech among those from `fromMs` to `toMs`. */
async function speechRatio(
  { create, between }: VoiceActivityMaker,
  samples: Int16Array,
  rateHz: 8000 | 16000,
  fromMs = 0,
  toMs = Infinity,
): Promise<number> {
  const gate = create(rateHz);
  const frameSamples = rateHz / 50;
  let frames = 0;
  let speech = 0;
  for (let at = 0; at + frameSamples <= samples.length; at += frameSamples) {
    const isSpeech = gate.isSpeech(samples.subarray(at, at + frameSamples));
    const atMs = (at * 1000) / rateHz;
    await between?.();
    if (atMs < fromMs || atMs >= toMs) continue;
    frames++;
    if (isSpeech) speech++;
  }
  gate.close();
  return speech / frames;
}

export function describeVoiceActivity(name: string, voice: FliteVoice, load: () => Promise<VoiceActivityMaker>): void {
  describe(`${name} as a VoiceActivity`, () => {
    it.each([8000, 16000] as const)(
      'takes at least four fifths of a spoken sentence at %i Hz for speech',
      async (rateHz) => {
        const maker = await load();
        for (const who of ['slt', 'rms', 'awb', 'kal16']) {
          const line = await overTheLine(voice, SENTENCE, { voice: who, rateHz });
          const lengthMs = (line.length * 1000) / rateHz;
          expect(await speechRatio(maker, line, rateHz, 340, lengthMs - 400), who).toBeGreaterThan(0.8);
        }
      },
    );

    it.each([8000, 16000] as const)('takes no frame of 2 s of digital silence at %i Hz for speech', async (rateHz) => {
      expect(await speechRatio(await load(), new Int16Array(2 * rateHz), rateHz)).toBe(0);
    });

    it('takes at most 2 % of 5 s of faint white noise (-60 dBFS) for speech', async () => {
      const random = createRandom(3);
      const noise = Int16Array.from({ length: 40_000 }, () => Math.round(32.8 * Math.sqrt(12) * (random() - 0.5)));
      expect(await speechRatio(await load(), throughMulaw(noise), 8000)).toBeLessThan(0.02);
    });

    it('begins within 60 ms of the first sound and ends within 250 ms of the last', async () => {
      const { create, between } = await load();
      const gate = create(8000);
      const line = await overTheLine(voice, 'Hello there.');
      const frames: boolean[] = [];
      for (let at = 0; at + 160 <= line.length; at += 160) {
        frames.push(gate.isSpeech(line.subarray(at, at + 160)));
        await between?.();
      }
      const loud = (sample: number): boolean => Math.abs(sample) > 500;
      const firstMs = line.findIndex(loud) / 8;
      const lastMs = line.findLastIndex(loud) / 8;
      expect(Math.abs(frames.indexOf(true) * 20 - firstMs)).toBeLessThanOrEqual(60);
      expect(frames.lastIndexOf(true) * 20 - lastMs).toBeLessThanOrEqual(250);
      gate.close();
    });

    it('keeps 200 calls apart: silence stays silent while the other calls speak', async () => {
      const { create, between } = await load();
      const gates = Array.from({ length: 200 }, () => create(8000));
      const speech = await overTheLine(voice, SENTENCE, { voice: 'kal16' });
      const silence = new Int16Array(160);
      let falseAlarms = 0;
      for (let at = 0; at + 160 <= 16_000; at += 160) {
        const frame = speech.subarray(at, at + 160);
        gates.forEach((gate, i) => {
          const isSpeech = gate.isSpeech(i % 2 === 0 ? frame : silence);
          if (i % 2 === 1 && isSpeech) falseAlarms++;
        });
        await between?.();
      }
      expect(falseAlarms).toBe(0);
      for (const gate of gates) gate.close();
    });

    it('says no for frames of another length, and after close, which may come twice', async () => {
      const gate = (await load()).create(8000);
      const line = await overTheLine(voice, 'Hello there.');
      const loudest = line.subarray(4000, 4160);
      expect(gate.isSpeech(line.subarray(4000, 4080))).toBe(false);
      expect(gate.isSpeech(new Int16Array(0))).toBe(false);
      for (let i = 0; i < 10; i++) gate.isSpeech(loudest);
      gate.close();
      gate.close();
      expect(gate.isSpeech(loudest)).toBe(false);
    });
  });
}
