import { describe, expect, it } from 'vitest';
import { TextBuffer } from '../../../../../bench/emulators/providers/elevenlabs/text-buffer.ts';
import {
  charTimes,
  phonesOfWords,
  timesOfWritten,
} from '../../../../../bench/emulators/providers/voice/phone-alignment.ts';

describe('which sounds make which word', () => {
  it('finds equal sounds, and gives what differs to the words between', () => {
    const words = [
      ['dh', 'ax'],
      ['k', 'ae', 't'],
      ['s', 'ae', 't'],
    ];
    expect(phonesOfWords(words.flat(), words)).toEqual([
      { from: 0, to: 2 },
      { from: 2, to: 5 },
      { from: 5, to: 8 },
    ]);
    // Said together, a vowel differs and a consonant is gone.
    expect(phonesOfWords(['dh', 'iy', 'k', 'ae', 's', 'ae', 't'], words)).toEqual([
      { from: 0, to: 2 },
      { from: 2, to: 4 },
      { from: 4, to: 7 },
    ]);
    expect(phonesOfWords([], [['a'], []])).toEqual([null, null]);
  });

  it('spreads a word over its letters, and a pause over the space', () => {
    const { startMs, endMs } = charTimes(
      'ab c',
      [
        { startMs: 0, endMs: 20 },
        { startMs: 50, endMs: 60 },
      ],
      100,
    );
    expect([startMs, endMs]).toEqual([
      [0, 10, 20, 50],
      [10, 20, 50, 60],
    ]);
  });

  it('gives the time of "2:30 p.m." to "14:30"', () => {
    const spoken = ['at', '2:30', 'p.m.', 'today'];
    const times = spoken.map((_, i) => ({ startMs: 100 * i, endMs: 100 * i + 90 }));
    expect(timesOfWritten(['at', '14:30', 'today'], spoken, times)).toEqual([
      { startMs: 0, endMs: 90 },
      { startMs: 100, endMs: 290 },
      { startMs: 300, endMs: 390 },
    ]);
  });
});

describe('text that comes in pieces', () => {
  it('waits for the schedule, entry by entry, and keeps the word that may go on', () => {
    const buffer = new TextBuffer([50, 60], false);
    expect(buffer.push(' ')).toBeNull();
    expect(buffer.push('x'.repeat(30))).toBeNull();
    expect(buffer.push(` ${'y'.repeat(19)}`)).toBe(`${'x'.repeat(30)} `);
    expect(buffer.push(' z'.repeat(15))).toBeNull();
    expect(buffer.push(' z'.repeat(6))).toMatch(/^y{19}( z){20} $/);
    expect(buffer.flush()).toBe('z');
    expect(buffer.flush()).toBeNull();
  });

  it('is spoken message by message with auto_mode, and by a trigger where there is enough', () => {
    const auto = new TextBuffer([120], true);
    expect([auto.push(' '), auto.push('Hel'), auto.push('lo')]).toEqual([null, 'Hel', 'lo']);
    const triggered = new TextBuffer([120], false);
    expect(triggered.push('Too short. ', true)).toBeNull();
    expect(triggered.push('But with this it is long enough to be spoken. ', true)).toMatch(/^Too short\. But/);
  });
});
