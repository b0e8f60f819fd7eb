/**
 * `POST /v1/chat/completions` of the emulated service: checks the request, lets the scenario answer, and sends the
 * answer whole or as it would be thought, a token every so often from the request's arrival on. Stops when the client
 * goes.
 */
import { randomBytes } from 'node:crypto';
import { answerAndNote } from '../mind/model-provider.ts';
import type { Answer } from '../mind/rules.ts';
import type { Scenario } from '../mind/scenario.ts';
import { promptTokens as countPromptTokens, tokensOf } from '../mind/tokens.ts';
import type { HttpExchange } from '../provider.ts';
import { answerHeaders, RequestRefused } from './api-error.ts';
import { callId, cutAtStop, newProgress, type Step, stepsOf } from './chat-deltas.ts';
import { type ChatRequest, readChatRequest } from './chat-request.ts';
import { answerOddly, oddityOf } from './odd-models.ts';

const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
/** Chunks are filled up to a multiple of so many characters. */
const OBFUSCATION_STEP = 64;

/** One answer, before it is sent. */
interface Thought {
  exchange: HttpExchange;
  scenario: Scenario;
  request: ChatRequest;
  answer: Answer;
  shared: Shared;
  /** Of the request. */
  promptTokens: number;
  arrivedAtMs: number;
}

interface Shared {
  id: string;
  created: number;
  model: string;
  service_tier: string;
  system_fingerprint: string;
}

/** Throws `RequestRefused`. */
export async function answerChat(exchange: HttpExchange, scenario: Scenario): Promise<void> {
  const arrivedAtMs = exchange.timetable.nowMs();
  const request = readChatRequest(await exchange.body(), scenario.dialect.refuses, scenario.dialect.formats);
  const oddity = oddityOf(request.model);
  if (oddity !== null) return answerOddly(exchange, request, oddity);
  if (!scenario.models.includes(request.model)) {
    const message = `The model \`${request.model}\` does not exist or you do not have access to it.`;
    throw new RequestRefused(message, null, 'model_not_found', 404);
  }
  const prompt = countPromptTokens(request.rawMessages, request.tools);
  if (prompt > scenario.contextTokens) {
    const message =
      `This model's maximum context length is ${scenario.contextTokens} tokens. However, your messages resulted in ` +
      `${prompt} tokens. Please reduce the length of the messages.`;
    throw new RequestRefused(message, 'messages', 'context_length_exceeded');
  }
  const answer = answerAndNote(exchange, scenario, request, prompt);
  const shared: Shared = {
    id: `chatcmpl-${randomBytes(12).toString('hex')}`,
    created: Math.floor(Date.now() / 1000),
    model: request.model,
    service_tier: 'default',
    system_fingerprint: 'fp_emulated',
  };
  const thought: Thought = { exchange, scenario, request, answer, shared, promptTokens: prompt, arrivedAtMs };
  if (request.stream) new ChatStream(thought).begin();
  else answerWhole(thought);
}

function usageOf(prompt: number, completion: number, reasoning: number): object {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function answerWhole({ exchange, scenario, request, answer, shared, promptTokens, arrivedAtMs }: Thought): void {
  if (answer.scripted.streamsNothing) return;
  const tokens = answer.text === null ? [] : tokensOf(cutAtStop(answer.text, request.stop));
  const argumentTokens = answer.calls.reduce((sum, call) => sum + 1 + tokensOf(call.arguments).length, 0);
  const completion = Math.min(tokens.length + argumentTokens, request.maxTokens);
  const isCut = tokens.length + argumentTokens > request.maxTokens;
  const calls = answer.calls.map((call) => ({ id: callId(), type: 'function', function: call }));
  const message = {
    role: 'assistant',
    content: answer.text === null ? null : tokens.slice(0, request.maxTokens).join(''),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    refusal: null,
    annotations: [],
  };
  const reason = isCut ? 'length' : calls.length === 0 ? 'stop' : 'tool_calls';
  const choices = [{ index: 0, message, logprobs: null, finish_reason: answer.scripted.finishReason ?? reason }];
  const { firstTokenMs, tokenMs } = answer.scripted.timing ?? scenario.timing;
  const body = { ...shared, object: 'chat.completion', choices, usage: usageOf(promptTokens, completion, 0) };
  exchange.timetable.at(arrivedAtMs + firstTokenMs + completion * tokenMs, () =>
    exchange.answer({ status: 200, headers: answerHeaders(), body }),
  );
}

class ChatStream {
  readonly #thought: Thought;
  readonly #firstAtMs: number;
  readonly #tokenMs: number;
  readonly #progress = newProgress();
  readonly #steps: Generator<Step>;
  #sentSteps = 0;

  constructor(thought: Thought) {
    const { scenario, request, answer, arrivedAtMs } = thought;
    const { firstTokenMs, tokenMs } = answer.scripted.timing ?? scenario.timing;
    this.#thought = thought;
    this.#firstAtMs = arrivedAtMs + firstTokenMs;
    this.#tokenMs = tokenMs;
    this.#steps = stepsOf(answer, scenario.dialect, request, this.#progress);
  }

  begin(): void {
    this.#thought.exchange.head(200, { ...STREAM_HEADERS, ...answerHeaders() });
    // The client went, and nobody thinks on for it.
    this.#thought.exchange.signal.addEventListener('abort', () => {
      const { completionTokens, finishReason } = this.#progress;
      this.#thought.exchange.note('thought', { completionTokens, finishReason });
    });
    const { keepAliveMs } = this.#thought.scenario.dialect;
    if (keepAliveMs !== undefined) this.#keepAlive(this.#firstAtMs - this.#answerDelayMs() + keepAliveMs, keepAliveMs);
    else if (!this.#thought.answer.scripted.streamsNothing) this.#next();
  }

  #answerDelayMs(): number {
    return (this.#thought.answer.scripted.timing ?? this.#thought.scenario.timing).firstTokenMs;
  }

  /** Comments until the first token is due. */
  #keepAlive(atMs: number, everyMs: number): void {
    const { streamsNothing } = this.#thought.answer.scripted;
    if (!streamsNothing && atMs >= this.#firstAtMs) {
      this.#next();
      return;
    }
    this.#thought.exchange.timetable.at(atMs, () => {
      this.#thought.exchange.send(': keep-alive\n\n');
      this.#keepAlive(atMs + everyMs, everyMs);
    });
  }

  #next(): void {
    const atMs = this.#firstAtMs + this.#sentSteps * this.#tokenMs;
    this.#thought.exchange.timetable.at(atMs, () => {
      const { cut } = this.#thought.answer.scripted;
      if (cut !== undefined && this.#sentSteps >= cut.afterTokens) return this.#cut(cut.by);
      const step = this.#steps.next();
      if (step.done === true) return this.#finish();
      for (const delta of step.value) this.#send([this.#choice(delta, null)]);
      this.#sentSteps++;
      this.#next();
    });
  }

  #finish(): void {
    const { completionTokens, reasoningTokens, finishReason } = this.#progress;
    this.#send([this.#choice({}, finishReason)]);
    if (this.#thought.request.tellsUsage)
      this.#send([], usageOf(this.#thought.promptTokens, completionTokens, reasoningTokens));
    this.#thought.exchange.send('data: [DONE]\n\n');
    this.#thought.exchange.end();
  }

  #cut(by: 'end' | 'error' | 'rate_limit'): void {
    if (by !== 'end') {
      const isLimit = by === 'rate_limit';
      const error = {
        message: isLimit
          ? 'Rate limit reached for tokens. Please try again later.'
          : 'The server had an error while processing your request.',
        type: isLimit ? 'tokens' : 'server_error',
        param: null,
        code: isLimit ? 'rate_limit_exceeded' : null,
      };
      this.#thought.exchange.send(`data: ${JSON.stringify({ error })}\n\n`);
    }
    this.#thought.exchange.end();
  }

  #choice(delta: object, finishReason: string | null): object {
    return { index: 0, delta, logprobs: null, finish_reason: finishReason };
  }

  #send(choices: object[], usage: object | null = null): void {
    const chunk = {
      ...this.#thought.shared,
      object: 'chat.completion.chunk',
      choices,
      ...(this.#thought.request.tellsUsage ? { usage } : {}),
    };
    const bare = JSON.stringify(chunk).length;
    const padding = this.#thought.request.isObfuscated ? { obfuscation: padOf(bare) } : {};
    this.#thought.exchange.send(`data: ${JSON.stringify({ ...chunk, ...padding })}\n\n`);
  }
}

function padOf(length: number): string {
  const missing = OBFUSCATION_STEP - (length % OBFUSCATION_STEP);
  return randomBytes(missing).toString('base64url').slice(0, missing);
}
