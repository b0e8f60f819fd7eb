import { describe, expect, test } from 'vitest';
import { decodeMulaw } from '../../../../../media/audio/g711.ts';
import { createResampler } from '../../../../../media/audio/resampler.ts';
import { renderSpeech } from '../../../../../media/call/speaking/speech-renderer.ts';
import { MULAW_8K } from '../../../../../media/contract/audio-format.ts';
import type { SpeechChunk, SpeechRequest, TextToSpeech } from '../../../../../media/contract/engines.ts';
import { FakeTextToSpeech } from '../../../../support/fakes/scripted-engines.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

async function pass(clock: VirtualClock, ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 20) {
    clock.advanceMs(20);
    await settle();
  }
}

/** A voice whose chunks the test writes itself. */
class HandVoice implements TextToSpeech {
  readonly outputRateHz: number = 8000;
  readonly voices = ['hand'];
  give: (chunk: SpeechChunk) => void = () => {};
  done: () => void = () => {};
  signal: AbortSignal = AbortSignal.abort();
  tellQueued: () => void = () => {};
  takesMulaw: boolean | undefined;

  synthesize(request: SpeechRequest, onChunk: (chunk: SpeechChunk) => void): Promise<void> {
    this.give = onChunk;
    this.signal = request.signal;
    this.takesMulaw = request.takesMulaw;
    this.tellQueued = () => request.onQueued?.();
    return new Promise((resolve) => {
      this.done = resolve;
    });
  }
}

class WideHandVoice extends HandVoice {
  override readonly outputRateHz: number = 16_000;
}

describe('a voice engine that takes its time', () => {
  const rendering = () => {
    const clock = new VirtualClock();
    const voice = new HandVoice();
    return { clock, voice, speech: renderSpeech(voice, clock, { text: 'One two.', voice: 'hand', format: MULAW_8K }) };
  };

  test('has failed when it says nothing for 5 s', async () => {
    const { clock, speech } = rendering();
    await settle();
    await pass(clock, 4_980);
    expect(speech.error).toBeNull();
    await pass(clock, 20);
    expect(speech.error?.message).toContain('5000 ms');
  });

  test('is waited for while it says that it works for others, and speaks after all', async () => {
    const { clock, voice, speech } = rendering();
    await settle();
    for (let second = 0; second < 20; second++) {
      await pass(clock, 1_000);
      voice.tellQueued();
    }
    voice.give({ samples: new Int16Array(3_200).fill(8_000), text: 'One two.' });
    voice.done();
    await settle();
    expect(speech).toMatchObject({ error: null, complete: true });
    expect(speech.frames).toBeGreaterThan(0);
  });

  test('is not waited for for ever', async () => {
    const { clock, voice, speech } = rendering();
    await settle();
    for (let second = 0; second < 36; second++) {
      await pass(clock, 1_000);
      voice.tellQueued();
    }
    expect(speech.error).not.toBeNull();
  });
});

describe('rendering', () => {
  test('asks for the next sentence only when less than the wanted audio is there', async () => {
    const clock = new VirtualClock();
    const voice = new FakeTextToSpeech(clock);
    const speech = renderSpeech(voice, clock, {
      text: 'One two. Three four. Five six.',
      voice: 'fake',
      format: MULAW_8K,
    });
    await pass(clock, 500);
    expect(voice.requests.map((request) => request.text)).toEqual(['One two.']);
    expect(speech.durationMs).toBe(400);
    speech.want!(401);
    await pass(clock, 500);
    expect(voice.requests).toHaveLength(2);
    speech.want!(5_000);
    await pass(clock, 500);
    expect(voice.requests).toHaveLength(3);
    expect(speech.complete).toBe(true);
    // 6 words of 200 ms and two pauses of 300 ms between sentences.
    expect(speech.frames).toBe((6 * 200 + 2 * 300) / 20);
    expect(speech.words.map((word) => Math.round(word.startMs))).toEqual([
      0,
      expect.any(Number),
      700,
      expect.any(Number),
      1_400,
      expect.any(Number),
    ]);
  });

  test('abandoned in the middle, it aborts the engine and asks for nothing more', async () => {
    const clock = new VirtualClock();
    const voice = new FakeTextToSpeech(clock);
    const speech = renderSpeech(voice, clock, { text: 'One. Two.', voice: 'fake', format: MULAW_8K });
    await pass(clock, 20);
    speech.abandon!();
    speech.want!(5_000);
    await pass(clock, 500);
    expect(voice.requests).toEqual([{ text: 'One.', voice: 'fake', aborted: true }]);
    expect(speech).toMatchObject({ complete: true, frames: 0 });
    expect(speech.error?.name).toBe('AbortError');
  });

  test('an engine that gives nothing for 5 s fails the speech and is aborted', async () => {
    const clock = new VirtualClock();
    const voice = new HandVoice();
    const speech = renderSpeech(voice, clock, { text: 'One.', voice: 'hand', format: MULAW_8K });
    await pass(clock, 4_980);
    expect(speech.complete).toBe(false);
    await pass(clock, 40);
    expect(speech.error?.message).toContain('5000 ms');
    expect(voice.signal.aborted).toBe(true);
  });

  test('silence before the first word and after the last is not said, and word times know of it', async () => {
    const clock = new VirtualClock();
    const voice = new HandVoice();
    const speech = renderSpeech(voice, clock, { text: 'Yes.', voice: 'hand', format: MULAW_8K });
    await pass(clock, 20);
    const samples = new Int16Array(8_000);
    samples.fill(5_000, 1_600, 4_000);
    voice.give({ samples, text: 'Yes.' });
    voice.done();
    await pass(clock, 40);
    // 10 ms before the onset are kept; 300 ms of voice; 60 ms after it.
    expect(speech.words).toEqual([{ charStart: 0, charEnd: 4, startMs: 10, endMs: 310 }]);
    expect(speech.frames).toBe(Math.ceil(370 / 20));
  });

  test('an engine that says numbers in words still gives each word of the text a time', async () => {
    const clock = new VirtualClock();
    const voice = new HandVoice();
    const text = 'It costs $5 today.';
    const speech = renderSpeech(voice, clock, { text, voice: 'hand', format: MULAW_8K });
    await pass(clock, 20);
    voice.give({ samples: new Int16Array(1_600).fill(5_000), text: 'it costs' });
    voice.give({ samples: new Int16Array(3_200).fill(5_000), text: 'five dollars today' });
    voice.done();
    await pass(clock, 40);
    expect(speech.words.map((word) => text.slice(word.charStart, word.charEnd))).toEqual([
      'It',
      'costs',
      '$5',
      'today.',
    ]);
    expect(speech.words.map((word) => word.startMs < 200)).toEqual([true, true, false, false]);
  });

  test('16 kHz speech reaches an 8 kHz leg at its own length', async () => {
    const clock = new VirtualClock();
    const voice = new WideHandVoice();
    // The first one of a process loads its module, in real time.
    (await createResampler(16_000, 8_000)).close();
    const speech = renderSpeech(voice, clock, { text: 'Yes.', voice: 'hand', format: MULAW_8K });
    await pass(clock, 20);
    const samples = new Int16Array(16_000);
    for (let i = 0; i < samples.length; i++)
      samples[i] = Math.round(8_000 * Math.sin((2 * Math.PI * 440 * i) / 16_000));
    voice.give({ samples, text: 'Yes.' });
    voice.done();
    await pass(clock, 40);
    expect(speech.durationMs).toBeGreaterThanOrEqual(1_000);
    expect(speech.durationMs).toBeLessThanOrEqual(1_040);
  });
});

describe('a voice that tells the times of its words', () => {
  const TEXT = 'One, two. Three.';
  const started = async () => {
    const clock = new VirtualClock();
    const voice = new HandVoice();
    const speech = renderSpeech(voice, clock, { text: TEXT, voice: 'hand', format: MULAW_8K });
    await pass(clock, 20);
    return { clock, voice, speech };
  };
  const told = (speech: { words: readonly { charStart: number; charEnd: number; startMs: number; endMs: number }[] }) =>
    speech.words.map(({ charStart, charEnd, startMs, endMs }) => [TEXT.slice(charStart, charEnd), startMs, endMs]);
  const samples = (ms: number, level = 5_000) => new Int16Array(ms * 8).fill(level);

  test('is believed: words lie where it says, across its chunks and in the next sentence', async () => {
    const { clock, voice, speech } = await started();
    voice.give({
      samples: samples(300),
      text: 'One, two.',
      words: [{ charStart: 0, charEnd: 4, startMs: 20, endMs: 180 }],
    });
    voice.give({ samples: samples(200), text: '', words: [{ charStart: 5, charEnd: 9, startMs: -80, endMs: 190 }] });
    voice.done();
    speech.want!(5_000);
    await pass(clock, 20);
    voice.give({
      samples: samples(200),
      text: 'Three.',
      words: [{ charStart: 0, charEnd: 6, startMs: 10, endMs: 150 }],
    });
    voice.done();
    await pass(clock, 20);
    // 300 ms of silence between sentences; the last sound is not cut off, whatever was told of it.
    expect(told(speech)).toEqual([
      ['One,', 20, 180],
      ['two.', 220, 490],
      ['Three.', 810, 1_000],
    ]);
    expect(speech.frames).toBe(50);
  });

  test('is not believed where it turns back or leaves its text', async () => {
    const { clock, voice, speech } = await started();
    const words = [
      { charStart: 5, charEnd: 9, startMs: 100, endMs: 200 },
      { charStart: 0, charEnd: 4, startMs: 0, endMs: 100 },
      { charStart: 30, charEnd: 40, startMs: 200, endMs: 300 },
    ];
    voice.give({ samples: samples(300), text: 'One, two.', words });
    voice.done();
    await pass(clock, 20);
    expect(told(speech)).toEqual([['two.', 100, 200]]);
  });
});

describe('a voice that speaks as the leg does', () => {
  test('reaches it byte for byte, without the silence before its first word, and pauses in the same form', async () => {
    const clock = new VirtualClock();
    const voice = new WideHandVoice();
    const speech = renderSpeech(voice, clock, { text: 'One. Two.', voice: 'hand', format: MULAW_8K });
    await pass(clock, 20);
    expect(voice.takesMulaw).toBe(true);
    const mulawBytes = Uint8Array.from({ length: 1_600 }, (_, i) => (i < 800 ? 0x7f : i & 0x3f));
    const heard = new Int16Array(1_600);
    decodeMulaw(mulawBytes, 0, 1_600, heard, 0);
    voice.give({ samples: heard, mulawBytes, text: 'One.' });
    voice.done();
    speech.want!(5_000);
    await pass(clock, 20);
    voice.give({ samples: heard.subarray(800), mulawBytes: mulawBytes.subarray(800), text: 'Two.' });
    voice.done();
    await pass(clock, 20);
    const kept = [...mulawBytes.subarray(720)];
    const expected = [...kept, ...Array<number>(2_400).fill(0xff), ...mulawBytes.subarray(800)];
    expect([...speech.bytes.subarray(0, expected.length)]).toEqual(expected);
    expect(speech.complete).toBe(true);
  });

  test('is not asked for it by another leg', async () => {
    const clock = new VirtualClock();
    const voice = new HandVoice();
    renderSpeech(voice, clock, { text: 'One.', voice: 'hand', format: { codec: 'pcm_s16le', rateHz: 8000 } });
    await pass(clock, 20);
    expect(voice.takesMulaw).toBe(false);
  });
});

describe('what was heard', () => {
  test('is the words that ended before the playhead, and speech goes on at the start of the word that was cut', async () => {
    const clock = new VirtualClock();
    const voice = new FakeTextToSpeech(clock);
    const speech = renderSpeech(voice, clock, { text: 'One. Two.', voice: 'fake', format: MULAW_8K });
    speech.want!(9_000);
    await pass(clock, 500);
    // "One." sounds from 0 to 200 ms, "Two." from 500 to 700 ms.
    expect(speech.heardText(199)).toBe('');
    expect(speech.heardText(200)).toBe('One.');
    expect(speech.heardText(699)).toBe('One.');
    expect(speech.heardText(700)).toBe('One. Two.');
    expect(speech.resumeFrame(199)).toBe(0);
    expect(speech.resumeFrame(200)).toBe(25);
    expect(speech.resumeFrame(620)).toBe(25);
    expect(speech.resumeFrame(700)).toBe(35);
  });
});
