/**
 * What the emulated recogniser makes of a clip in its room by itself: no call, no agent, the same gate and decoder, the
 * same mu-law. Used by `cast.ts`.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Hearing } from '../../../../bench/emulators/providers/hearing/hearing.ts';
import { startWordRecogniser } from '../../../../bench/emulators/providers/word-recogniser.ts';
import { encodeMulaw } from '../../../../media/audio/g711.ts';
import type { TimedWord } from '../../../../media/engines/local/rejection.ts';
import type { CaseSound } from './clips.ts';
import { CORPUS_RATE_HZ } from './voices.ts';

export interface LoneListener {
  /** The words of `sound`, in its room, which it is alone in for `quietMs` before it and a second after it. */
  heardIn(clip: Pick<CaseSound, 'sound' | 'room'>, quietMs: number): Promise<string>;
  close(): Promise<void>;
}

const FRAME_MS = 20;
const FRAME_SAMPLES = (CORPUS_RATE_HZ * FRAME_MS) / 1000;
/** Each frame's verdict about voices comes from another thread, whose queue is to stay short. */
const FRAME_TAKES_MS = 4;
const AFTER_MS = 1_000;
/** As the emulator's sessions end a stretch. */
const PAUSE_MS = 300;

export async function startLoneListener(vocabulary: readonly string[]): Promise<LoneListener> {
  const recogniser = await startWordRecogniser(
    (error) => {
      throw error;
    },
    { tellsVoices: true },
  );
  return { heardIn, close: () => recogniser.close() };

  async function heardIn(clip: Pick<CaseSound, 'sound' | 'room'>, quietMs: number): Promise<string> {
    const stretches: Promise<string>[] = [];
    const failed: string[] = [];
    const hearing = new Hearing(
      recogniser,
      { encoding: 'mulaw', rateHz: CORPUS_RATE_HZ },
      {
        onset() {},
        frame() {
          if (hearing.silenceMs === 0 && !hearing.hasStretch) hearing.open(vocabulary, { partial() {} });
          else if (hearing.hasStretch && hearing.silenceMs >= PAUSE_MS) finish();
        },
        warning: (message) => failed.push(message),
      },
    );
    const finish = (): void => {
      stretches.push(new Promise((done) => hearing.finish((words: TimedWord[]) => done(textOf(words)))));
    };
    const bytes = inItsRoom(clip, quietMs);
    for (let at = 0; at < bytes.length; at += FRAME_SAMPLES) {
      hearing.push(bytes.subarray(at, at + FRAME_SAMPLES), 0);
      await wait(FRAME_TAKES_MS);
    }
    if (hearing.hasStretch) finish();
    const texts = await Promise.all(stretches);
    hearing.close();
    if (failed.length > 0) throw new Error(`the recogniser failed: ${failed.join('; ')}`);
    return texts.filter((text) => text !== '').join(' ');
  }
}

const textOf = (words: readonly TimedWord[]): string => words.map(({ word }) => word).join(' ');

function inItsRoom({ sound, room }: Pick<CaseSound, 'sound' | 'room'>, quietMs: number): Uint8Array {
  const before = (quietMs * CORPUS_RATE_HZ) / 1000;
  const after = (AFTER_MS * CORPUS_RATE_HZ) / 1000;
  const mixed = Int16Array.from({ length: before + sound.length + after }, (_one, i) => {
    const sample = (sound[i - before] ?? 0) + room[i % room.length]!;
    return Math.max(-32_768, Math.min(32_767, Math.round(sample)));
  });
  const bytes = new Uint8Array(mixed.length);
  encodeMulaw(mixed, 0, mixed.length, bytes, 0);
  return bytes;
}
