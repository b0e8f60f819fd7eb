import { MessageChannel } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { systemClock } from '../../../../../media/contract/clock.ts';
import { loadFliteVoice } from '../../../../../media/engines/local/flite-voice.ts';
import { createTextToSpeechClient } from '../../../../../media/engines/local/text-to-speech-client.ts';
import { createTtsScheduler } from '../../../../../media/engines/local/tts-scheduler.ts';
import { serveTtsClient } from '../../../../../media/engines/local/tts-service.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const voice = await loadFliteVoice();

it('fails what is pending, and what comes later, with code engine_gone when the other side of the port closes', async () => {
  const { port1, port2 } = new MessageChannel();
  const client = createTextToSpeechClient(port2);
  const signal = new AbortController().signal;
  const pending = client.synthesize({ text: 'Hello.', voice: 'slt', signal }, () => {});
  port1.close();
  await expect(pending).rejects.toMatchObject({ name: 'VoiceError', code: 'engine_gone' });
  const later = client.synthesize({ text: 'Hello.', voice: 'slt', signal }, () => {});
  await expect(later).rejects.toMatchObject({ code: 'engine_gone' });
});

it('drops the requests of a client whose port closes', async () => {
  const { port1, port2 } = new MessageChannel();
  const scheduler = createTtsScheduler(voice, systemClock, setImmediate);
  serveTtsClient(port1, scheduler, systemClock);
  const client = createTextToSpeechClient(port2);
  const signal = new AbortController().signal;
  const first = new Promise<void>((resolve) => {
    client.synthesize({ text: 'A sentence. '.repeat(100), voice: 'kal16', signal }, () => resolve()).catch(() => {});
  });
  await first;
  expect(scheduler.waitingRequests).toBe(1);
  const closed = new Promise((resolve) => port1.once('close', resolve));
  port2.close();
  await closed;
  expect(scheduler.waitingRequests).toBe(0);
});

it('stops the work on the other side when a request is cancelled', async () => {
  const { port1, port2 } = new MessageChannel();
  const scheduler = createTtsScheduler(voice, systemClock, setImmediate);
  serveTtsClient(port1, scheduler, systemClock);
  const client = createTextToSpeechClient(port2);
  const abort = new AbortController();
  const text = 'A sentence. '.repeat(100);
  const cancelled = client.synthesize({ text, voice: 'kal16', signal: abort.signal }, () => abort.abort());
  await expect(cancelled).rejects.toMatchObject({ name: 'AbortError' });
  await client.synthesize({ text: 'Next.', voice: 'kal16', signal: new AbortController().signal }, () => {});
  expect(scheduler.waitingRequests).toBe(0);
  port2.close();
});

it('tells a client that waits each second that the thread works, and then no more', async () => {
  const { port1, port2 } = new MessageChannel();
  const clock = new VirtualClock();
  const turns: (() => void)[] = [];
  const scheduler = createTtsScheduler(voice, clock, (run) => turns.push(run));
  serveTtsClient(port1, scheduler, clock);
  const client = createTextToSpeechClient(port2);
  let told = 0;
  let tell: () => void = () => {};
  const request = { text: 'Hello.', voice: 'kal16', signal: new AbortController().signal };
  const done = client.synthesize(
    {
      ...request,
      onQueued: () => {
        told++;
        tell();
      },
    },
    () => {},
  );
  while (scheduler.waitingRequests === 0) await new Promise(setImmediate);
  for (let second = 1; second <= 3; second++) {
    const heard = new Promise<void>((resolve) => {
      tell = resolve;
    });
    clock.advanceMs(1_000);
    await heard;
    expect(told).toBe(second);
  }
  while (turns.length > 0) turns.shift()!();
  await done;
  clock.advanceMs(5_000);
  expect(clock.pendingTimers).toBe(0);
  port2.close();
});
