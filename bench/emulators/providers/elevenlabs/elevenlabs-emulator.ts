/**
 * The emulated ElevenLabs: `multi-stream-input`, `stream-input`, and speech over HTTP, spoken by `../voice`. Started by
 * tests in their process, and by `main.ts`. Judged in `test/integration/emulators/elevenlabs.test.ts`.
 */

import type { Provider, ProviderRequest, SocketExchange, Upgrade } from '../provider.ts';
import { type EndpointOptions, type ProviderEndpoint, startProviderEndpoint } from '../provider-endpoint.ts';
import type { EmulatedVoice } from '../voice/emulated-voice.ts';
import type { DurationsKey } from './alignment.ts';
import { closeWithError, failureAnswer, INVALID_KEY, unauthorizedAnswer } from './api-error.ts';
import { readClientMessage, withoutKey } from './client-message.ts';
import { answerHttp } from './http-routes.ts';
import { MultiStream } from './multi-stream.ts';
import { SingleStream } from './single-stream.ts';
import type { SocketOptions } from './socket-options.ts';
import { readSocketParameters } from './socket-parameters.ts';
import { DEFAULT_LATENCIES, type Latencies } from './speaking.ts';
import { fliteVoiceOf } from './voices.ts';

export interface ElevenLabsOptions extends EndpointOptions {
  voice: EmulatedVoice | null;
  latencies?: Partial<Latencies>;
  /** Default: as the service sends it, and not as it is documented. */
  durationsKey?: DurationsKey;
  mostContexts?: number;
}

const MOST_CONTEXTS = 5;
const FOREIGN_CONTEXT = 'context-of-another';

export async function startElevenLabsEmulator(options: ElevenLabsOptions): Promise<ProviderEndpoint> {
  if (options.voice === null) throw new Error('the emulated ElevenLabs needs a voice: startEmulatedVoice()');
  const shared: SocketOptions = {
    voice: options.voice,
    latencies: { ...DEFAULT_LATENCIES, ...options.latencies },
    durationsKey: options.durationsKey ?? 'charDurationsMs',
    mostContexts: options.mostContexts ?? MOST_CONTEXTS,
  };
  return startProviderEndpoint(elevenLabs(shared), options);
}

function elevenLabs(options: SocketOptions): Provider {
  const { closeAfterMs } = options.latencies;

  function open(socket: SocketExchange, request: ProviderRequest): MultiStream | SingleStream | null {
    const parameters = readSocketParameters(request)!;
    if ('refuse' in parameters) return null;
    const voiceName = fliteVoiceOf(parameters.voiceId);
    if (voiceName === null) {
      const message = `A voice with voice_id ${parameters.voiceId} does not exist.`;
      closeWithError(socket, { error: 'voice_id_does_not_exist', message }, closeAfterMs);
      return null;
    }
    return parameters.isMulti
      ? new MultiStream(socket, parameters, options, voiceName)
      : new SingleStream(socket, parameters, options, voiceName);
  }

  function upgradeOf(request: ProviderRequest, opened: (socket: SocketExchange) => void): Upgrade {
    const parameters = readSocketParameters(request);
    if (parameters === null) return { refuse: failureAnswer(404) };
    return 'refuse' in parameters ? parameters : { open: opened };
  }

  return {
    name: 'elevenlabs',
    keyOf({ headers, query }) {
      const named = headers['xi-api-key'] ?? headers.authorization ?? query.get('authorization');
      return typeof named === 'string' ? named.replace(/^Bearer /, '') : null;
    },
    unauthorized: (_request, key) => unauthorizedAnswer(key),
    failure: (_request, status) => failureAnswer(status),
    revoked: (socket) => closeWithError(socket, INVALID_KEY, closeAfterMs),
    foreign: (message) =>
      typeof message === 'object' && 'contextId' in message ? { ...message, contextId: FOREIGN_CONTEXT } : message,
    request: (exchange) => answerHttp(exchange, options),
    upgrade: (request) => upgradeOf(request, (socket) => void open(socket, request)),
    // The key may come in the first message; a wrong one is told on the open socket.
    unauthorizedUpgrade: (request, key, counts) =>
      upgradeOf(request, (socket) => {
        if (key !== null) return closeWithError(socket, INVALID_KEY, closeAfterMs);
        socket.onMessage((first) => {
          if (!counts(keyIn(first) ?? '')) return closeWithError(socket, INVALID_KEY, closeAfterMs);
          open(socket, request)?.take(first);
        });
      }),
    journaled: (message) => withoutSound(withoutKey(message)),
  };
}

function keyIn(message: string | Buffer): string | null {
  try {
    return readClientMessage(message).key;
  } catch {
    return null;
  }
}

function withoutSound(message: unknown): unknown {
  const audio = (message as { audio?: unknown } | null)?.audio;
  return typeof audio === 'string' ? { ...(message as object), audio: `${audio.length} characters` } : message;
}
