import { describe, expect, test } from 'vitest';
import { patienceFor } from '../../../../../media/pipeline/turn-taking/patience.ts';
import { TurnTaker } from '../../../../../media/pipeline/turn-taking/turn-taker.ts';

/** Feeds 20 ms frames described as text, `x` speech and `.` silence, and logs what the taker says at which frame's end. */
function takerOf(expectation: Parameters<typeof patienceFor>[0] = 'open') {
  const log: string[] = [];
  const taker: TurnTaker = new TurnTaker(
    {
      turnStarted: (onsetMs) => log.push(`${taker.nowMs} start from ${onsetMs}`),
      speechResumed: (onsetMs) => log.push(`${taker.nowMs} resume from ${onsetMs}`),
      speechPaused: (lastMs) => log.push(`${taker.nowMs} pause since ${lastMs}`),
      turnEnded: (why, lastMs) => log.push(`${taker.nowMs} end ${why} since ${lastMs}`),
    },
    patienceFor(expectation),
  );
  let atMs = 0;
  return {
    taker,
    log,
    feed(pattern: string) {
      for (const frame of pattern) {
        taker.push(atMs, frame === 'x');
        atMs += 20;
      }
    },
    speech: (ms: number) => 'x'.repeat(ms / 20),
    silence: (ms: number) => '.'.repeat(ms / 20),
  };
}

describe('the gate', () => {
  test('60 ms of speech within 100 ms begin a turn, dated to their first frame', () => {
    const { feed, log } = takerOf();
    feed('....x.x');
    expect(log).toEqual([]);
    feed('x');
    expect(log).toEqual(['160 start from 80']);
  });

  test('two speech frames in any 100 ms, as of a click, begin none', () => {
    const { feed, log } = takerOf();
    feed('xx...xx...x.x...x..x.....'.repeat(4));
    expect(log).toEqual([]);
  });

  test('speech pauses 200 ms after its last sound, and a lone frame in the pause does not prolong it', () => {
    const { feed, log } = takerOf();
    feed('xxxxx');
    feed('.....x...');
    expect(log).toEqual(['60 start from 0']);
    feed('.');
    expect(log).toEqual(['60 start from 0', '300 pause since 100']);
  });
});

describe('patience', () => {
  test.each([
    ['yesno', 200, 1_200],
    ['open', 300, 2_500],
    ['digits', 1_200, 4_000],
    ['spelling', 1_500, 5_000],
  ] as const)(
    'after a %s question a turn ends after %d ms when the answer is whole, else after %d ms',
    (what, minMs, maxMs) => {
      const whole = takerOf(what);
      whole.feed(whole.speech(400));
      whole.taker.partialChanged(true);
      whole.feed(whole.silence(6_000));
      expect(whole.log.at(-1)).toBe(`${400 + minMs} end patience since 400`);

      const open = takerOf(what);
      open.feed(open.speech(400));
      open.taker.partialChanged(true);
      open.taker.partialChanged(false);
      open.feed(open.silence(6_000));
      expect(open.log.at(-1)).toBe(`${400 + maxMs} end patience since 400`);
    },
  );

  test('is counted anew from the last sound when speech goes on within it', () => {
    const { feed, speech, silence, log } = takerOf('digits');
    feed(speech(200) + silence(1_000) + speech(200) + silence(4_000));
    expect(log).toEqual([
      '60 start from 0',
      '400 pause since 200',
      '1260 resume from 1200',
      '1600 pause since 1400',
      '5400 end patience since 1400',
    ]);
  });

  test('never waits over 5 s of silence', () => {
    const { feed, speech, silence, log, taker } = takerOf();
    taker.patience = { minMs: 60_000, maxMs: 60_000 };
    feed(speech(200) + silence(6_000));
    expect(log.at(-1)).toBe('5200 end hard_stop since 200');
  });
});

describe('a gate or a line that lies', () => {
  test('20 s of unbroken sound end the turn, and the same sound begins no new one for 1 s', () => {
    const { feed, speech, log } = takerOf();
    feed(speech(20_980));
    expect(log).toEqual(['60 start from 0', '20000 pause since 20000', '20000 end stuck_gate since 20000']);
    feed(speech(100));
    expect(log).toHaveLength(4);
  });

  test('a whole answer that stays the same under unbroken sound ends the turn after the longest patience, 2.5 s', () => {
    const { feed, speech, log, taker } = takerOf();
    feed(speech(1_000));
    taker.partialChanged(true);
    feed(speech(4_000));
    expect(log.slice(0, 3)).toEqual(['60 start from 0', '3500 pause since 3500', '3500 end stuck_gate since 3500']);
  });

  test('audio that stops coming ends speech and turn at once', () => {
    const { feed, speech, log, taker } = takerOf();
    feed(speech(300));
    taker.audioStopped();
    taker.audioStopped();
    expect(log).toEqual(['60 start from 0', '300 pause since 300', '300 end audio_stopped since 300']);
  });

  test('after a forced end 100 ms of silence let the next speech in at once', () => {
    const { feed, speech, silence, log } = takerOf();
    feed(speech(20_000) + silence(100) + speech(60));
    expect(log.at(-1)).toBe('20160 start from 20100');
  });
});
