/**
 * A target whose every delay is known, for the judge of the load tester: it makes sound and instants by arithmetic of
 * its own and uses nothing of the judge. Frames of 20 ms mu-law 8 kHz.
 */
import type { SoundJudge } from '../../../../bench/load/far-end/sound-judge.ts';

export const FRAME_MS = 20;

/** Mu-law by the segments of the standard, not by the tables of the code under test. */
export function mulawOf(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(32_635, Math.abs(Math.round(sample))) + 132;
  const segment = Math.floor(Math.log2(magnitude)) - 7;
  return ~(sign | (segment << 4) | ((magnitude >> (segment + 3)) & 15)) & 0xff;
}

/** A sine, `levelDbfs` of its peak. */
export function tone(lengthMs: number, levelDbfs = -15, hz = 440): Uint8Array {
  const peak = 32_768 * 10 ** (levelDbfs / 20);
  return Uint8Array.from({ length: lengthMs * 8 }, (_, i) => mulawOf(peak * Math.sin((2 * Math.PI * hz * i) / 8_000)));
}

export function silence(lengthMs: number): Uint8Array {
  return new Uint8Array(lengthMs * 8).fill(0xff);
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((bytes, part) => bytes + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** What happens to the judge, in the order of its instants, whoever wrote it down first. */
export class Script {
  readonly #events: { atMs: number; run: (judge: SoundJudge) => void }[] = [];

  /**
   * The target sends `sound` from `fromMs` on in messages of `frameMs`, each `everyMs`, each off its time; none
   * overtakes another, as on a socket.
   */
  target(
    fromMs: number,
    sound: Uint8Array,
    pace: { frameMs?: number; everyMs?: number; lateMs?: (index: number) => number } = {},
  ): this {
    const { frameMs = FRAME_MS, lateMs = () => 0 } = pace;
    const { everyMs = frameMs } = pace;
    let lastMs = 0;
    for (let index = 0; index * frameMs * 8 < sound.length; index++) {
      const bytes = sound.slice(index * frameMs * 8, (index + 1) * frameMs * 8);
      const atMs = Math.max(lastMs, fromMs + index * everyMs + lateMs(index));
      lastMs = atMs;
      this.#events.push({ atMs, run: (judge) => void judge.agentFrame(atMs, bytes) });
    }
    return this;
  }

  /** The far end says `sound`, whose first sample is said at `fromMs`. */
  farEnd(fromMs: number, sound: Uint8Array): this {
    for (let index = 0; index * FRAME_MS * 8 < sound.length; index++) {
      const bytes = sound.slice(index * FRAME_MS * 8, (index + 1) * FRAME_MS * 8);
      const atMs = fromMs + index * FRAME_MS + bytes.length / 8;
      this.#events.push({ atMs, run: (judge) => judge.farEndFrame(atMs, bytes) });
    }
    return this;
  }

  clear(atMs: number): this {
    this.#events.push({ atMs, run: (judge) => judge.cleared(atMs) });
    return this;
  }

  play(judge: SoundJudge, endMs: number): ReturnType<SoundJudge['finish']> {
    for (const { atMs, run } of this.#events.sort((a, b) => a.atMs - b.atMs)) if (atMs < endMs) run(judge);
    return judge.finish(endMs);
  }
}
