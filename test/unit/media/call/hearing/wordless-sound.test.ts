/**
 * What an ear that knows all words does to an interruption: sound without words lets the agent go on, words stop it
 * then, and one word alone has to stand.
 */
import { describe, expect, test } from 'vitest';
import { senseOf } from '../../../../../media/agents/cascade/caller-sense.ts';
import { BargeIn } from '../../../../../media/call/turn-taking/barge-in.ts';

/** Verdicts of so much speech, by when they came. */
function verdicts(bargeIn: BargeIn, fromMs: number, toMs: number): string[] {
  const told: string[] = [];
  for (let nowMs = fromMs; nowMs <= toMs; nowMs += 20) {
    const verdict = bargeIn.judge(nowMs, nowMs);
    if (verdict !== 'none') told.push(`${nowMs} ${verdict}`);
  }
  return told;
}

describe('an ear that knows all words', () => {
  test('sound without words pauses the agent, and lets it go on after 1.8 s, once, however long it lasts', () => {
    const music = new BargeIn(true);
    music.begin(false);
    expect(verdicts(music, 20, 20_000)).toEqual(['260 pause', '1800 go_on']);
    expect(music.hasGoneOn).toBe(true);
  });

  test('so does assent that does not end', () => {
    const assent = new BargeIn(true);
    assent.begin(false);
    assent.wordsChanged('acknowledge', 300);
    expect(verdicts(assent, 20, 20_000)).toEqual(['260 pause', '1800 go_on']);
  });

  test('words that come after it went on stop it all the same', () => {
    const late = new BargeIn(true);
    late.begin(false);
    verdicts(late, 20, 2_000);
    late.wordsChanged('answer', 2_000);
    expect(verdicts(late, 2_020, 3_000)).toEqual(['2120 commit']);
  });

  test('one word has to stand for 700 ms, several for 120', () => {
    const one = new BargeIn(true);
    one.begin(false);
    one.wordsChanged('answer', 400, true);
    expect(verdicts(one, 420, 1_200)).toEqual(['420 pause', '1100 commit']);
    const several = new BargeIn(true);
    several.begin(false);
    several.wordsChanged('answer', 400, false);
    expect(verdicts(several, 420, 1_000)).toEqual(['420 pause', '520 commit']);
  });

  test('the next interruption begins anew', () => {
    const bargeIn = new BargeIn(true);
    bargeIn.begin(false);
    verdicts(bargeIn, 20, 2_000);
    bargeIn.begin(false);
    expect(bargeIn.hasGoneOn).toBe(false);
    expect(verdicts(bargeIn, 20, 1_000)).toEqual(['260 pause']);
  });
});

describe('assent into the agent’s words', () => {
  const sense = (text: string, into: string) => senseOf({ text, rejected: false, how: 'spoken', into }, true);

  test.each(['yes', 'sure', 'uh okay', 'ja', 'genau', 'of course'])('%s answers what was asked just before', (text) => {
    expect(sense(text, 'Hello. Is this a good time?')).toBe('answer');
    expect(sense(text, 'Hello. Is this a good time? I am calling about')).toBe('answer');
    expect(sense(text, 'Hello. Is this a good time? I am calling about your table on friday')).toBe('acknowledge');
    expect(sense(text, 'Hello, this is Mia.')).toBe('acknowledge');
  });

  test.each(['uh huh', 'huh', 'mm hm', 'um', 'aha'])('%s does not', (text) =>
    expect(sense(text, 'Is this a good time?')).toBe('acknowledge'),
  );

  test.each(['stimmt', 'verstehe', 'richtig', 'klar', 'uh', 'um', 'ähm', 'gut uh'])('%s lets the agent go on', (text) =>
    expect(sense(text, 'We are open')).toBe('acknowledge'),
  );

  test.each(['uh no', 'ja aber', 'genau and what does it cost', 'nein', 'stop', 'richtig ist das nicht'])(
    '%s does not',
    (text) => expect(sense(text, 'We are open')).toBe('answer'),
  );

  test.each(['moment mal', 'einen augenblick bitte', 'warten sie', 'warte mal', 'sekunde'])('%s gives time', (text) =>
    expect(sense(text, 'We are open')).toBe('hold'),
  );
});
