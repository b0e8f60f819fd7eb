/** Voices that stand by for one another: who is asked when, who is heard, and what of the text is said again. */
import { describe, expect, test } from 'vitest';
import type { SpeechChunk, SpeechRequest, TextToSpeech } from '../../../../media/contract/engines.ts';
import {
  HEDGE_AFTER_MS,
  HEDGE_AHEAD_AFTER_MS,
  StandbyVoice,
  type VoiceTrouble,
} from '../../../../media/engines/standby-voice.ts';
import { VoiceError } from '../../../../media/engines/voice-error.ts';
import { VoiceTroubles } from '../../../../media/engines/voice-troubles.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const TEXT = 'One two three four.';

/** Speaks when it is told to. */
class FakeVoice implements TextToSpeech {
  readonly outputRateHz: number;
  readonly voices = [];
  readonly asked: { request: SpeechRequest; onChunk(chunk: SpeechChunk): void; end(error?: Error): void }[] = [];

  constructor(outputRateHz = 16_000) {
    this.outputRateHz = outputRateHz;
  }

  synthesize(request: SpeechRequest, onChunk: (chunk: SpeechChunk) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (error?: Error): void => (error === undefined ? resolve() : reject(error));
      request.signal.addEventListener('abort', () => reject(new DOMException('gone', 'AbortError')));
      this.asked.push({ request, onChunk, end });
    });
  }

  /** The word at `at` of the text that it was given, 100 ms of sound. */
  says(word: string, turn = this.asked.length - 1): void {
    const { request, onChunk } = this.asked[turn]!;
    const charStart = request.text.indexOf(word);
    const samples = new Int16Array(this.outputRateHz / 10).fill(7);
    const charEnd = charStart + word.length;
    onChunk({ samples, text: word, words: [{ charStart, charEnd, startMs: 0, endMs: 100 }] });
  }
}

function speaking(voices: FakeVoice[]) {
  const clock = new VirtualClock();
  const troubles: VoiceTrouble[] = [];
  const voice = new StandbyVoice({
    voices: voices.map((textToSpeech, at) => ({ textToSpeech, name: `name-${at}`, label: `voice-${at}` })),
    clock,
    told: (trouble) => troubles.push(trouble),
  });
  const abort = new AbortController();
  const say = () => {
    const chunks: SpeechChunk[] = [];
    const over = voice
      .synthesize({ text: TEXT, voice: 'none', signal: abort.signal }, (chunk) => chunks.push(chunk))
      .then(
        () => 'said',
        (error: Error) => error.name,
      );
    return {
      chunks,
      over,
      speaks: () => [...new Set(chunks.map(({ voice: place }) => place))],
      words: () => chunks.flatMap(({ words = [] }) => words.map((w) => TEXT.slice(w.charStart, w.charEnd))),
    };
  };
  return { clock, troubles, say, abort, voice };
}

const settled = (): Promise<void> => new Promise((done) => setImmediate(done));

describe('voices that stand by', () => {
  test('the first speaks, under its own name, and the other is not asked', async () => {
    const [first, second] = [new FakeVoice(), new FakeVoice()];
    const { clock, say, troubles } = speaking([first, second]);
    const { over, words } = say();
    clock.advanceMs(HEDGE_AFTER_MS - 1);
    first.says('One');
    clock.advanceMs(100);
    first.says('two');
    first.asked[0]!.end();
    expect(await over).toBe('said');
    expect(words()).toEqual(['One', 'two']);
    expect(first.asked[0]!.request.voice).toBe('name-0');
    expect([second.asked.length, troubles.length]).toEqual([0, 0]);
  });

  test('without sound in time the next is asked too, and whoever sounds first is heard alone', async () => {
    const [first, second] = [new FakeVoice(), new FakeVoice()];
    const { clock, say, troubles } = speaking([first, second]);
    const { over, words, speaks } = say();
    clock.advanceMs(HEDGE_AFTER_MS);
    expect(second.asked[0]!.request).toMatchObject({ text: TEXT, voice: 'name-1' });
    second.says('One');
    expect(first.asked[0]!.request.signal.aborted).toBe(true);
    first.says('One', 0);
    second.says('two');
    second.asked[0]!.end();
    expect(await over).toBe('said');
    expect(words()).toEqual(['One', 'two']);
    expect(speaks()).toEqual([1]);
    expect(troubles).toEqual([
      { kind: 'late', label: 'voice-0', message: expect.any(String), afterMs: HEDGE_AFTER_MS },
    ]);
  });

  test('the first that comes late all the same is heard, and the next is taken back', async () => {
    const [first, second] = [new FakeVoice(), new FakeVoice()];
    const { clock, say } = speaking([first, second]);
    const { over, words } = say();
    clock.advanceMs(HEDGE_AFTER_MS + 50);
    first.says('One');
    expect(second.asked[0]!.request.signal.aborted).toBe(true);
    first.asked[0]!.end();
    expect(await over).toBe('said');
    expect(words()).toEqual(['One']);
  });

  test('one that fails before a sound is followed at once by the next', async () => {
    const [first, second] = [new FakeVoice(), new FakeVoice()];
    const { say, troubles } = speaking([first, second]);
    const { over, words } = say();
    first.asked[0]!.end(new VoiceError('refused', 'no such key'));
    await settled();
    second.says('One');
    second.asked[0]!.end();
    expect(await over).toBe('said');
    expect(words()).toEqual(['One']);
    expect(troubles).toMatchObject([{ kind: 'failed', label: 'voice-0', message: 'no such key' }]);
  });

  test('one that ends without a sound has failed', async () => {
    const [first, second] = [new FakeVoice(), new FakeVoice()];
    const { say } = speaking([first, second]);
    const { over } = say();
    first.asked[0]!.end();
    await settled();
    second.says('One');
    second.asked[0]!.end();
    expect(await over).toBe('said');
  });

  test('one that breaks off is gone on for behind the last word that it said', async () => {
    const [first, second] = [new FakeVoice(), new FakeVoice()];
    const { say } = speaking([first, second]);
    const { over, words } = say();
    first.says('One');
    first.says('two');
    first.asked[0]!.end(new VoiceError('engine_failed', 'reset'));
    await settled();
    expect(second.asked[0]!.request.text.trim()).toBe('three four.');
    second.says('three');
    second.says('four.');
    second.asked[0]!.end();
    expect(await over).toBe('said');
    expect(words()).toEqual(['One', 'two', 'three', 'four.']);
  });

  test('one that tells no words and breaks off is gone on for from the word in which it did, by its pace', async () => {
    const [first, second] = [new FakeVoice(), new FakeVoice()];
    const { say } = speaking([first, second]);
    const blind = (voice: FakeVoice, ms: number): void =>
      voice.asked.at(-1)!.onChunk({ samples: new Int16Array((voice.outputRateHz * ms) / 1_000).fill(9_000), text: '' });
    // 19 characters in 1.9 s: it is a slow one, and from here on that is known.
    for (let at = 0; at < 6; at++) {
      const { over } = say();
      blind(first, 1_900);
      first.asked.at(-1)!.end();
      await over;
    }
    const { over } = say();
    // Silence before the first sound is no word.
    first.asked.at(-1)!.onChunk({ samples: new Int16Array(16_000), text: '' });
    blind(first, 1_000);
    first.asked.at(-1)!.end(new Error('broke'));
    await settled();
    expect(second.asked.map(({ request }) => request.text)).toEqual(['three four.']);
    blind(second, 500);
    second.asked[0]!.end();
    expect(await over).toBe('said');
  });

  test('one that falls behind its own playing is gone on for', async () => {
    const [first, second] = [new FakeVoice(), new FakeVoice()];
    const { clock, say, troubles } = speaking([first, second]);
    const { words } = say();
    first.says('One');
    clock.advanceMs(100 + HEDGE_AFTER_MS - 1);
    expect(second.asked).toHaveLength(0);
    clock.advanceMs(1);
    expect(second.asked[0]!.request.text.trim()).toBe('two three four.');
    first.says('two', 0);
    second.says('two');
    expect(words()).toEqual(['One', 'two']);
    expect(troubles).toMatchObject([{ kind: 'failed' }]);
  });

  test('one that breaks off behind its last word has said it', async () => {
    const [first, second] = [new FakeVoice(), new FakeVoice()];
    const { say } = speaking([first, second]);
    const { over } = say();
    for (const word of ['One', 'two', 'three', 'four.']) first.says(word);
    first.asked[0]!.end(new Error('reset'));
    expect(await over).toBe('said');
    expect(second.asked).toHaveLength(0);
  });

  test('where all fail it fails; what no voice can say is asked of no other', async () => {
    const [first, second] = [new FakeVoice(), new FakeVoice()];
    const { say } = speaking([first, second]);
    const one = say();
    first.asked[0]!.end(new VoiceError('engine_failed', 'down'));
    await settled();
    second.asked[0]!.end(new VoiceError('engine_failed', 'down too'));
    expect(await one.over).toBe('VoiceError');
    const other = say();
    first.asked[1]!.end(new VoiceError('nothing_to_speak', 'no letter'));
    expect(await other.over).toBe('VoiceError');
    expect(second.asked).toHaveLength(1);
  });

  test('one that failed twice in a row begins no text for a while, and then does again', async () => {
    const [first, second] = [new FakeVoice(), new FakeVoice()];
    const { clock, say } = speaking([first, second]);
    for (let i = 0; i < 2; i++) {
      const { over } = say();
      first.asked.at(-1)!.end(new Error('down'));
      await settled();
      second.says('One');
      second.asked.at(-1)!.end();
      await over;
    }
    say();
    expect([first.asked.length, second.asked.length]).toEqual([2, 3]);
    clock.advanceMs(31_000);
    say();
    expect(first.asked).toHaveLength(4);
  });

  test('cancelled, both fall silent', async () => {
    const [first, second] = [new FakeVoice(), new FakeVoice()];
    const { clock, say, abort } = speaking([first, second]);
    const { over, chunks } = say();
    clock.advanceMs(HEDGE_AFTER_MS);
    abort.abort();
    expect(await over).toBe('AbortError');
    expect([first, second].map(({ asked }) => asked[0]!.request.signal.aborted)).toEqual([true, true]);
    second.says('One');
    expect(chunks).toEqual([]);
  });

  test('the sound of another rate becomes that of the first, in order and whole', async () => {
    const [first, second] = [new FakeVoice(16_000), new FakeVoice(24_000)];
    const { say } = speaking([first, second]);
    const { over, chunks } = say();
    first.asked[0]!.end(new Error('down'));
    await settled();
    second.says('One');
    second.says('two');
    second.asked[0]!.end();
    expect(await over).toBe('said');
    expect(chunks.map(({ samples }) => samples.length)).toEqual([1_600, 1_600]);
  });
});

test('what went wrong while the phone rang is told when the call has a stream', () => {
  const troubles = new VoiceTroubles();
  const told: object[] = [];
  troubles.told({ kind: 'late', label: 'voice-0', message: 'no sound', afterMs: 700 });
  troubles.tellTo((event) => told.push(event));
  troubles.told({ kind: 'failed', label: 'voice-0', message: 'reset', afterMs: 12 });
  expect(told).toEqual([
    { type: 'recovery', what: 'voice_hedge', gapMs: 700, message: 'voice-0: no sound' },
    { type: 'recovery', what: 'voice_fallback', gapMs: 12, message: 'voice-0: reset' },
  ]);
});

test('a greeting that nobody waits for yet gives the first voice more time', async () => {
  const [first, second] = [new FakeVoice(), new FakeVoice()];
  const { clock, voice } = speaking([first, second]);
  const request = { text: TEXT, voice: 'none', signal: new AbortController().signal, ahead: true };
  void voice.synthesize(request, () => {});
  clock.advanceMs(HEDGE_AHEAD_AFTER_MS - 1);
  expect(second.asked).toHaveLength(0);
  clock.advanceMs(1);
  expect(second.asked).toHaveLength(1);
});
