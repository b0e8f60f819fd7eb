/** The official client at the emulated Deepgram, and a line over which somebody speaks to it in real time. */
import { Agent as HttpsAgent } from 'node:https';
import { DeepgramClient } from '@deepgram/sdk';
import { Agent, fetch as undiciFetch } from 'undici';
import type { ProviderEndpoint } from '../../../bench/emulators/providers/provider-endpoint.ts';
import { startWordRecogniser, type WordRecogniser } from '../../../bench/emulators/providers/word-recogniser.ts';
import { encodeMulaw } from '../../../media/audio/g711.ts';
import { systemClock } from '../../../media/contract/clock.ts';
import { eventually } from '../../support/eventually.ts';

export const KEY = 'canary-deepgram-key';
const FRAME_MS = 20;

export function deepgramClient(endpoint: ProviderEndpoint, apiKey = KEY): DeepgramClient {
  const dispatcher = new Agent({ connect: { ca: endpoint.caPem } });
  const { origin, socketOrigin } = endpoint;
  return new DeepgramClient({
    apiKey,
    environment: { base: origin, production: socketOrigin, agent: socketOrigin, agentRest: origin },
    agent: new HttpsAgent({ ca: endpoint.caPem }),
    maxRetries: 0,
    fetch: ((url: string, init: object) => undiciFetch(url, { ...init, dispatcher })) as unknown as typeof fetch,
  });
}

export const PHONE = { encoding: 'mulaw', sample_rate: 8000 } as const;

interface AnySocket {
  on(event: 'message', listener: (message: never) => void): void;
  on(event: 'close', listener: (event: { code: number; reason: string }) => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
  sendMedia(bytes: Uint8Array): void;
  connect(): unknown;
  waitForOpen(): Promise<unknown>;
  close(): void;
}

/** What came over one socket, and how it ended. */
export interface Heard<Message> {
  messages: Message[];
  closed: { code: number; reason: string } | null;
  errors: string[];
}

export function listenTo<Message>(socket: AnySocket): Heard<Message> {
  const heard: Heard<Message> = { messages: [], closed: null, errors: [] };
  socket.on('message', (message) => heard.messages.push(message));
  socket.on('close', ({ code, reason }) => {
    heard.closed = { code, reason };
  });
  socket.on('error', (error) => heard.errors.push(error.message));
  return heard;
}

/** Opens it, and says whether that worked. */
export async function opened(socket: AnySocket, heard: Heard<unknown>): Promise<boolean> {
  socket.connect();
  const open = socket.waitForOpen().then(
    () => true,
    () => false,
  );
  return Promise.race([open, eventually('an error', () => heard.errors.length > 0).then(() => false)]);
}

/** At the pace of a call: a frame each `frameMs`, several at once when the machine was busy. */
export async function speak(
  socket: Pick<AnySocket, 'sendMedia'>,
  samples: Int16Array,
  encoding: 'mulaw' | 'linear16' = 'mulaw',
  rateHz = 8000,
  frameMs = FRAME_MS,
): Promise<void> {
  const frameSamples = (rateHz * frameMs) / 1000;
  const startedAtMs = systemClock.nowMs();
  for (let frame = 0; frame * frameSamples < samples.length; frame++) {
    const waitMs = startedAtMs + frame * frameMs - systemClock.nowMs();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    socket.sendMedia(bytesOf(samples.slice(frame * frameSamples, (frame + 1) * frameSamples), encoding));
  }
}

function bytesOf(samples: Int16Array, encoding: 'mulaw' | 'linear16'): Uint8Array {
  if (encoding === 'linear16') return new Uint8Array(samples.buffer);
  const bytes = new Uint8Array(samples.length);
  encodeMulaw(samples, 0, samples.length, bytes, 0);
  return bytes;
}

/** Ears that say how much they have heard: on a busy machine their words come long after the sound. */
export interface ToldRecogniser extends WordRecogniser {
  /** Of the stretch that was opened last. */
  readonly wordsSoFar: number;
}

export async function startToldRecogniser(): Promise<ToldRecogniser> {
  const recogniser = await startWordRecogniser((error) => {
    throw error;
  });
  let wordsSoFar = 0;
  return {
    ...recogniser,
    get wordsSoFar() {
      return wordsSoFar;
    },
    open(rateHz, phrases, onWords, onError) {
      wordsSoFar = 0;
      const told: typeof onWords = (heard) => {
        wordsSoFar = heard.words.length;
        onWords(heard);
      };
      return recogniser.open(rateHz, phrases, told, onError);
    },
  };
}

export const silence = (ms: number, rateHz = 8000): Int16Array => new Int16Array((ms * rateHz) / 1000);
