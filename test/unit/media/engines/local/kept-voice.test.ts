import { expect, test } from 'vitest';
import type { FliteVoice, PieceOfSpeech } from '../../../../../media/engines/local/flite-voice.ts';
import { keepPieces } from '../../../../../media/engines/local/kept-voice.ts';

/** Each piece is 100 samples (200 bytes) of its text's length. */
function countingVoice(): FliteVoice & { spoken: string[] } {
  const spoken: string[] = [];
  return {
    spoken,
    speak({ text, voice }) {
      spoken.push(`${voice}:${text}`);
      return new Int16Array(100).fill(text.length);
    },
    prepare() {},
  };
}

const piece = (text: string, change: Partial<PieceOfSpeech> = {}): PieceOfSpeech => ({
  text,
  voice: 'slt',
  isFirst: true,
  end: 'sentence',
  isFixed: true,
  ...change,
});

test('a piece is spoken once; another voice, place or end of it is another piece', () => {
  const voice = countingVoice();
  const kept = keepPieces(voice);
  const first = kept.speak(piece('Hello.'));
  // As when it is transferred to another thread.
  first.fill(0);
  expect(kept.speak(piece('Hello.'))).toEqual(new Int16Array(100).fill(6));
  expect(voice.spoken).toEqual(['slt:Hello.']);
  kept.speak(piece('Hello.', { voice: 'rms' }));
  kept.speak(piece('Hello.', { isFirst: false }));
  kept.speak(piece('Hello.', { end: 'text' }));
  expect(voice.spoken).toHaveLength(4);
});

test('what is not the same in every call is spoken anew each time: nothing of it is kept', () => {
  const voice = countingVoice();
  const kept = keepPieces(voice, 200);
  kept.speak(piece('Hello.'));
  for (let time = 0; time < 3; time++) kept.speak(piece('Asha.', { isFixed: false }));
  const { isFixed: _, ...unmarked } = piece('Asha.');
  kept.speak(unmarked);
  expect(voice.spoken).toEqual(['slt:Hello.', 'slt:Asha.', 'slt:Asha.', 'slt:Asha.', 'slt:Asha.']);
  // Nor did it take the room of what is.
  kept.speak(piece('Hello.', { isFixed: false }));
  expect(voice.spoken).toHaveLength(5);
});

test('it keeps so many bytes and no more: the longest unused goes first', () => {
  const voice = countingVoice();
  const kept = keepPieces(voice, 600);
  for (const text of ['one', 'two', 'three', 'one', 'four']) kept.speak(piece(text));
  expect(voice.spoken).toEqual(['slt:one', 'slt:two', 'slt:three', 'slt:four']);
  kept.speak(piece('one'));
  expect(voice.spoken).toHaveLength(4);
  kept.speak(piece('two'));
  expect(voice.spoken).toHaveLength(5);
});
