/**
 * An emulated Deepgram: live recognition at `/v1/listen` and `/v2/listen` (Flux), speech at `/v1/speak` (Aura) and
 * `/v2/speak` (Flux), and the requests that check a key.
 * It hears the sound that it gets and nothing else; which phrases it can tell is said by `vocabulary` and by the
 * client's key terms. Tests start it in their process, people by `main.ts`.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Answer, Message, Provider, ProviderRequest, SocketExchange, Upgrade } from '../provider.ts';
import { type EndpointOptions, type ProviderEndpoint, startProviderEndpoint } from '../provider-endpoint.ts';
import type { EmulatedVoice } from '../voice/emulated-voice.ts';
import { startWordRecogniser, type WordRecogniser } from '../word-recogniser.ts';
import { openFlux } from './flux.ts';
import { readFlux } from './flux-settings.ts';
import { type Latencies, type LatenciesInput, latenciesSchema } from './latencies.ts';
import { openListenV1, readListenV1 } from './listen-v1.ts';
import { QueryFault } from './query.ts';
import { openSpeak, readSpeak, type SpeakLatencies } from './speak.ts';

export interface DeepgramOptions extends EndpointOptions {
  /** Null: it does not speak. */
  voice?: EmulatedVoice | null;
  speakLatencies?: Partial<SpeakLatencies>;
  /** What callers may say, in words of the English dictionary, written as it is to come back: `Yes, please.` */
  vocabulary?: readonly string[];
  latencies?: LatenciesInput;
  /** Default: one of its own, which is closed with the emulator. */
  recogniser?: WordRecogniser | undefined;
}

export interface DeepgramEmulator extends ProviderEndpoint {
  /** For sockets that open from now on. */
  expect(vocabulary: readonly string[]): void;
  script(...faults: Parameters<ProviderEndpoint['script']>): void;
}

const SPEAK_LATENCIES: SpeakLatencies = { firstAudioMs: 120, chunkMs: 200, chunkEveryMs: 20 };
const PROJECT = { project_id: '00000000-0000-4000-8000-000000000001', name: 'emulated' };
const ERRORS: Record<number, { err_code: string; err_msg: string }> = {
  402: { err_code: 'ASR_PAYMENT_REQUIRED', err_msg: 'Project does not have enough credits for an ASR request.' },
  403: { err_code: 'INSUFFICIENT_PERMISSIONS', err_msg: 'User does not have sufficient permissions.' },
  404: { err_code: 'NOT_FOUND', err_msg: 'Not found.' },
  429: { err_code: 'TOO_MANY_REQUESTS', err_msg: 'Too many requests. Please try again later.' },
};
const vocabularySchema = z.array(z.string());

export async function startDeepgramEmulator(options: DeepgramOptions): Promise<DeepgramEmulator> {
  let vocabulary = options.vocabulary ?? [];
  let latencies: Latencies = latenciesSchema.parse(options.latencies ?? {});
  const ownRecogniser = options.recogniser === undefined;
  const recogniser = options.recogniser ?? (await startWordRecogniser((error) => warn(error.message)));
  let warn = (message: string): void => void message;

  const speakLatencies = { ...SPEAK_LATENCIES, ...options.speakLatencies };

  function upgrade(request: ProviderRequest): Upgrade {
    const requestId = randomUUID();
    const shared = () => ({ recogniser, vocabulary, latencies, requestId });
    const headers = { 'dg-request-id': requestId };
    try {
      switch (request.path) {
        case '/v1/listen': {
          const settings = readListenV1(request.query);
          return { headers, ...protocolOf(request), open: (socket) => openListenV1(socket, { ...shared(), settings }) };
        }
        case '/v2/listen': {
          const settings = readFlux(request.query);
          return { headers, ...protocolOf(request), open: (socket) => openFlux(socket, { ...shared(), settings }) };
        }
        case '/v1/speak':
        case '/v2/speak': {
          const { voice = null } = options;
          if (voice === null) return { refuse: failure(404, ERRORS[404]) };
          const settings = readSpeak(request.query, request.path === '/v2/speak');
          return {
            headers,
            ...protocolOf(request),
            open: (socket) => openSpeak(socket, { settings, voice, latencies: speakLatencies, requestId }),
          };
        }
        default:
          return { refuse: failure(404, ERRORS[404]) };
      }
    } catch (error) {
      if (error instanceof QueryFault)
        return { refuse: failure(400, { err_code: 'Bad Request', err_msg: `Bad Request: ${error.message}` }) };
      throw error;
    }
  }

  const provider: Provider = {
    name: 'deepgram',
    keyOf,
    unauthorized: () => failure(401, { err_code: 'INVALID_AUTH', err_msg: 'Invalid credentials.' }),
    failure: (_request, status) => failure(status),
    revoked: (socket: SocketExchange) => socket.close(1008, 'INVALID_AUTH: The key was revoked.'),
    foreign,
    request(exchange) {
      if (exchange.method === 'GET' && exchange.path === '/v1/auth/token')
        return exchange.answer({ status: 200, body: { api_key_id: PROJECT.project_id, scopes: ['member'] } });
      if (exchange.method === 'GET' && exchange.path === '/v1/projects')
        return exchange.answer({ status: 200, body: { projects: [PROJECT] } });
      exchange.answer(failure(404, ERRORS[404]));
    },
    upgrade,
    control(route, body) {
      if (route === 'POST /emulator/vocabulary') vocabulary = vocabularySchema.parse(body);
      else if (route === 'POST /emulator/latencies') latencies = latenciesSchema.parse(body);
      else return null;
      return { vocabulary, latencies };
    },
    async close() {
      if (ownRecogniser) await recogniser.close();
    },
  };
  const endpoint = await startProviderEndpoint(provider, options);
  warn = (message) => endpoint.journal.note('deepgram', 'warning', { message });
  return Object.assign(endpoint, {
    expect(phrases: readonly string[]) {
      vocabulary = phrases;
    },
  });
}

/** `Authorization: Token KEY` (or `Bearer`), or the subprotocols `token, KEY` of browsers. */
function keyOf({ headers }: ProviderRequest): string | null {
  const [, key] = /^(?:token|bearer)\s+(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  if (key !== undefined) return key;
  const [scheme, inProtocol] = (headers['sec-websocket-protocol'] ?? '').split(/,\s*/);
  return (scheme === 'token' || scheme === 'bearer') && inProtocol !== undefined ? inProtocol : null;
}

function protocolOf({ headers }: ProviderRequest): { protocol?: string } {
  const [scheme] = (headers['sec-websocket-protocol'] ?? '').split(',', 1);
  return scheme === undefined || scheme === '' ? {} : { protocol: scheme };
}

function failure(status: number, error = ERRORS[status]): Answer {
  const { err_code, err_msg } = error ?? { err_code: 'INTERNAL_SERVER_ERROR', err_msg: 'Internal server error.' };
  const requestId = randomUUID();
  return {
    status,
    headers: { 'dg-request-id': requestId, 'dg-error': err_msg },
    body: { err_code, err_msg, request_id: requestId },
  };
}

/** What somebody else would get: of another request, with words that nobody said here. */
function foreign(message: Message): Message {
  if (typeof message === 'string' || Buffer.isBuffer(message)) return message;
  const id = randomUUID();
  const of = message as Record<string, unknown>;
  const word = { word: 'stranger', start: 0.1, end: 0.5, confidence: 0.99 };
  const words = { transcript: 'stranger', words: [word] };
  if (of['type'] === 'Results') {
    const channel = { alternatives: [{ ...words, confidence: 0.99 }] };
    return { ...of, channel, metadata: { ...(of['metadata'] as object), request_id: id } };
  }
  return { ...of, request_id: id, ...(of['type'] === 'TurnInfo' ? words : {}) };
}
