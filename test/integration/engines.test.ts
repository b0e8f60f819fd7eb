/**
 * The two engine threads as they run in service: built code in worker threads, clients over
 * ports, speech from one to the other.
 */
import { MessageChannel, Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../../bench/harness/patience.ts';
import type { SpeechToText, TextToSpeech } from '../../media/contract/engines.ts';
import { type FliteVoice, loadFliteVoice } from '../../media/engines/local/flite-voice.ts';
import { createSpeechToTextClient } from '../../media/engines/local/speech-to-text-client.ts';
import { createTextToSpeechClient } from '../../media/engines/local/text-to-speech-client.ts';
import { overTheLine } from '../unit/media/engines/speech-fixtures.ts';
import { describeSpeechToText, listen, recognise } from '../unit/media/engines/speech-to-text-conformance.ts';
import { describeTextToSpeech } from '../unit/media/engines/text-to-speech-conformance.ts';

/** Attaches a client before the thread is ready, as the media process may. */
function startThread(name: 'tts-thread' | 'stt-thread'): { thread: Worker; ready: Promise<void> } {
  const thread = new Worker(new URL(`../../dist/media/threads/${name}.js`, import.meta.url));
  const ready = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${name} was not ready in ${PATIENCE_MS} ms`)), PATIENCE_MS);
    thread.once('error', reject);
    thread.once('message', (message: { type: string }) => {
      clearTimeout(timer);
      expect(message).toEqual({ type: 'ready' });
      resolve();
    });
  });
  return { thread, ready };
}

function connect<Client>(thread: Worker, create: (port: MessageChannel['port1']) => Client) {
  const { port1, port2 } = new MessageChannel();
  thread.postMessage({ type: 'client', port: port1 }, [port1]);
  return { client: create(port2), close: () => port2.close() };
}

const connectVoice = (thread: Worker) => connect<TextToSpeech>(thread, createTextToSpeechClient);
const connectListener = (thread: Worker, rateHz: 8000 | 16000 = 8000) =>
  connect<SpeechToText>(thread, (port) => createSpeechToTextClient(port, rateHz));

let speech: Worker;
let hearing: Worker;
const early: { spoken?: Promise<number> } = {};
/** Its own each time: a signal warns when more than 10 listen to it. */
const never = (): AbortSignal => new AbortController().signal;

async function speakSamples(voice: TextToSpeech, text: string, name = 'kal16'): Promise<number> {
  let samples = 0;
  await voice.synthesize({ text, voice: name, signal: never() }, (chunk) => {
    samples += chunk.samples.length;
  });
  return samples;
}

beforeAll(async () => {
  const starting = { speech: startThread('tts-thread'), hearing: startThread('stt-thread') };
  speech = starting.speech.thread;
  hearing = starting.hearing.thread;
  early.spoken = speakSamples(connectVoice(speech).client, 'I came before you were ready.');
  await Promise.all([starting.speech.ready, starting.hearing.ready]);
});

afterAll(async () => {
  await Promise.all([speech.terminate(), hearing.terminate()]);
});

const flite: FliteVoice = await loadFliteVoice();

describeTextToSpeech('The speech thread', async () => {
  const { client, close } = connectVoice(speech);
  return { voice: client, tellsWordTimes: false, givesMulaw: false, close };
});

describeSpeechToText('The listen thread', flite, async (rateHz) => {
  const { client, close } = connectListener(hearing, rateHz);
  return { recogniser: client, close };
});

describe('the engine threads', () => {
  it('serve a client that came before they were ready', async () => {
    expect(await early.spoken).toBeGreaterThan(8_000);
  });

  it('speak the first sentence of 20 callers before the 100th sentence of a 21st', async () => {
    const clients = Array.from({ length: 21 }, () => connectVoice(speech));
    let longChunks = 0;
    let longChunksAtLastFirst = -1;
    const long = clients[0]!.client.synthesize(
      { text: 'A sentence of a long text. '.repeat(100), voice: 'kal16', signal: never() },
      () => {
        longChunks++;
      },
    );
    await Promise.all(clients.slice(1).map(({ client }) => speakSamples(client, 'Hello. How are you?')));
    longChunksAtLastFirst = longChunks;
    await long;
    expect(longChunks).toBe(100);
    expect(longChunksAtLastFirst).toBeLessThan(50);
    for (const { close } of clients) close();
  });

  it('hear 28 streams at once over 4 clients, more than there are decoders, each right and each with one final', async () => {
    const clients = Array.from({ length: 4 }, () => connectListener(hearing));
    const said = ['yes please', 'tuesday', 'next monday', 'no thank you'];
    const audio = await Promise.all(said.map((text) => overTheLine(flite, text)));
    const listening = Array.from({ length: 28 }, (_, i) => listen(clients[i % 4]!.client, [...said, 'yes', 'no']));
    const longest = Math.max(...audio.map((samples) => samples.length));
    for (let at = 0; at < longest; at += 160) {
      listening.forEach(({ stream }, i) => {
        stream.push(audio[i % 4]!.subarray(at, at + 160));
      });
    }
    for (const { stream } of listening) stream.finish();
    const finals = await Promise.all(listening.map(({ final }) => final));
    expect(finals.map(({ text }) => text)).toEqual(listening.map((_, i) => said[i % 4]));
    expect(listening.every(({ finals: all, errors }) => all.length === 1 && errors.length === 0)).toBe(true);
    for (const { close } of clients) close();
  });

  it('fail what is open when a thread dies, on the voice and on the recogniser', async () => {
    const doomed = [startThread('tts-thread'), startThread('stt-thread')] as const;
    await Promise.all(doomed.map(({ ready }) => ready));
    const voice = connectVoice(doomed[0].thread).client;
    const recogniser = connectListener(doomed[1].thread).client;
    const speaking = voice.synthesize({ text: 'Words. '.repeat(300), voice: 'slt', signal: never() }, () => {});
    const speakingFails = expect(speaking).rejects.toMatchObject({ name: 'VoiceError', code: 'engine_gone' });
    const listening = listen(recogniser, ['yes']);
    listening.stream.push(new Int16Array(1600));
    const listeningFails = expect(listening.final).rejects.toThrow('gone');
    await Promise.all(doomed.map(({ thread }) => thread.terminate()));
    await Promise.all([speakingFails, listeningFails]);
    expect(listening.errors).toHaveLength(1);
  });

  it('survive messages that are none of theirs', async () => {
    for (const thread of [speech, hearing]) {
      const { port1, port2 } = new MessageChannel();
      thread.postMessage({ type: 'client', port: port1 }, [port1]);
      thread.postMessage({ type: 'client' });
      thread.postMessage({ type: 'nonsense' });
      for (const message of [
        null,
        7,
        'text',
        {},
        { type: 'cancel', id: 99 },
        { type: 'audio', id: 99, samples: 'none' },
        { type: 'synthesize', id: 1 },
        { type: 'open', id: 1, rateHz: 11025, grammar: { phrases: ['yes'] } },
        { type: 'open', id: 2, rateHz: 8000 },
        { type: 'open', id: 3, rateHz: 8000, grammar: { phrases: 'yes' } },
        { type: 'open', id: 4, rateHz: 8000, grammar: { phrases: ['yes'] } },
        { type: 'audio', id: 4, samples: 'none' },
        { type: 'finish', id: 4 },
      ]) {
        port2.postMessage(message);
      }
      port2.close();
    }
    expect(await speakSamples(connectVoice(speech).client, 'Still here.')).toBeGreaterThan(4_000);
    const heard = await recognise(
      connectListener(hearing).client,
      ['yes please'],
      await overTheLine(flite, 'yes please'),
    );
    expect(heard.text).toBe('yes please');
  });
});
