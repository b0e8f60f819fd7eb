import { describe, expect, it } from 'vitest';
import { loadFliteVoice } from '../../../../../media/engines/local/flite-voice.ts';
import { NeuralVoiceActivity } from '../../../../../media/engines/local/neural-voice-activity.ts';
import { loadSilero } from '../../../../../media/engines/local/silero-model.ts';
import { loadVoiceActivity } from '../../../../../media/engines/local/voice-activity.ts';
import { VoiceActivityScoring } from '../../../../../media/engines/local/voice-activity-scoring.ts';
import { VoiceActivityWindows } from '../../../../../media/engines/local/voice-activity-windows.ts';
import { STATE_SIZE, type WindowModel, WindowScorer } from '../../../../../media/engines/local/window-scorer.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';
import { overTheLine, throughMulaw } from '../speech-fixtures.ts';
import { describeVoiceActivity, type VoiceActivityMaker } from '../voice-activity-conformance.ts';

const voice = await loadFliteVoice();
const createGate = await loadVoiceActivity();
const silero = await loadSilero(8000, 288).then(
  () => '',
  (error: unknown) => (error instanceof Error ? error.message : String(error)),
);
if (silero !== '') process.stderr.write(`Neural voice activity is not tested here: ${silero}\n`);

/** Scores between the frames, as the thread does beside them. */
async function neural(): Promise<VoiceActivityMaker> {
  const sides = await Promise.all(
    ([8000, 16000] as const).map(async (rateHz) => {
      const windows = new VoiceActivityWindows({ slots: 256, rateHz });
      return { rateHz, windows, scorer: new WindowScorer(windows, await loadSilero(rateHz, windows.inputSamples)) };
    }),
  );
  return {
    create: (rateHz) =>
      new NeuralVoiceActivity(
        createGate(rateHz),
        sides.find((side) => side.rateHz === rateHz)!.windows,
        rateHz,
        new VirtualClock(),
      ),
    async between() {
      for (const { scorer } of sides) await scorer.scoreAll();
    },
  };
}

/** Share of frames that are taken for speech. */
async function ratio({ create, between }: VoiceActivityMaker, line: Int16Array): Promise<number> {
  const activity = create(8000);
  let speech = 0;
  let frames = 0;
  for (let at = 0; at + 160 <= line.length; at += 160, frames++) {
    if (activity.isSpeech(line.subarray(at, at + 160))) speech++;
    await between?.();
  }
  activity.close();
  return speech / frames;
}

describe.skipIf(silero !== '')('with the model', () => {
  describeVoiceActivity('Neural voice activity', voice, neural);

  it('takes at most 5 % of 5 s of a ringing tone and of a played chord for speech, where the gate takes over a third', async () => {
    const tones = (...hz: number[]): Int16Array =>
      throughMulaw(
        Int16Array.from({ length: 40_000 }, (_, i) =>
          hz.reduce((sum, one) => sum + 3000 * Math.sin((2 * Math.PI * one * i) / 8000) * (i % 8000 < 5000 ? 1 : 0), 0),
        ),
      );
    for (const line of [tones(440, 480), tones(262, 330, 392)]) {
      expect(await ratio({ create: createGate }, line)).toBeGreaterThan(0.33);
      expect(await ratio(await neural(), line)).toBeLessThan(0.05);
    }
  });

  it('gives a call of 64 in one batch the scores that it has alone, within 0.001', async () => {
    const line = await overTheLine(voice, 'My order number is four two seven one.');
    const scoresWith = async (calls: number): Promise<number[]> => {
      const windows = new VoiceActivityWindows({ slots: 64, rateHz: 8000 });
      const scorer = new WindowScorer(windows, await loadSilero(8000, windows.inputSamples));
      const slots = Array.from({ length: calls }, () => windows.open());
      const scores: number[] = [];
      for (let at = 0; at + 288 <= line.length; at += 256) {
        const window = line.slice(at, at + 288);
        // Each call's audio differs; the first one's is always the same.
        slots.forEach((slot, i) => {
          windows.write(slot, i === 0 ? window : window.map((sample) => (sample * i) / 100), at === 0);
        });
        await scorer.scoreAll();
        scores.push(windows.score(slots[0]!));
      }
      return scores;
    };
    const [alone, together] = [await scoresWith(1), await scoresWith(64)];
    expect(Math.max(...alone)).toBeGreaterThan(0.9);
    expect(Math.max(...alone.map((score, i) => Math.abs(score - together[i]!)))).toBeLessThan(0.001);
  });
});

describe('without a verdict, or with one of before', () => {
  const clock = new VirtualClock();
  const loud = Int16Array.from({ length: 160 }, (_, i) => 8000 * Math.sin(i * (i % 7)));

  it('the gate alone decides while the other side is silent, behind, or has no slot left', () => {
    const windows = new VoiceActivityWindows({ slots: 1, rateHz: 8000 });
    const gate = { isSpeech: (samples: Int16Array) => samples[1] !== 0, close() {} };
    const first = new NeuralVoiceActivity(gate, windows, 8000, clock);
    const second = new NeuralVoiceActivity(gate, windows, 8000, clock);
    for (let i = 0; i < 100; i++) {
      expect([first.isSpeech(loud), second.isSpeech(loud)]).toEqual([true, true]);
      if (i === 50) expect(first.isSpeech(new Int16Array(160))).toBe(false);
    }
    expect(windows.pending(0)).toBe(4);
  });

  /** A model that says `next` of every window. */
  const scoring = (scores: { next: number }): WindowModel => ({
    run: async (_input, _state, batch) => ({
      scores: new Float32Array(batch).fill(scores.next),
      state: new Float32Array(2 * batch * STATE_SIZE),
    }),
  });

  it('what was no voice for a while is none in a burst, until the other side has been behind for 100 ms', async () => {
    const windows = new VoiceActivityWindows({ slots: 1, rateHz: 8000 });
    const scores = { next: 0 };
    const scorer = new WindowScorer(windows, scoring(scores));
    const activity = new NeuralVoiceActivity({ isSpeech: () => true, close() {} }, windows, 8000, clock);
    const burst = (frames: number) => Array.from({ length: frames }, () => activity.isSpeech(loud));
    const no = (frames: number) => Array<boolean>(frames).fill(false);
    for (let i = 0; i < 10; i++) {
      burst(1);
      await scorer.scoreAll();
    }
    expect(burst(20)).toEqual(no(20));
    clock.advanceMs(99);
    expect(burst(1)).toEqual([false]);
    clock.advanceMs(1);
    expect(burst(1)).toEqual([true]);
    // Caught up with: the next burst has its time again.
    await scorer.scoreAll();
    expect(burst(20)).toEqual(no(20));
    clock.advanceMs(100);
    scores.next = 0.9;
    await scorer.scoreAll();
    expect(burst(20)).toEqual(Array(20).fill(true));
    // A voice is one until the verdict is another.
    scores.next = 0;
    await scorer.scoreAll();
    expect(burst(1)).toEqual([false]);
  });

  it.each([
    [60, 4],
    [300, 4],
    [480, 4],
    [500, 0],
    [2_000, 0],
  ])('of a voice in a burst, %i ms after one, at most the first %i frames are missed', async (pauseMs, most) => {
    const windows = new VoiceActivityWindows({ slots: 1, rateHz: 8000 });
    const scores = { next: 0.9 };
    const scorer = new WindowScorer(windows, scoring(scores));
    const gate = { isSpeech: (samples: Int16Array) => samples[1] !== 0, close() {} };
    const activity = new NeuralVoiceActivity(gate, windows, 8000, clock);
    const live = async (samples: Int16Array, frames: number) => {
      for (let i = 0; i < frames; i++) {
        activity.isSpeech(samples);
        await scorer.scoreAll();
      }
    };
    await live(loud, 20);
    scores.next = 0;
    await live(new Int16Array(160), pauseMs / 20);
    const heard = Array.from({ length: 20 }, () => activity.isSpeech(loud));
    expect(heard.indexOf(true)).toBeLessThanOrEqual(most);
    expect(heard.lastIndexOf(false)).toBeLessThan(most);
  });

  it('a call that gets the slot of another hears nothing of its verdicts', async () => {
    const windows = new VoiceActivityWindows({ slots: 1, rateHz: 8000 });
    const scores = { next: 0 };
    const scorer = new WindowScorer(windows, scoring(scores));
    const gate = { isSpeech: () => true, close() {} };
    const first = new NeuralVoiceActivity(gate, windows, 8000, clock);
    for (let i = 0; i < 4; i++) first.isSpeech(loud);
    await scorer.scoreAll();
    expect(first.isSpeech(loud)).toBe(false);
    for (let i = 0; i < 4; i++) first.isSpeech(loud);
    first.close();
    const second = new NeuralVoiceActivity(gate, windows, 8000, clock);
    await scorer.scoreAll();
    expect(second.isSpeech(loud)).toBe(true);
    for (let i = 0; i < 4; i++) second.isSpeech(loud);
    scores.next = 0.9;
    await scorer.scoreAll();
    expect(second.isSpeech(loud)).toBe(true);
    second.close();
  });

  it('when the packages are missing each call is told once, at once or when it turns out, and has the gate alone', () => {
    let attached = 0;
    const voices = new VoiceActivityScoring({
      gate: createGate,
      rateHz: 8000,
      clock,
      attach: () => {
        attached++;
      },
    });
    const told: string[] = [];
    voices.warm();
    const early = voices.create((why) => told.push(`early: ${why}`));
    voices.create((why) => told.push(`gone: ${why}`)).close();
    voices.failed('npm install …');
    voices.failed('the scoring thread ended with code 1');
    const late = voices.create((why) => told.push(`late: ${why}`));
    expect(told).toEqual(['early: npm install …', 'late: npm install …']);
    expect([early.isSpeech(new Int16Array(160)), late.isSpeech(new Int16Array(160))]).toEqual([false, false]);
    expect(attached).toBe(1);
  });
});
