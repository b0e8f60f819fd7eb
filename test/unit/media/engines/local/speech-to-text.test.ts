import { MessageChannel } from 'node:worker_threads';
import { afterAll, expect, it } from 'vitest';
import { loadFliteVoice } from '../../../../../media/engines/local/flite-voice.ts';
import { serveListenClient } from '../../../../../media/engines/local/listen-service.ts';
import { loadLocalListener } from '../../../../../media/engines/local/local-listener.ts';
import { createSpeechToTextClient } from '../../../../../media/engines/local/speech-to-text-client.ts';
import { describeSpeechToText, listen } from '../speech-to-text-conformance.ts';

const listenersBefore = process.listenerCount('uncaughtException');
const voice = await loadFliteVoice();
const failures: unknown[] = [];
const scheduler = await loadLocalListener((error) => failures.push(error));

afterAll(() => {
  expect(failures).toEqual([]);
});

describeSpeechToText('The local recogniser behind a port', voice, async (rateHz) => {
  const { port1, port2 } = new MessageChannel();
  serveListenClient(port1, scheduler);
  return { recogniser: createSpeechToTextClient(port2, rateHz), close: () => port2.close() };
});

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
  serveListenClient(port1, scheduler);
  const client = createSpeechToTextClient(port2, 8000);
  const open = listen(client, ['my number is <digits>']);
  open.stream.push(new Int16Array(8000));
  while (scheduler.openStreams === 0) await new Promise((resolve) => setImmediate(resolve));
  const closed = new Promise((resolve) => port1.once('close', resolve));
  port2.close();
  await closed;
  expect(scheduler.openStreams).toBe(0);
});
