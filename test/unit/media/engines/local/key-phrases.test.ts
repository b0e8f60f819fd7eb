import { beforeAll, describe, expect, it } from 'vitest';
import type { Recognition } from '../../../../../media/contract/engines.ts';
import { type FliteVoice, loadFliteVoice } from '../../../../../media/engines/local/flite-voice.ts';
import { loadLocalListener } from '../../../../../media/engines/local/local-listener.ts';
import type { SttScheduler } from '../../../../../media/engines/local/stt-scheduler.ts';
import { overTheLine } from '../speech-fixtures.ts';

const PHRASES = ['can you still come', 'ten minutes early', 'behind the building', 'another question'];

let voice: FliteVoice;
let listener: SttScheduler;

beforeAll(async () => {
  voice = await loadFliteVoice();
  listener = await loadLocalListener((error) => {
    throw error;
  });
});

/** All results of one line, 160 ms of sound at a time; the last is the final one. */
async function hear(text: string, anywhere: boolean): Promise<(Recognition & { atMs: number })[]> {
  const line = await overTheLine(voice, text, { voice: 'rms' });
  const results: (Recognition & { atMs: number })[] = [];
  let at = 0;
  await new Promise<void>((resolve, reject) => {
    const onResult = (result: Recognition): void => {
      results.push({ ...result, atMs: at / 8 });
      if (result.final) resolve();
    };
    const stream = listener.open(
      8000,
      { phrases: PHRASES, anywhere },
      { onResult, onError: (why) => reject(new Error(why)) },
    );
    const feed = (): void => {
      if (at >= line.length) {
        stream.finish();
        return;
      }
      stream.push(line.slice(at, at + 1280));
      at += 1280;
      setImmediate(feed);
    };
    feed();
  });
  return results;
}

describe('key phrases', () => {
  it.each([
    ['Hello Dana, this is Paul from River Dental. Can you still come at three in the afternoon?', 'can you still come'],
    ['Please arrive ten minutes early and bring your insurance card.', 'ten minutes early'],
    ['You can park for free behind the building, next to the trees.', 'behind the building'],
  ])('are found inside "%s"', async (text, phrase) => {
    expect((await hear(text, true)).at(-1)).toMatchObject({ text: phrase, rejected: false, final: true });
  });

  it('are found while the speech goes on, within 1200 ms of their last sound', async () => {
    const results = await hear(
      'Please arrive ten minutes early and bring your insurance card. You will find us upstairs.',
      true,
    );
    const first = results.find(({ text }) => text === 'ten minutes early');
    expect(first?.final).toBe(false);
    expect(first?.atMs).toBeLessThanOrEqual(3_000);
  });

  it.each([
    'Water and coffee are free in the waiting room.',
    'The weather in the mountains was cold and wet all week long.',
  ])('are not heard in "%s"', async (text) => {
    expect((await hear(text, true)).at(-1)).toMatchObject({ text: '', rejected: true, final: true });
  });

  it('asked for as whole utterances after it are whole utterances again', async () => {
    expect((await hear('It stands behind the building.', true)).at(-1)).toMatchObject({ text: 'behind the building' });
    expect((await hear('behind the building', false)).at(-1)).toMatchObject({ text: 'behind the building' });
  });
});
