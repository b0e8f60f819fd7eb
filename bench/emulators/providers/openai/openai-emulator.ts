/**
 * The emulated OpenAI: chat completions that a scenario answers, the list of models, speech, and live transcription.
 * Started by tests in their process, and by `main.ts`. The official client judges it
 * (`test/integration/emulators/openai.test.ts`).
 */
import { modelProvider } from '../mind/model-provider.ts';
import { parseScenario, type Scenario, type ScenarioInput } from '../mind/scenario.ts';
import type { HttpExchange, Message, Provider } from '../provider.ts';
import { type EndpointOptions, type ProviderEndpoint, startProviderEndpoint } from '../provider-endpoint.ts';
import type { EmulatedVoice } from '../voice/emulated-voice.ts';
import type { WordRecogniser } from '../word-recogniser.ts';
import { errorAnswer, failureAnswer, RequestRefused, unauthorizedAnswer } from './api-error.ts';
import { answerChat } from './chat-endpoint.ts';
import { answerSpeech, SPEECH_MODELS, type SpeechTiming } from './speech-endpoint.ts';
import { openTranscription, type TranscriptionTiming } from './transcription-session.ts';

export interface OpenAiOptions extends EndpointOptions {
  scenario: ScenarioInput;
  /** Null: it does not speak. */
  voice: EmulatedVoice | null;
  speechTiming?: Partial<SpeechTiming>;
  /** Undefined: it does not hear. Closed by who gives it. */
  recogniser?: WordRecogniser | undefined;
  /** What callers may say, written as it is to come back. */
  vocabulary?: readonly string[];
  transcriptionTiming?: Partial<TranscriptionTiming>;
}

const SPEECH_TIMING: SpeechTiming = { firstAudioMs: 120, chunkMs: 200, chunkEveryMs: 20 };
const TRANSCRIPTION_TIMING: TranscriptionTiming = { deltaMs: 150, completedMs: 250 };
const RELEASED = 1_700_000_000;

export function startOpenAiEmulator(options: OpenAiOptions): Promise<ProviderEndpoint> {
  const scenario = parseScenario(options.scenario);
  const timing = { ...SPEECH_TIMING, ...options.speechTiming };
  const provider = { ...openAi(scenario, options.voice, timing), ...socketsOf(options) };
  return startProviderEndpoint(provider, options);
}

function socketsOf({ recogniser, vocabulary = [], transcriptionTiming }: OpenAiOptions): Partial<Provider> {
  if (recogniser === undefined) return {};
  const timing = { ...TRANSCRIPTION_TIMING, ...transcriptionTiming };
  return {
    upgrade: ({ path, query }) =>
      path === '/v1/realtime' && query.get('intent') === 'transcription'
        ? { open: (socket) => openTranscription(socket, { recogniser, vocabulary, timing }) }
        : { refuse: failureAnswer(404) },
    revoked: (socket) => socket.close(3000, 'invalid_request_error.invalid_api_key'),
    journaled: withoutSound,
  };
}

function withoutSound(message: unknown): unknown {
  const audio = (message as { audio?: unknown } | null)?.audio;
  return typeof audio === 'string' ? { ...(message as object), audio: `${audio.length} characters` } : message;
}

function openAi(first: Scenario, voice: EmulatedVoice | null, timing: SpeechTiming): Provider {
  async function route(exchange: HttpExchange, scenario: Scenario): Promise<void> {
    const { method, path } = exchange;
    const names = [...scenario.models, ...(voice === null ? [] : SPEECH_MODELS)];
    const models = names.map((id) => ({ id, object: 'model', created: RELEASED, owned_by: 'parley' }));
    if (method === 'POST' && path === '/v1/chat/completions') return answerChat(exchange, scenario);
    if (method === 'POST' && path === '/v1/audio/speech' && voice !== null)
      return answerSpeech(exchange, voice, timing);
    if (method === 'GET' && path === '/v1/models')
      return exchange.answer({ status: 200, body: { object: 'list', data: models } });
    const named = method === 'GET' ? models.find(({ id }) => path === `/v1/models/${id}`) : undefined;
    if (named !== undefined) return exchange.answer({ status: 200, body: named });
    throw new RequestRefused(`Invalid URL (${method} ${path})`, null, null, 404);
  }

  return modelProvider(first, {
    name: 'openai',
    keyOf: ({ headers }) => /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? null,
    unauthorized: (_request, key) => unauthorizedAnswer(key),
    failure: (_request, status) => failureAnswer(status),
    foreign: foreignChunk,
    route,
    refusalOf(error) {
      if (!(error instanceof RequestRefused)) return null;
      const { status, message } = error.error;
      return { status, message, answer: errorAnswer(error.error) };
    },
  });
}

/** A chunk of a stream under another answer's id, with other words; what a session says names none. */
function foreignChunk(message: Message): Message {
  if (typeof message !== 'string' || !message.startsWith('data: {')) return message;
  return message
    .replace(/"id":"chatcmpl-[^"]*"/, '"id":"chatcmpl-of-another"')
    .replace(/"content":"[^"]+"/, '"content":" elsewhere"');
}
