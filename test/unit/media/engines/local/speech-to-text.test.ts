import { MessageChannel } from 'node:worker_threads';
import { afterAll, expect, it } from 'vitest';
import { loadFliteVoice } from '../../../../../media/engines/local/flite-voice.ts';
import { loadLocalListener } from '../../../../../media/engines/local/local-listener.ts';
import { createSpeechToTextClient } from '../../../../../media/engines/local/speech-to-text-client.ts';
import type { ToStt } from '../../../../../media/engines/local/stt-messages.ts';
import { serveSttClient } from '../../../../../media/engines/local/stt-service.ts';
import { overTheLine } from '../speech-fixtures.ts';
import { describeSpeechToText, listen, type OpenRecogniser, recognise } from '../speech-to-text-conformance.ts';
import { describeHearing } from '../speech-to-text-hearing.ts';

const ANSWERS = [
  'yes please',
  'yes i can',
  'yes that works',
  'sure',
  'no sorry',
  'no i can not',
  'i can not come',
  'wrong number',
  'where can i park',
  'can i park there',
  'thank you',
  'that is all',
];
const STRANGE = [
  'maybe',
  'i do not know',
  'can you repeat that',
  'what time is it',
  'where are you calling from',
  'my dog ate the whole pizza last night',
  'that depends on the price',
  'i am driving right now',
  'let me think about that',
  'could you send me an email',
  'guess what happened',
  'the package arrived broken',
];
/** Each voice says every other sentence. */
const VOICES_BY_TURNS = [
  ['slt', 'kal16'],
  ['rms', 'awb'],
] as const;

const listenersBefore = process.listenerCount('uncaughtException');
const voice = await loadFliteVoice();
const failures: unknown[] = [];
const scheduler = await loadLocalListener((error) => failures.push(error));

afterAll(() => {
  expect(failures).toEqual([]);
});

const open: OpenRecogniser = async (rateHz) => {
  const { port1, port2 } = new MessageChannel();
  serveSttClient(port1, scheduler);
  return { recogniser: createSpeechToTextClient(port2, rateHz), close: () => port2.close() };
};
describeSpeechToText('The local recogniser behind a port', voice, open);
describeHearing('The local recogniser behind a port', voice, open);

it('leaves no uncaughtException listener of soundswallower behind', () => {
  expect(process.listenerCount('uncaughtException')).toBe(listenersBefore);
});

it('fails open streams, and later ones, when the other side of the port closes', async () => {
  const { port1, port2 } = new MessageChannel();
  const client = createSpeechToTextClient(port2, 8000);
  const before = listen(client, ['yes']);
  port1.close();
  await expect(before.final).rejects.toThrow('listen thread is gone');
  await expect(listen(client, ['yes']).final).rejects.toThrow('listen thread is gone');
});

it('drops the streams of a client whose port closes', async () => {
  const { port1, port2 } = new MessageChannel();
  serveSttClient(port1, scheduler);
  const client = createSpeechToTextClient(port2, 8000);
  const open = listen(client, ['my number is <digits>']);
  open.stream.push(new Int16Array(8000));
  while (scheduler.openStreams === 0) await new Promise((resolve) => setImmediate(resolve));
  const closed = new Promise((resolve) => port1.once('close', resolve));
  port2.close();
  await closed;
  expect(scheduler.openStreams).toBe(0);
});

it('sends audio in messages of 80 ms, copied, and the rest at finish', async () => {
  const { port1, port2 } = new MessageChannel();
  const client = createSpeechToTextClient(port2, 8000);
  const { stream } = listen(client, ['yes']);
  const frame = new Int16Array(160).fill(5);
  for (let i = 0; i < 9; i++) stream.push(frame);
  frame.fill(9);
  stream.push(frame.subarray(0, 60));
  stream.finish();
  const messages: ToStt[] = [];
  await new Promise<void>((resolve) => {
    port1.on('message', (message: ToStt) => {
      messages.push(message);
      if (message.type === 'finish') resolve();
    });
  });
  const audio = messages.flatMap((message) => (message.type === 'audio' ? [message.samples] : []));
  expect(messages.map(({ type }) => type)).toEqual(['open', 'audio', 'audio', 'audio', 'finish']);
  expect(audio.map((samples) => samples.length)).toEqual([640, 640, 220]);
  expect([audio[0]![0], audio[2]![159], audio[2]![160]]).toEqual([5, 5, 9]);
  port1.close();
});

it('accepts at most 1 of 24 strange sentences as one of 12 phrases', async () => {
  const { port1, port2 } = new MessageChannel();
  serveSttClient(port1, scheduler);
  const client = createSpeechToTextClient(port2, 8000);
  const accepted: string[] = [];
  for (const [at, said] of STRANGE.entries()) {
    for (const name of VOICES_BY_TURNS[at % VOICES_BY_TURNS.length]!) {
      const { text } = await recognise(client, ANSWERS, await overTheLine(voice, said, { voice: name }));
      if (text !== '') accepted.push(`${name}: ${said} → ${text}`);
    }
  }
  // 0 when this was written; of twice as many, by all four voices, 40 with the package's own beams.
  expect(accepted.length, accepted.join('; ')).toBeLessThanOrEqual(1);
  port2.close();
});
