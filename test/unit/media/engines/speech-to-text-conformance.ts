/**
 * What every `SpeechToText` must do, wherever it runs. `open` gives a fresh port for each test; speech comes from the
 * local voice over a mu-law line. How well a recogniser hears is `speech-to-text-hearing.ts`'s.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { Recognition, RecognitionStream, SpeechToText } from '../../../../media/contract/engines.ts';
import type { FliteVoice } from '../../../../media/engines/local/flite-voice.ts';
import { overTheLine } from './speech-fixtures.ts';

export interface OpenedRecogniser {
  recogniser: SpeechToText;
  close(): void | Promise<void>;
}

export const YES_NO = ['yes', 'yes please', 'no', 'no thank you', 'sure'];
export const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'on thursday', 'on friday', 'next monday'];

interface Listening {
  stream: RecognitionStream;
  partials: Recognition[];
  finals: Recognition[];
  errors: Error[];
  final: Promise<Recognition>;
  /** The first answer to `conclude`. */
  concluded: Promise<Recognition>;
}

export function listen(recogniser: SpeechToText, phrases: readonly string[], anywhere = false): Listening {
  const partials: Recognition[] = [];
  const finals: Recognition[] = [];
  const errors: Error[] = [];
  let stream: RecognitionStream | undefined;
  let settleConcluded: (result: Recognition) => void = () => {};
  const concluded = new Promise<Recognition>((resolve) => {
    settleConcluded = resolve;
  });
  const final = new Promise<Recognition>((resolve, reject) => {
    stream = recogniser.open(
      { phrases, anywhere },
      (result) => {
        if (!result.final) {
          partials.push(result);
          if (result.concluded === true) settleConcluded(result);
          return;
        }
        finals.push(result);
        resolve(result);
      },
      (error) => {
        errors.push(error);
        reject(error);
      },
    );
  });
  final.catch(() => {});
  return { stream: stream!, partials, finals, errors, final, concluded };
}

function feed(stream: RecognitionStream, samples: Int16Array, rateHz: number): void {
  const frameSamples = rateHz / 50;
  for (let at = 0; at < samples.length; at += frameSamples) stream.push(samples.subarray(at, at + frameSamples));
}

export async function recognise(
  recogniser: SpeechToText,
  phrases: readonly string[],
  samples: Int16Array,
  anywhere = false,
): Promise<Recognition> {
  const listening = listen(recogniser, phrases, anywhere);
  feed(listening.stream, samples, recogniser.inputRateHz);
  listening.stream.finish();
  return listening.final;
}

export type OpenRecogniser = (rateHz: 8000 | 16000) => Promise<OpenedRecogniser>;

/** Opens a port for a test, which is closed after it. */
export function openedForEach(open: OpenRecogniser): (rateHz?: 8000 | 16000) => Promise<SpeechToText> {
  let opened: OpenedRecogniser | undefined;
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });
  return async (rateHz = 8000) => {
    opened = await open(rateHz);
    return opened.recogniser;
  };
}

export function describeSpeechToText(name: string, voice: FliteVoice, open: OpenRecogniser): void {
  describe(`${name} as a SpeechToText`, () => {
    const start = openedForEach(open);

    it.each([
      ['yes please', YES_NO],
      ['no thank you', YES_NO],
      ['tuesday', DAYS],
      ['next monday', DAYS],
      ['my name is john', ['my name is <name>', '<name>']],
      ['five five one two', ['<digits>', 'my number is <digits>']],
    ])('hears "%s" of the voice slt at 8 kHz through mu-law', async (said, phrases) => {
      const recogniser = await start();
      const heard = await recognise(recogniser, phrases, await overTheLine(voice, said));
      expect(heard).toEqual({ text: said, rejected: false, final: true });
    });

    it('says after a pause what the utterance would mean, and hears it whole when it goes on', async () => {
      const recogniser = await start();
      const listening = listen(recogniser, YES_NO);
      feed(listening.stream, await overTheLine(voice, 'yes'), 8000);
      listening.stream.conclude();
      expect(await listening.concluded).toEqual({ text: 'yes', rejected: false, final: false, concluded: true });
      listening.stream.goOn();
      feed(listening.stream, await overTheLine(voice, 'please'), 8000);
      listening.stream.finish();
      expect(await listening.final).toEqual({ text: 'yes please', rejected: false, final: true });
      expect(listening.partials.filter((partial) => partial.concluded === true)).toHaveLength(1);
    });

    it('a conclusion that is not gone back on is the final result, whatever was pushed after it', async () => {
      const recogniser = await start();
      const listening = listen(recogniser, YES_NO);
      feed(listening.stream, await overTheLine(voice, 'no thank you'), 8000);
      listening.stream.conclude();
      await listening.concluded;
      feed(listening.stream, await overTheLine(voice, 'yes please'), 8000);
      listening.stream.finish();
      expect(await listening.final).toEqual({ text: 'no thank you', rejected: false, final: true });
      expect(listening.finals).toHaveLength(1);
    });

    it('hears "on thursday" at 16 kHz', async () => {
      const recogniser = await start(16000);
      expect(recogniser.inputRateHz).toBe(16000);
      const heard = await recognise(recogniser, DAYS, await overTheLine(voice, 'on thursday', { rateHz: 16000 }));
      expect(heard).toEqual({ text: 'on thursday', rejected: false, final: true });
    });

    it.each([
      ['no audio', 0],
      ['1 s of digital silence', 8000],
    ])('gives an empty final that is not rejected for %s', async (_what, samples) => {
      const recogniser = await start();
      const heard = await recognise(recogniser, YES_NO, new Int16Array(samples));
      expect(heard).toEqual({ text: '', rejected: false, final: true });
    });

    it('gives partials that change each time and are heard before the end, then exactly one final', async () => {
      const recogniser = await start();
      const listening = listen(recogniser, ['my number is <digits>']);
      feed(listening.stream, await overTheLine(voice, 'my number is four zero seven'), 8000);
      listening.stream.finish();
      listening.stream.finish();
      const final = await listening.final;
      await recognise(recogniser, YES_NO, new Int16Array(160));
      expect(final.text).toBe('my number is four zero seven');
      expect(listening.finals).toHaveLength(1);
      expect(listening.errors).toHaveLength(0);
      expect(listening.partials.length).toBeGreaterThan(1);
      const texts = listening.partials.map((partial) => `${partial.rejected} ${partial.text}`);
      for (let i = 1; i < texts.length; i++) expect(texts[i]).not.toBe(texts[i - 1]);
      expect(listening.partials.some((partial) => partial.text.startsWith('my number'))).toBe(true);
    });

    it('hears two streams at once, frame by frame in turn, each by its own phrases', async () => {
      const recogniser = await start();
      const yes = listen(recogniser, YES_NO);
      const day = listen(recogniser, DAYS);
      const yesAudio = await overTheLine(voice, 'yes please');
      const dayAudio = await overTheLine(voice, 'wednesday', { voice: 'kal16' });
      for (let at = 0; at < Math.max(yesAudio.length, dayAudio.length); at += 160) {
        yes.stream.push(yesAudio.subarray(at, at + 160));
        day.stream.push(dayAudio.subarray(at, at + 160));
      }
      yes.stream.finish();
      day.stream.finish();
      expect((await yes.final).text).toBe('yes please');
      expect((await day.final).text).toBe('wednesday');
    });

    it('gives nothing after cancel, and hears the next stream', async () => {
      const recogniser = await start();
      const cancelled = listen(recogniser, YES_NO);
      const audio = await overTheLine(voice, 'yes please');
      feed(cancelled.stream, audio, 8000);
      cancelled.stream.cancel();
      cancelled.stream.cancel();
      const partialsAtCancel = cancelled.partials.length;
      feed(cancelled.stream, audio, 8000);
      cancelled.stream.finish();
      expect((await recognise(recogniser, YES_NO, audio)).text).toBe('yes please');
      expect(cancelled.finals).toHaveLength(0);
      expect(cancelled.errors).toHaveLength(0);
      expect(cancelled.partials).toHaveLength(partialsAtCancel);
    });

    it('ignores audio that comes after finish', async () => {
      const recogniser = await start();
      const listening = listen(recogniser, DAYS);
      feed(listening.stream, await overTheLine(voice, 'tuesday'), 8000);
      listening.stream.finish();
      feed(listening.stream, await overTheLine(voice, 'next monday'), 8000);
      expect((await listening.final).text).toBe('tuesday');
    });

    it.each([
      ['no phrase', [], /no phrase/],
      ['an unknown word', ['yes', 'flurbify the account'], /flurbify/],
      ['an unknown class', ['<city>'], /<city>/],
      ['figures', ['room 12'], /12/],
      ['markup', ['yes | no ; <x> = /*'], /"yes \| no/],
    ])('gives one error and no final for phrases with %s', async (_what, phrases, message) => {
      const recogniser = await start();
      const listening = listen(recogniser, phrases);
      feed(listening.stream, new Int16Array(1600), 8000);
      listening.stream.finish();
      await expect(listening.final).rejects.toThrow(message);
      await recognise(recogniser, YES_NO, new Int16Array(160));
      expect(listening.errors).toHaveLength(1);
      expect(listening.finals).toHaveLength(0);
    });
  });
}
