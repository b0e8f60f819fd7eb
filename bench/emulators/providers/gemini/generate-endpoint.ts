/**
 * `POST /v1beta/models/{model}:generateContent` and `:streamGenerateContent?alt=sse` of the emulated Gemini: checks the
 * request, lets the scenario answer, and sends the answer whole or in events, a token every so often from the request's
 * arrival on. Stops when the client goes.
 */
import { randomBytes } from 'node:crypto';
import { answerAndNote } from '../mind/model-provider.ts';
import type { Answer } from '../mind/rules.ts';
import type { Scenario } from '../mind/scenario.ts';
import { promptTokens as countPromptTokens, tokensOf } from '../mind/tokens.ts';
import type { HttpExchange } from '../provider.ts';
import { errorBody, RequestRefused } from './api-error.ts';
import { type GenerateRequest, readGenerateRequest } from './generate-request.ts';
import { newSignature } from './signatures.ts';

const STREAM_HEADERS = { 'content-type': 'text/event-stream', 'content-disposition': 'attachment' };
const REASONS = { stop: 'STOP', tool_calls: 'STOP', length: 'MAX_TOKENS', content_filter: 'SAFETY' } as const;

type Part = Record<string, unknown>;
interface Step {
  parts: Part[];
  finishReason?: string;
  finishMessage?: string;
}

interface Thought {
  exchange: HttpExchange;
  scenario: Scenario;
  request: GenerateRequest;
  answer: Answer;
  promptTokens: number;
  arrivedAtMs: number;
}

/** Right after each step. */
interface Progress {
  saidTokens: number;
  thoughtTokens: number;
}

/** Throws `RequestRefused`. */
export async function answerGenerate(
  exchange: HttpExchange,
  scenario: Scenario,
  model: string,
  isStreamed: boolean,
): Promise<void> {
  const arrivedAtMs = exchange.timetable.nowMs();
  if (!scenario.models.includes(model))
    throw new RequestRefused(
      `models/${model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.`,
      404,
    );
  if (isStreamed && exchange.query.get('alt') !== 'sse')
    throw new RequestRefused('this emulator streams server-sent events alone: add ?alt=sse');
  const request = readGenerateRequest(await exchange.body(), model);
  const promptTokens = countPromptTokens(request.rawMessages, request.tools);
  if (promptTokens > scenario.contextTokens)
    throw new RequestRefused(
      `The input token count (${promptTokens}) exceeds the maximum number of tokens allowed (${scenario.contextTokens}).`,
    );
  const answer = answerAndNote(exchange, scenario, request, promptTokens);
  const thought: Thought = { exchange, scenario, request, answer, promptTokens, arrivedAtMs };
  if (isStreamed) new AnswerStream(thought).begin();
  else answerWhole(thought);
}

/** What every part of an answer says of the whole. */
function responseOf({ request, promptTokens }: Thought, id: string, candidates: object[], progress: Progress): object {
  const { saidTokens, thoughtTokens } = progress;
  return {
    ...(candidates.length === 0 ? {} : { candidates }),
    usageMetadata: {
      promptTokenCount: promptTokens,
      ...(saidTokens === 0 ? {} : { candidatesTokenCount: saidTokens }),
      totalTokenCount: promptTokens + saidTokens + thoughtTokens,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: promptTokens }],
      ...(thoughtTokens === 0 ? {} : { thoughtsTokenCount: thoughtTokens }),
    },
    modelVersion: request.model,
    responseId: id,
  };
}

function candidateOf({ parts, finishReason, finishMessage }: Step): object {
  return {
    ...(parts.length === 0 ? {} : { content: { parts, role: 'model' } }),
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(finishMessage === undefined ? {} : { finishMessage }),
    index: 0,
  };
}

const newId = (): string => randomBytes(16).toString('base64url');

/** A prompt that is filtered before a word has no candidates, and says why. */
const isBlocked = ({ text, calls, scripted }: Answer): boolean =>
  scripted.finishReason === 'content_filter' && (text ?? '') === '' && calls.length === 0;

function blocked(thought: Thought, id: string): object {
  const none = { saidTokens: 0, thoughtTokens: 0 };
  return { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, ...responseOf(thought, id, [], none) };
}

function answerWhole(thought: Thought): void {
  const { exchange, scenario, answer, arrivedAtMs } = thought;
  if (answer.scripted.streamsNothing) return;
  const id = newId();
  const progress: Progress = { saidTokens: 0, thoughtTokens: 0 };
  const whole: Step = { parts: [] };
  for (const { parts, ...end } of stepsOf(thought, progress)) {
    Object.assign(whole, end);
    for (const part of parts) {
      const last = whole.parts.at(-1);
      const isMore = typeof part['text'] === 'string' && typeof last?.['text'] === 'string';
      if (isMore && last['thought'] === part['thought']) last['text'] = `${last['text']}${part['text']}`;
      else whole.parts.push({ ...part });
    }
  }
  const { firstTokenMs, tokenMs } = answer.scripted.timing ?? scenario.timing;
  exchange.timetable.at(arrivedAtMs + firstTokenMs + progress.saidTokens * tokenMs, () =>
    exchange.answer({
      status: 200,
      body: isBlocked(answer) ? blocked(thought, id) : responseOf(thought, id, [candidateOf(whole)], progress),
    }),
  );
}

/** Parts of an answer, a step a token, lazily, since one may be without end; uses of tools come whole. */
function* stepsOf({ answer, request, scenario }: Thought, progress: Progress): Generator<Step> {
  const { maxTokens, stop, includesThoughts, isThinking } = request;
  const spend = (kind: keyof Progress): boolean => {
    if (progress.saidTokens + progress.thoughtTokens >= maxTokens) return false;
    progress[kind]++;
    return true;
  };
  const full: Step = { parts: [], finishReason: 'MAX_TOKENS' };
  for (const token of isThinking ? tokensOf(scenario.dialect.reasoning) : []) {
    if (!spend('thoughtTokens')) return yield full;
    if (includesThoughts) yield { parts: [{ text: token, thought: true }] };
  }
  const { text } = answer;
  const ends = stop.map((one) => (text ?? '').indexOf(one)).filter((at) => at >= 0);
  const tokens = tokensOf((text ?? '').slice(0, Math.min(...ends, Number.POSITIVE_INFINITY)));
  do {
    for (const token of tokens) {
      if (!spend('saidTokens')) return yield full;
      yield { parts: [{ text: token }] };
    }
  } while (answer.scripted.repeats && tokens.length > 0);
  for (const [index, call] of answer.calls.entries()) {
    const args = objectIn(call.arguments);
    if (args === null)
      return yield {
        parts: [],
        finishReason: 'MALFORMED_FUNCTION_CALL',
        finishMessage: `Malformed function call: call:default_api:${call.name}${call.arguments}`,
      };
    for (const _token of tokensOf(call.arguments)) if (!spend('saidTokens')) return yield full;
    const functionCall = { name: call.name, args, id: randomBytes(6).toString('hex') };
    // The first of an answer has the signature of its thoughts.
    yield { parts: [{ functionCall, ...(index === 0 ? { thoughtSignature: newSignature() } : {}) }] };
  }
  const { finishReason = 'stop' } = answer.scripted;
  yield { parts: [{ text: '' }], finishReason: REASONS[finishReason] };
}

function objectIn(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

class AnswerStream {
  readonly #thought: Thought;
  readonly #id = newId();
  readonly #firstAtMs: number;
  readonly #tokenMs: number;
  readonly #progress: Progress = { saidTokens: 0, thoughtTokens: 0 };
  readonly #steps: Generator<Step>;
  #sentSteps = 0;

  constructor(thought: Thought) {
    const { scenario, answer, arrivedAtMs } = thought;
    const { firstTokenMs, tokenMs } = answer.scripted.timing ?? scenario.timing;
    this.#thought = thought;
    this.#firstAtMs = arrivedAtMs + firstTokenMs;
    this.#tokenMs = tokenMs;
    this.#steps = stepsOf(thought, this.#progress);
  }

  begin(): void {
    const { exchange, answer } = this.#thought;
    exchange.head(200, STREAM_HEADERS);
    // The client went, and nobody thinks on for it.
    exchange.signal.addEventListener('abort', () =>
      exchange.note('thought', { completionTokens: this.#progress.saidTokens }),
    );
    if (answer.scripted.streamsNothing) return;
    this.#next();
  }

  #next(): void {
    const { exchange, answer } = this.#thought;
    exchange.timetable.at(this.#firstAtMs + this.#sentSteps * this.#tokenMs, () => {
      const { cut } = answer.scripted;
      if (cut !== undefined && this.#progress.saidTokens >= cut.afterTokens) return this.#cut(cut.by);
      if (isBlocked(answer)) {
        this.#send(blocked(this.#thought, this.#id));
        return exchange.end();
      }
      const { done, value } = this.#steps.next();
      if (done === true) return exchange.end();
      this.#send(responseOf(this.#thought, this.#id, [candidateOf(value)], this.#progress));
      this.#sentSteps++;
      this.#next();
    });
  }

  #cut(by: 'end' | 'error' | 'rate_limit'): void {
    if (by === 'error') this.#send(errorBody(503));
    if (by === 'rate_limit') this.#send(errorBody(429));
    this.#thought.exchange.end();
  }

  #send(response: object): void {
    this.#thought.exchange.send(`data: ${JSON.stringify(response)}\r\n\r\n`);
  }
}
