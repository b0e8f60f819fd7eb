/**
 * An emulated AssemblyAI: its streaming (v3) at `/v3/ws`, and tokens for it. It hears the sound that it gets and
 * nothing else; which phrases it can tell is said by `vocabulary` and by the client's key terms. Tests start it in
 * their process, people by `main.ts`.
 */
import { randomUUID } from 'node:crypto';
import type { Answer, Message, Provider, ProviderRequest, SocketExchange, Upgrade } from '../provider.ts';
import { type EndpointOptions, type ProviderEndpoint, startProviderEndpoint } from '../provider-endpoint.ts';
import type { WordRecogniser } from '../word-recogniser.ts';
import { type LatenciesInput, latenciesSchema } from './latencies.ts';
import { openSession } from './session.ts';
import { readSettings, SettingFault } from './session-settings.ts';

export interface AssemblyAiOptions extends EndpointOptions {
  /** What callers may say, in words of the English dictionary, written as it is to come back: `Yes, please.` */
  vocabulary?: readonly string[];
  latencies?: LatenciesInput;
  /** Closed by who gives it. */
  recogniser?: WordRecogniser | undefined;
}

const PATH = '/v3/ws';
const SEE_ERROR = 'See Error message for details';

export async function startAssemblyAiEmulator(options: AssemblyAiOptions): Promise<ProviderEndpoint> {
  const { vocabulary = [] } = options;
  const recogniser = earsOf(options.recogniser);
  const latencies = latenciesSchema.parse(options.latencies ?? {});
  /** Keys by the tokens that were made of them. */
  const tokens = new Map<string, string>();

  function upgrade({ path, query }: ProviderRequest): Upgrade {
    if (path !== PATH) return { refuse: failure(404, 'Not found') };
    return {
      open(socket) {
        try {
          const settings = readSettings(query);
          openSession(socket, { id: randomUUID(), settings, recogniser, vocabulary, latencies });
        } catch (error) {
          if (!(error instanceof SettingFault)) throw error;
          end(socket, 3006, error.message);
        }
      },
    };
  }

  const provider: Provider = {
    name: 'assemblyai',
    keyOf({ headers, query }) {
      const token = query.get('token');
      if (token !== null) return tokens.get(token) ?? token;
      return headers.authorization ?? null;
    },
    unauthorized: () => failure(401, 'Authentication error, API token missing/invalid'),
    failure: (_request, status) => failure(status, status === 429 ? 'Too many requests' : 'Internal server error'),
    revoked: (socket) => end(socket, 1008, 'Unauthorized Connection: Invalid API key'),
    // No message names its session.
    foreign: (message: Message) => message,
    request(exchange) {
      if (exchange.method !== 'GET' || exchange.path !== '/v3/token') return exchange.answer(failure(404, 'Not found'));
      const expiresInSeconds = Number(exchange.query.get('expires_in_seconds'));
      if (!(expiresInSeconds >= 1 && expiresInSeconds <= 600))
        return exchange.answer(failure(400, 'expires_in_seconds must be between 1 and 600'));
      const token = randomUUID();
      tokens.set(token, provider.keyOf(exchange)!);
      exchange.answer({ status: 200, body: { token, expires_in_seconds: expiresInSeconds } });
    },
    upgrade,
    /** The key is looked at when the socket is open. */
    unauthorizedUpgrade: ({ path }, key) =>
      path === PATH
        ? {
            open: (socket) =>
              end(
                socket,
                1008,
                `Unauthorized Connection: ${key === null ? 'Missing Authorization header' : 'Invalid API key'}`,
              ),
          }
        : { refuse: failure(404, 'Not found') },
  };
  return startProviderEndpoint(provider, options);
}

function earsOf(recogniser: WordRecogniser | undefined): WordRecogniser {
  if (recogniser === undefined) throw new Error('the emulated AssemblyAI needs ears: startWordRecogniser()');
  return recogniser;
}

function end(socket: SocketExchange, code: number, said: string): void {
  socket.send({ type: 'Error', error_code: code, error: said });
  socket.close(code, SEE_ERROR);
}

function failure(status: number, error: string): Answer {
  return { status, body: { error } };
}
