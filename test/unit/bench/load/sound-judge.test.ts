import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../../bench/harness/seeded-random.ts';
import { SoundJudge } from '../../../../bench/load/far-end/sound-judge.ts';
import { joined, Script, silence, tone } from './emulated-target.ts';

const judgeOf = (options: Partial<ConstructorParameters<typeof SoundJudge>[0]> = {}): SoundJudge =>
  new SoundJudge({ answeredAtMs: 1_000, patienceMs: 8_000, expectSignal: false, gapBufferMs: 60, ...options });

/** How many frames were `from` to `to` ms late. */
const countLate = (lateMs: readonly number[], from: number, to: number): number =>
  lateMs.slice(from, to + 1).reduce((sum, count) => sum + count, 0);

describe('frame lateness', () => {
  test.each([5, 12, 40, 95])('every tenth frame %i ms late is seen as that, all others as none', (late) => {
    const script = new Script().target(1_000, tone(20_000), { lateMs: (i) => (i % 10 === 5 ? late : 0) });
    const { sound } = script.play(judgeOf(), 30_000);
    expect(sound!.frames).toBe(1_000);
    // Those that it holds up come with it: 40 ms late, 20 ms, none.
    const held = Array.from({ length: Math.ceil(late / 20) }, (_, i) => late - i * 20);
    for (const ms of held) expect(countLate(sound!.lateMs, ms - 1, ms + 1)).toBe(100);
    expect(countLate(sound!.lateMs, 0, 0)).toBe(1_000 - held.length * 100);
  });

  test('of any jitter each frame is measured within 2 ms, once the stream has shown its best', () => {
    const random = createRandom(7);
    const jitter = Array.from({ length: 1_500 }, () => random() ** 3 * 60);
    jitter[0] = 0;
    const { sound } = new Script().target(1_000, tone(30_000), { lateMs: (i) => jitter[i]! }).play(judgeOf(), 40_000);
    const measured = sound!.lateMs.flatMap((count, ms) => Array<number>(count).fill(ms));
    // No frame overtakes another: one that is later holds those after it up.
    let free = 0;
    const known = jitter.map((ms, i) => {
      free = Math.max(free, i * 20 + ms);
      return free - i * 20;
    });
    known.sort((a, b) => a - b);
    expect(measured.length).toBe(known.length);
    for (const [i, ms] of measured.entries()) expect(Math.abs(ms - known[i]!)).toBeLessThanOrEqual(2);
  });

  test('a lead of 120 ms at the beginning and messages of 60 ms are no lateness', () => {
    const lateMs = (i: number): number => (i < 2 ? -i * 60 : -120);
    const { sound } = new Script().target(1_200, tone(12_000), { frameMs: 60, lateMs }).play(judgeOf(), 30_000);
    expect(sound!.lateMs).toEqual([200]);
    expect(sound!.gaps).toEqual([]);
  });

  test('of a target that sends far ahead only what play-out waited for is late', () => {
    // A second of sound at once, each second; the sixth comes 150 ms late.
    const script = new Script();
    for (let second = 0; second < 10; second++) {
      const atMs = 1_000 + second * 1_000 + (second === 5 ? 150 : 0);
      script.target(atMs, tone(1_000), { everyMs: 0 });
    }
    const { sound } = script.play(judgeOf(), 20_000);
    expect(sound!.frames).toBe(500);
    expect(countLate(sound!.lateMs, 149, 151)).toBe(1);
    expect(countLate(sound!.lateMs, 0, 0)).toBe(499);
    expect(sound!.gaps).toEqual([{ atMs: 6_060, gapMs: 90 }]);
  });

  test('sound that begins again after a pause has a line of its own', () => {
    const { sound } = new Script()
      .target(1_000, joined(tone(2_000), silence(300)))
      .target(4_107, tone(2_000))
      .target(9_013, tone(1_000))
      .play(judgeOf(), 20_000);
    expect(sound!.lateMs).toEqual([265]);
    expect(sound!.gaps).toEqual([]);
  });

  test('a clock that is 0.1 % fast or slow adds no lateness to speak of in ten minutes', () => {
    for (const everyMs of [19.98, 20.02]) {
      const { sound } = new Script().target(0, tone(600_000), { everyMs }).play(judgeOf(), 610_000);
      expect(sound!.lateMs.length).toBeLessThanOrEqual(12);
      expect(sound!.gaps).toEqual([]);
    }
  });
});

describe('gaps and the share of real time', () => {
  test('a stall in the middle of a word is a gap of what the jitter buffer did not cover', () => {
    const stall = (i: number): number => (i >= 100 ? 200 : 0);
    const { sound } = new Script().target(1_000, tone(6_000), { lateMs: stall }).play(judgeOf(), 10_000);
    expect(sound!.gaps).toEqual([{ atMs: 3_060, gapMs: 140 }]);
    expect(sound!.audioMs).toBe(6_000);
    expect(sound!.streamedMs).toBe(6_200);
  });

  test('a stall that the jitter buffer covers is none', () => {
    const { sound } = new Script()
      .target(1_000, tone(6_000), { lateMs: (i) => (i >= 100 ? 70 : 0) })
      .play(judgeOf(), 10_000);
    expect(sound!.gaps).toEqual([]);
    expect(judgedGaps(30)).toEqual([{ atMs: 3_030, gapMs: 40 }]);
    function judgedGaps(gapBufferMs: number): unknown {
      const script = new Script().target(1_000, tone(6_000), { lateMs: (i) => (i >= 100 ? 70 : 0) });
      return script.play(judgeOf({ gapBufferMs }), 10_000).sound!.gaps;
    }
  });

  test('a pause between sentences and one for the far end are none', () => {
    const { sound } = new Script()
      .target(1_000, joined(tone(2_000), silence(150)))
      .target(3_900, tone(2_000))
      // It is interrupted, stops in the middle of a word, and answers.
      .farEnd(5_000, tone(1_000))
      .target(6_600, tone(1_000))
      .play(judgeOf(), 10_000);
    expect(sound!.gaps).toEqual([]);
  });

  test('a stall in the silence of a target that sends that too is late, and no gap', () => {
    const { sound } = new Script()
      .target(1_000, joined(tone(1_000), silence(2_000), tone(2_000)), { lateMs: (i) => (i >= 150 ? 300 : 0) })
      .play(judgeOf(), 10_000);
    expect(sound!.gaps).toEqual([]);
    expect([sound!.lateMs[0], sound!.lateMs[300]]).toEqual([150, 100]);
  });

  test.each([0.98, 0.995, 1])('a timer that plays %f of real time is told within 0.1 %%', (share) => {
    const { sound } = new Script().target(1_000, tone(30_000), { everyMs: 20 / share }).play(judgeOf(), 60_000);
    expect(Math.abs(sound!.audioMs / sound!.streamedMs - share)).toBeLessThan(0.001);
  });
});

describe('words and replies', () => {
  test.each([-15, -30, -40])(
    'the first word at %i dBFS is found within 5 ms, after silence, noise and a click',
    (level) => {
      const noise = Uint8Array.from({ length: 4_000 }, (_, i) => (i % 3 === 0 ? 0xfe : 0x7e));
      const before = joined(silence(500), noise, tone(4, -20), silence(196));
      const { firstWordMs } = new Script().target(1_050, joined(before, tone(800, level))).play(judgeOf(), 10_000);
      expect(Math.abs(firstWordMs! - 1_250)).toBeLessThanOrEqual(5);
    },
  );

  test.each([120, 333, 700, 1_947])('a reply after %i ms is measured within 20 ms', (replyMs) => {
    const script = new Script().target(1_000, joined(tone(1_500), silence(100)));
    let atMs = 3_500;
    const known: number[] = [];
    for (let turn = 0; turn < 20; turn++) {
      // Words with a pause in them, and silence that the microphone goes on with.
      script.farEnd(atMs, joined(tone(613, -22), silence(180), tone(407, -30), silence(1_200 + (turn % 7) * 20)));
      const endMs = atMs + 613 + 180 + 407;
      // A reply that begins in the middle of a frame, as voices do.
      const lead = (turn * 3) % 20;
      script.target(endMs + replyMs - lead, joined(silence(lead), tone(900 + turn, -25)));
      known.push(endMs);
      atMs = endMs + replyMs + 2_000;
    }
    const { replies, unanswered, bargeIns } = script.play(judgeOf(), atMs);
    expect(replies.length).toBe(20);
    for (const [i, reply] of replies.entries()) {
      expect(Math.abs(reply.atMs - known[i]!)).toBeLessThanOrEqual(5);
      expect(Math.abs(reply.replyMs - replyMs)).toBeLessThanOrEqual(20);
    }
    expect(unanswered).toBe(0);
    expect(bargeIns).toEqual([]);
  });

  test('what the target says in a pause of a turn is no reply to it, and is not interrupted by what follows', () => {
    const { replies, bargeIns } = new Script()
      .farEnd(2_000, joined(tone(500), silence(250), tone(500)))
      .target(2_600, tone(300))
      .target(4_000, tone(500))
      .play(judgeOf(), 10_000);
    expect(replies).toEqual([{ atMs: 3_250, replyMs: 750 }]);
    expect(bargeIns).toEqual([]);
  });

  test('a reply counts from when it is heard, not from when it came', () => {
    // 2 s of silence and then words, all sent at once.
    const { replies } = new Script()
      .farEnd(2_000, tone(500))
      .target(2_600, joined(silence(2_000), tone(500)), { everyMs: 0 })
      .play(judgeOf(), 10_000);
    expect(replies).toEqual([{ atMs: 2_500, replyMs: 2_100 }]);
  });

  test('a turn that nobody answers is counted, one that the call ends after is not', () => {
    const script = new Script().farEnd(2_000, tone(500)).farEnd(11_000, tone(500)).farEnd(15_000, tone(500));
    expect(script.play(judgeOf({ patienceMs: 3_000 }), 17_000)).toMatchObject({ unanswered: 2, replies: [] });
    expect(script.play(judgeOf({ patienceMs: null }), 17_000)).toMatchObject({ unanswered: 0, firstWordMs: null });
  });
});

describe('barge-in', () => {
  test.each([80, 250, 611, 1_480])('a target that clears %i ms after the onset stopped then', (stopMs) => {
    const { bargeIns, replies } = new Script()
      // All of it is sent far ahead.
      .target(1_000, tone(8_000), { everyMs: 5 })
      .farEnd(4_000, joined(tone(700), silence(1_000)))
      .clear(4_000 + stopMs)
      .target(6_500, tone(1_000))
      .play(judgeOf(), 12_000);
    expect(bargeIns.length).toBe(1);
    expect(Math.abs(bargeIns[0]!.atMs - 4_000)).toBeLessThanOrEqual(5);
    expect(Math.abs(bargeIns[0]!.stoppedAfterMs! - stopMs)).toBeLessThanOrEqual(5);
    if (stopMs < 700) expect(replies).toEqual([{ atMs: 4_700, replyMs: 1_800 }]);
  });

  test('a target that just sends no more stopped with its last sound; one that talks on did not stop', () => {
    const stops = new Script().target(1_000, tone(3_480)).farEnd(4_000, tone(600)).play(judgeOf(), 8_000);
    expect(stops.bargeIns).toEqual([{ atMs: 4_000, stoppedAfterMs: 480 }]);
    const goesOn = new Script().target(1_000, tone(12_000)).farEnd(4_000, tone(600)).play(judgeOf(), 14_000);
    expect(goesOn.bargeIns).toEqual([{ atMs: 4_000, stoppedAfterMs: null }]);
    const ended = new Script().target(1_000, tone(12_000)).farEnd(4_000, tone(600)).play(judgeOf(), 5_000);
    expect(ended.bargeIns).toEqual([]);
  });

  test('what was cleared was never heard', () => {
    const { sound, firstWordMs } = new Script()
      .target(1_000, joined(silence(1_000), tone(5_000)), { everyMs: 0 })
      .clear(1_500)
      .play(judgeOf(), 10_000);
    expect(firstWordMs).toBeNull();
    expect(sound).toMatchObject({ audioMs: 500, streamedMs: 500 });
  });
});
