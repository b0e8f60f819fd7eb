/** What every `TextToSpeech` must do. `open` gives a fresh port for each test; it is closed by `close`. */
import { afterEach, describe, expect, it } from 'vitest';
import { newerProtocol } from '../../../../bench/emulators/providers/newer-protocol.ts';
import { decodeMulaw } from '../../../../media/audio/g711.ts';
import type { SpeechChunk, TextToSpeech } from '../../../../media/contract/engines.ts';
import type { MessageChange } from './call-ear-conformance.ts';

export interface OpenedVoice {
  voice: TextToSpeech;
  /** What it declares in the registry. */
  tellsWordTimes: boolean;
  givesMulaw: boolean;
  /** Of a provider, which alone knows its voices: some of them. */
  voicesOfProvider?: readonly string[];
  close(): void | Promise<void>;
}

const never = new AbortController().signal;

export function durationMs(chunks: readonly SpeechChunk[], rateHz: number): number {
  return (chunks.reduce((sum, chunk) => sum + chunk.samples.length, 0) * 1000) / rateHz;
}

/** Without a change of the provider's messages as they are. */
export type OpenVoiceOfTest = (change?: MessageChange) => Promise<OpenedVoice>;

/** `isLocal`: no provider's, whose protocol goes on without us. */
export function describeTextToSpeech(name: string, open: OpenVoiceOfTest, { isLocal = false } = {}): void {
  describe(`${name} as a TextToSpeech`, () => {
    let opened: OpenedVoice | undefined;
    afterEach(async () => {
      await opened?.close();
      opened = undefined;
    });
    const start = async (change?: MessageChange): Promise<TextToSpeech> => {
      opened = await open(change);
      return opened.voice;
    };
    const voicesOf = ({ voices }: TextToSpeech): readonly string[] => opened!.voicesOfProvider ?? voices;
    /** Each will do; an engine that has a cheap one names it last. */
    const anyOf = (voice: TextToSpeech): string => voicesOf(voice).at(-1)!;
    async function speak(
      voice: TextToSpeech,
      text: string,
      name = anyOf(voice),
      takesMulaw = false,
    ): Promise<SpeechChunk[]> {
      const chunks: SpeechChunk[] = [];
      await voice.synthesize({ text, voice: name, signal: never, takesMulaw }, (chunk) => chunks.push(chunk));
      return chunks;
    }
    /** One that makes no pieces of its own gives chunks as its sound comes. */
    const isStreamed = (): boolean => opened!.voicesOfProvider !== undefined;
    const textOf = (chunks: readonly SpeechChunk[]): string => chunks.map((chunk) => chunk.text).join('');
    /** The text; nothing of an engine that does not know which words it has streamed. */
    const toldOf = (text: string): string => (isStreamed() && !opened!.tellsWordTimes ? '' : text);

    it('speaks 12 words in every voice, in 2.5 to 5 s of sound that is neither silent nor clipped', async () => {
      const voice = await start();
      expect(voicesOf(voice).length).toBeGreaterThan(0);
      for (const name of voicesOf(voice)) {
        const chunks = await speak(voice, 'Thank you for calling Acme, how can I help you today please?', name);
        const seconds = durationMs(chunks, voice.outputRateHz) / 1000;
        expect(seconds).toBeGreaterThan(2.5);
        expect(seconds).toBeLessThan(5);
        const peak = chunks[0]!.samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
        expect(peak).toBeGreaterThan(3000);
        expect(peak).toBeLessThan(32767);
      }
    });

    it('gives three sentences as three chunks, or as they come, whose texts are the text when joined', async () => {
      const voice = await start();
      const text = 'Good morning.  How are you?\nFine.';
      const chunks = await speak(voice, text);
      expect(textOf(chunks)).toBe(toldOf(text));
      if (!isStreamed())
        expect(chunks.map((chunk) => chunk.text)).toEqual(['Good morning.  ', 'How are you?\n', 'Fine.']);
      for (const chunk of chunks) expect(chunk.samples).toBeInstanceOf(Int16Array);
    });

    it('tells when each word sounds, once, in order and inside of the sound, where it declares so', async () => {
      const voice = await start();
      const text = ' Good morning,  how are you?\nIt is 5 o’clock. ';
      const chunks = await speak(voice, text);
      const { tellsWordTimes } = opened!;
      expect(chunks.some(({ words }) => words !== undefined)).toBe(tellsWordTimes);
      if (!tellsWordTimes) return;
      let chunkAtMs = 0;
      const words: { text: string; startMs: number; endMs: number }[] = [];
      for (const chunk of chunks) {
        for (const { charStart, charEnd, startMs, endMs } of chunk.words ?? [])
          words.push({ text: text.slice(charStart, charEnd), startMs: chunkAtMs + startMs, endMs: chunkAtMs + endMs });
        chunkAtMs += (chunk.samples.length * 1000) / voice.outputRateHz;
      }
      expect(words.map((word) => word.text)).toEqual(text.trim().split(/\s+/));
      for (const [i, { startMs, endMs }] of words.entries()) {
        expect(endMs).toBeGreaterThan(startMs);
        expect(startMs).toBeGreaterThanOrEqual(i === 0 ? 0 : words[i - 1]!.startMs);
        expect(endMs).toBeLessThanOrEqual(chunkAtMs + 1);
      }
    });

    it('gives mu-law byte for sample where it is taken and it declares so, and never else', async () => {
      const voice = await start();
      const asked = await speak(voice, 'Hello there.', anyOf(voice), true);
      const heard = asked.filter(({ samples }) => samples.length > 0);
      for (const { samples, mulawBytes } of heard) {
        expect(mulawBytes !== undefined).toBe(opened!.givesMulaw);
        if (mulawBytes === undefined) continue;
        const decoded = new Int16Array(mulawBytes.length);
        decodeMulaw(mulawBytes, 0, mulawBytes.length, decoded, 0);
        expect(samples).toEqual(decoded);
      }
      expect(heard.length).toBeGreaterThan(0);
      for (const { mulawBytes } of await speak(voice, 'Hello there.')) expect(mulawBytes).toBeUndefined();
    });

    it('begins with sound: at most 60 ms of silence before the first word, 200 of a provider’s', async () => {
      const voice = await start();
      const [first] = await speak(voice, 'Hello.');
      const quiet = first!.samples.findIndex((sample) => Math.abs(sample) > 500);
      expect((quiet * 1000) / voice.outputRateHz).toBeLessThanOrEqual(isStreamed() ? 200 : 60);
    });

    it.each([
      ['an empty text', ''],
      ['spaces', ' \n '],
      ['signs only', '...?!'],
      ['control characters only', '\u0000\u0007\u001b'],
      ['100 kB', 'word '.repeat(20_000)],
    ])('refuses %s with a VoiceError, and speaks the next text', async (_what, text) => {
      const voice = await start();
      await expect(speak(voice, text)).rejects.toMatchObject({ name: 'VoiceError' });
      const next = await speak(voice, 'Still here.');
      expect(textOf(next)).toBe(toldOf('Still here.'));
      if (!isStreamed()) expect(next).toHaveLength(1);
    });

    it('refuses a voice that it does not have with a VoiceError that names those that it knows', async () => {
      const voice = await start();
      const refused = speak(voice, 'Hello.', 'nobody');
      await expect(refused).rejects.toMatchObject({ name: 'VoiceError' });
      if (voice.voices.length > 0) await expect(refused).rejects.toThrow(voice.voices[0]!);
    });

    it.each([
      ['tags', '<speak><break time="9s"/>Hello</speak> <phoneme'],
      ['options', '--help -voice kal'],
      ['control characters', 'He\u0000llo \u001b[31m you\u0007'],
      ['half a surrogate pair', 'Hello \ud83d you'],
      ['300 letters without a space', 'a'.repeat(300)],
      ['format marks', '%s%n%x hello'],
    ])('speaks what can be said of a text with %s', async (_what, text) => {
      const voice = await start();
      const chunks = await speak(voice, text);
      expect(textOf(chunks)).toBe(toldOf(text));
      expect(durationMs(chunks, voice.outputRateHz)).toBeGreaterThan(200);
    });

    it('rejects with an AbortError when cancelled, and gives no chunk after that', async () => {
      const voice = await start();
      const abort = new AbortController();
      let chunks = 0;
      let chunksAtAbort = -1;
      const speaking = voice.synthesize(
        { text: 'One sentence here. '.repeat(60), voice: anyOf(voice), signal: abort.signal },
        () => {
          chunks++;
          if (chunks !== 2) return;
          chunksAtAbort = chunks;
          abort.abort();
        },
      );
      await expect(speaking).rejects.toMatchObject({ name: 'AbortError' });
      expect(textOf(await speak(voice, 'Next.'))).toBe(toldOf('Next.'));
      expect(chunks).toBe(chunksAtAbort);
    });

    it('rejects at once with an AbortError when the signal fired before', async () => {
      const voice = await start();
      const speaking = voice.synthesize({ text: 'Hello.', voice: anyOf(voice), signal: AbortSignal.abort() }, () => {});
      await expect(speaking).rejects.toMatchObject({ name: 'AbortError' });
    });

    it('does not let 60 sentences of one call delay the first sentence of another', async () => {
      const voice = await start();
      const order: string[] = [];
      const long = voice
        .synthesize({ text: 'A long text goes on. '.repeat(60), voice: anyOf(voice), signal: never }, () =>
          order.push('long'),
        )
        .then(() => order.push('long is done'));
      const short = voice.synthesize({ text: 'Hello.', voice: anyOf(voice), signal: never }, () => order.push('short'));
      await short;
      // Of an engine that makes a sentence after the other; what others stream at once has no order.
      if (!isStreamed()) expect(order.indexOf('short')).toBeLessThanOrEqual(3);
      expect(order).not.toContain('long is done');
      await long;
    });

    it('fails only the request whose listener throws', async () => {
      const voice = await start();
      const broken = voice.synthesize({ text: 'One. Two. Three.', voice: anyOf(voice), signal: never }, () => {
        throw new Error('listener broke');
      });
      await expect(broken).rejects.toThrow('listener broke');
      expect(textOf(await speak(voice, 'Next.'))).toBe(toldOf('Next.'));
    });

    if (isLocal) return;
    it('fields and events that are not known yet change nothing', async () => {
      const voice = await start(newerProtocol);
      for (const text of ['Good morning, how are you?', 'Still here.']) {
        const chunks = await speak(voice, text);
        expect([textOf(chunks), durationMs(chunks, voice.outputRateHz) > 300]).toEqual([toldOf(text), true]);
        const words = chunks.flatMap((chunk) => chunk.words ?? []);
        expect(words).toHaveLength(opened!.tellsWordTimes ? text.split(' ').length : 0);
      }
    });
  });
}
