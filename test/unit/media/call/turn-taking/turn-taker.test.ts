import { describe, expect, test } from 'vitest';
import { patienceFor } from '../../../../../media/agents/words/patience.ts';
import { TurnTaker } from '../../../../../media/call/turn-taking/turn-taker.ts';

/**
 * Feeds 20 ms frames described as text, `x` speech, `s` sound that is none and `.` silence, and logs what the taker
 * says at which frame's end.
 */
function takerOf(expectation: Parameters<typeof patienceFor>[0] = 'open') {
  const log: string[] = [];
  /** When the taker said that the turn may be over. */
  const asked: number[] = [];
  const taker: TurnTaker = new TurnTaker(
    {
      turnStarted: (onsetMs) => log.push(`${taker.nowMs} start from ${onsetMs}`),
      speechResumed: (onsetMs) => log.push(`${taker.nowMs} resume from ${onsetMs}`),
      speechPaused: (lastMs) => log.push(`${taker.nowMs} pause since ${lastMs}`),
      mayBeOver: () => {
        asked.push(taker.nowMs);
      },
      turnEnded: (why, lastMs) => log.push(`${taker.nowMs} end ${why} since ${lastMs}`),
    },
    patienceFor(expectation),
  );
  let atMs = 0;
  return {
    taker,
    log,
    asked,
    feed(pattern: string) {
      for (const frame of pattern) {
        taker.push(atMs, frame === 'x', frame !== '.');
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
    ['yesno', 200, 1_120],
    ['open', 300, 1_120],
    ['none', 300, 1_120],
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

  test('is told once in each pause, after 600 ms of it, that the turn may be over', () => {
    const { feed, speech, silence, asked } = takerOf();
    feed(speech(200) + silence(580) + speech(200) + silence(900) + speech(200) + silence(2_000));
    expect(asked).toEqual([200 + 580 + 200 + 600, 200 + 580 + 200 + 900 + 200 + 600]);
  });

  test('a whole answer that is known only from the pause ends no turn sooner than any other, but a number in its own time', () => {
    for (const [what, endsMs] of [
      ['open', 1_120],
      ['yesno', 1_120],
      ['digits', 1_200],
      ['spelling', 1_500],
    ] as const) {
      const { feed, speech, silence, log, taker } = takerOf(what);
      feed(speech(400) + silence(700));
      taker.concluded(true);
      feed(silence(5_000));
      expect(log.at(-1)).toBe(`${400 + endsMs} end patience since 400`);
    }
  });

  test('what was concluded from a pause holds for that pause only', () => {
    const { feed, speech, silence, log, taker } = takerOf('digits');
    feed(speech(400) + silence(700));
    taker.concluded(true);
    feed(speech(400) + silence(4_000));
    expect(log.at(-1)).toBe('5500 end patience since 1500');
  });

  test('the longest pause is counted from the last sound: a word that fades away for 80 ms gets 80 ms more, one for 300 ms no more than 100', () => {
    for (const [fadesMs, countedMs] of [
      [0, 0],
      [80, 80],
      [300, 100],
    ] as const) {
      const { feed, speech, silence, log } = takerOf();
      feed(`${speech(400)}${'s'.repeat(fadesMs / 20)}${silence(2_000)}`);
      expect(log.at(-1)).toBe(`${400 + countedMs + 1_120} end patience since 400`);
    }
  });

  test('speech that the gate hears for 60 ms more than there is sound is not counted', () => {
    const { taker, log } = takerOf();
    for (let atMs = 0; atMs < 2_000; atMs += 20) taker.push(atMs, atMs < 400, atMs < 340);
    expect(log.at(-1)).toBe(`${340 + 1_120} end patience since 400`);
  });

  test('a whole answer ends as soon as before, whatever fades behind it', () => {
    const { feed, speech, silence, log, taker } = takerOf();
    feed(speech(400));
    taker.partialChanged(true);
    feed(`ssss${silence(2_000)}`);
    expect(log.at(-1)).toBe('700 end patience since 400');
  });

  test('sound that begins softly when patience runs out is waited for, and ends the turn 100 ms later when no speech comes of it', () => {
    const goesOn = takerOf();
    goesOn.feed(`${goesOn.speech(400)}${goesOn.silence(1_100)}ss${goesOn.speech(400)}`);
    expect(goesOn.log.at(-1)).toBe('1600 resume from 1540');

    const rumble = takerOf();
    rumble.feed(`${rumble.speech(400)}${rumble.silence(1_080)}${'s'.repeat(20)}`);
    expect(rumble.log.at(-1)).toBe('1620 end patience since 400');
  });

  test('a voice that stirs when patience runs out goes on in the same turn, but a lone frame ends it 100 ms later', () => {
    const goesOn = takerOf();
    goesOn.feed(goesOn.speech(400) + goesOn.silence(1_060) + goesOn.speech(400));
    expect(goesOn.log).toEqual(['60 start from 0', '600 pause since 400', '1520 resume from 1460']);

    const click = takerOf();
    click.feed(`${click.speech(400)}${click.silence(1_060)}x${click.silence(400)}`);
    expect(click.log.at(-1)).toBe('1580 end patience since 400');
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

  test('a whole answer that stays the same under unbroken sound ends the turn after 1.5 s', () => {
    const { feed, speech, log, taker } = takerOf();
    feed(speech(1_000));
    taker.partialChanged(true);
    feed(speech(4_000));
    expect(log.slice(0, 3)).toEqual(['60 start from 0', '2500 pause since 2500', '2500 end stuck_gate since 2500']);
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
