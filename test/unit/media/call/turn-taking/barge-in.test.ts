import { describe, expect, test } from 'vitest';
import { PhraseBook } from '../../../../../media/agents/scripted/phrase-match.ts';
import { ENGLISH } from '../../../../../media/agents/words/word-lists.ts';
import { WordSorter } from '../../../../../media/agents/words/word-sense.ts';
import { BargeIn, bargeInOutcome } from '../../../../../media/call/turn-taking/barge-in.ts';

describe('pause first, decide by words', () => {
  test('pauses with the frame that completes 250 ms of speech, once', () => {
    const bargeIn = new BargeIn();
    bargeIn.begin(false);
    const verdicts: string[] = [];
    for (let nowMs = 1_060; nowMs <= 1_400; nowMs += 20)
      verdicts.push(`${nowMs} ${bargeIn.judge(nowMs, nowMs - 1_000)}`);
    expect(verdicts.filter((verdict) => !verdict.endsWith('none'))).toEqual(['1260 pause']);
  });

  test('commits when words that interrupt have stood for 120 ms, not when they were replaced before', () => {
    const bargeIn = new BargeIn();
    bargeIn.begin(false);
    bargeIn.judge(260, 260);
    bargeIn.wordsChanged('interrupt', 300);
    expect(bargeIn.judge(400, 400)).toBe('none');
    bargeIn.wordsChanged('acknowledge', 410);
    expect(bargeIn.judge(540, 540)).toBe('none');
    bargeIn.wordsChanged('answer', 600);
    expect(bargeIn.judge(700, 700)).toBe('none');
    expect(bargeIn.judge(720, 720)).toBe('commit');
    expect(bargeIn.judge(740, 740)).toBe('none');
  });

  test('commits after 1.2 s of speech without words, but gives assent 2.4 s', () => {
    const murmur = new BargeIn();
    murmur.begin(false);
    expect(murmur.judge(1_180, 1_180)).toBe('pause');
    expect(murmur.judge(1_200, 1_200)).toBe('commit');

    const assent = new BargeIn();
    assent.begin(false);
    assent.wordsChanged('acknowledge', 300);
    assent.judge(260, 260);
    expect(assent.judge(2_380, 2_380)).toBe('none');
    expect(assent.judge(2_400, 2_400)).toBe('commit');
  });

  test('speech that began before the agent was audible stops it by clear words only, however long', () => {
    const early = new BargeIn();
    early.begin(true);
    expect(early.judge(260, 260)).toBe('pause');
    expect(early.judge(9_000, 9_000)).toBe('none');
    early.wordsChanged('answer', 9_000);
    expect(early.judge(9_120, 9_120)).toBe('commit');
    expect(bargeInOutcome('rejected', 9_000, true)).toBe('resume');
    expect(bargeInOutcome('hold', 300, true)).toBe('commit');
  });

  test.each([
    ['acknowledge', 400, 'backchannel'],
    ['nothing', 400, 'resume'],
    ['rejected', 1_180, 'resume'],
    ['rejected', 1_200, 'commit'],
    ['answer', 100, 'commit'],
    ['interrupt', 100, 'commit'],
    ['hold', 100, 'commit'],
    ['other', 1_180, 'resume'],
    ['other', 1_200, 'commit'],
  ] as const)('a turn of %s, %d ms long, ends in %s', (sense, spokenMs, outcome) => {
    expect(bargeInOutcome(sense, spokenMs, false)).toBe(outcome);
  });
});

describe('what words mean', () => {
  const sorter = new WordSorter(ENGLISH);
  const book = new PhraseBook([{ intent: 'yes', phrases: ['yes', 'okay'] }]);
  const question = { book, asked: true, greeting: false };

  test('a phrase of the step outranks the lists', () => {
    expect(sorter.sense('okay', false, question)).toBe('answer');
    expect(sorter.sense('okay', false, { ...question, book: new PhraseBook([]) })).toBe('acknowledge');
  });

  test.each([
    ['stop', 'interrupt'],
    ['hold on', 'hold'],
    ['uh-huh', 'acknowledge'],
    ['bananas', 'other'],
    ['', 'nothing'],
  ])('"%s" is %s', (text, sense) => {
    expect(sorter.sense(text, false, question)).toBe(sense);
  });

  test('rejected speech means nothing, whatever text comes with it', () => {
    expect(sorter.sense('yes', true, question)).toBe('rejected');
  });

  test('a "yes" into the greeting answers no question that has not been asked, but one that the greeting itself asks', () => {
    expect(sorter.sense('yes', false, { book, asked: false, greeting: true })).toBe('acknowledge');
    expect(sorter.sense('yes', false, { book, asked: true, greeting: true })).toBe('answer');
    expect(sorter.sense('hello', false, { book, asked: true, greeting: true })).toBe('acknowledge');
    expect(sorter.sense('hello', false, question)).toBe('other');
  });

  test('the lists are in the grammar while the agent speaks, the greeting’s in its own time only', () => {
    expect(sorter.phrasesFor(question, false)).toEqual(['yes', 'okay']);
    const speaking = sorter.phrasesFor(question, true);
    expect(speaking).toEqual(expect.arrayContaining(['yes', 'okay', 'uh huh', 'stop', 'wait']));
    expect(speaking).not.toContain('hello');
    expect(new Set(speaking).size).toBe(speaking.length);
    expect(sorter.phrasesFor({ book, asked: false, greeting: true }, true)).toContain('hello');
  });
});
