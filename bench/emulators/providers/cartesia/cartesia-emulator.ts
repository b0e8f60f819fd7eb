/**
 * The emulated Cartesia: speech over its WebSocket, spoken by `../voice`, and the list of voices. Started by tests in
 * their process, and by `main.ts`. The official client judges it (`test/integration/emulators/cartesia.test.ts`).
 */
import { randomUUID } from 'node:crypto';
import type { Answer, HttpExchange, Provider, ProviderRequest } from '../provider.ts';
import { type EndpointOptions, type ProviderEndpoint, startProviderEndpoint } from '../provider-endpoint.ts';
import type { EmulatedVoice } from '../voice/emulated-voice.ts';
import { VOICES } from './generation-request.ts';
import { DEFAULT_LATENCIES, type Latencies, openSpeechSocket } from './speech-socket.ts';

export interface CartesiaOptions extends EndpointOptions {
  voice: EmulatedVoice | null;
  latencies?: Partial<Latencies>;
  mostContexts?: number;
}

const MOST_CONTEXTS = 15;
const REVOKED = 1008;

export async function startCartesiaEmulator(options: CartesiaOptions): Promise<ProviderEndpoint> {
  const { voice } = options;
  if (voice === null) throw new Error('the emulated Cartesia needs a voice: startEmulatedVoice()');
  const latencies = { ...DEFAULT_LATENCIES, ...options.latencies };
  const mostContexts = options.mostContexts ?? MOST_CONTEXTS;
  const provider: Provider = {
    name: 'cartesia',
    keyOf,
    unauthorized: (_request, key) =>
      failure(401, 'Unauthorized', key === null ? 'No API key was given.' : 'The API key is invalid.'),
    failure: (_request, status) => failure(status, 'Failed', status === 429 ? 'Too many requests.' : 'It failed.'),
    revoked: (socket) => socket.close(REVOKED, 'The API key was revoked.'),
    foreign: (message) =>
      typeof message === 'object' && 'context_id' in message ? { ...message, context_id: 'of-another' } : message,
    request: answerHttp,
    upgrade: (request) =>
      request.path === '/tts/websocket'
        ? { open: (socket) => openSpeechSocket(socket, { voice, latencies, mostContexts }) }
        : { refuse: failure(404, 'Not found', 'There is nothing here.') },
    journaled: withoutSound,
  };
  return startProviderEndpoint(provider, options);
}

/** By header or, as browsers have none, in the query. */
function keyOf({ headers, query }: ProviderRequest): string | null {
  const key = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /, '') ?? query.get('api_key');
  return typeof key === 'string' ? key : null;
}

function answerHttp(exchange: HttpExchange): void {
  if (exchange.method !== 'GET' || exchange.path !== '/voices') {
    exchange.answer(failure(404, 'Not found', 'There is nothing here.'));
    return;
  }
  const data = Object.keys(VOICES).map((id) => ({
    id,
    name: id,
    description: 'Emulated.',
    language: 'en',
    is_owner: false,
  }));
  exchange.answer({ status: 200, body: { data, has_more: false } });
}

function failure(status: number, title: string, message: string): Answer {
  return { status, body: { error_code: `http_${status}`, title, message, request_id: randomUUID() } };
}

function withoutSound(message: unknown): unknown {
  const data = (message as { data?: unknown } | null)?.data;
  return typeof data === 'string' ? { ...(message as object), data: `${data.length} characters` } : message;
}
