/**
 * `POST /v1/messages` of the emulated Anthropic: checks the request, lets the scenario answer, and sends the answer
 * whole or in events, a token every so often from the request's arrival on. Stops when the client goes.
 */
import { randomBytes } from 'node:crypto';
import { answerAndNote } from '../mind/model-provider.ts';
import type { Answer } from '../mind/rules.ts';
import type { Scenario } from '../mind/scenario.ts';
import { promptTokens as countPromptTokens, tokensOf } from '../mind/tokens.ts';
import type { HttpExchange } from '../provider.ts';
import { answerHeaders, errorBody, RequestRefused } from './api-error.ts';
import { type MessagesRequest, readMessagesRequest } from './messages-request.ts';

const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
const VERSIONS = ['2023-06-01', '2026-10-21'];
const STOPS = { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens', content_filter: 'refusal' } as const;

type StopReason = (typeof STOPS)[keyof typeof STOPS];
type Block = { type: 'text'; text: string } | { type: 'tool_use'; id: string; name: string; input: unknown };
type Event = { type: string } & Record<string, unknown>;

/** Throws `RequestRefused`. */
export async function answerMessages(exchange: HttpExchange, scenario: Scenario): Promise<void> {
  const arrivedAtMs = exchange.timetable.nowMs();
  const version = String(exchange.headers['anthropic-version'] ?? '');
  if (version === '') throw new RequestRefused('anthropic-version: header is required');
  if (!VERSIONS.includes(version)) throw new RequestRefused(`anthropic-version: "${version}" is not a valid version.`);
  const request = readMessagesRequest(await exchange.body(), version === VERSIONS[0]);
  if (!scenario.models.includes(request.model)) throw new RequestRefused(`model: ${request.model}`, 404);
  const prompt = countPromptTokens(request.rawMessages, request.tools);
  if (prompt > scenario.contextTokens)
    throw new RequestRefused(`prompt is too long: ${prompt} tokens > ${scenario.contextTokens} maximum`);
  const answer = answerAndNote(exchange, scenario, request, prompt);
  const thought: Thought = { exchange, scenario, request, answer, promptTokens: prompt, arrivedAtMs };
  if (request.stream) new MessageStream(thought).begin();
  else answerWhole(thought);
}

interface Thought {
  exchange: HttpExchange;
  scenario: Scenario;
  request: MessagesRequest;
  answer: Answer;
  promptTokens: number;
  arrivedAtMs: number;
}

interface Progress {
  outputTokens: number;
  stopReason: StopReason;
}

function messageOf(model: string, promptTokens: number, outputTokens: number): Record<string, unknown> {
  return {
    id: `msg_${randomBytes(12).toString('hex')}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: promptTokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: outputTokens,
      service_tier: 'standard',
    },
  };
}

function answerWhole({ exchange, scenario, request, answer, promptTokens, arrivedAtMs }: Thought): void {
  if (answer.scripted.streamsNothing) return;
  const progress: Progress = { outputTokens: 0, stopReason: 'end_turn' };
  const content: Block[] = [];
  let json = '';
  for (const event of [...stepsOf(answer, request, progress)].flat()) {
    const { content_block: block, delta } = event as { content_block?: Block; delta?: Record<string, string> };
    const last = content.at(-1);
    if (block !== undefined) content.push({ ...block });
    if (last?.type === 'text') last.text += delta?.['text'] ?? '';
    json += delta?.['partial_json'] ?? '';
    if (event.type !== 'content_block_stop' || last?.type !== 'tool_use') continue;
    last.input = JSON.parse(json === '' ? '{}' : json);
    json = '';
  }
  const { firstTokenMs, tokenMs } = answer.scripted.timing ?? scenario.timing;
  const message = messageOf(request.model, promptTokens, progress.outputTokens);
  exchange.timetable.at(arrivedAtMs + firstTokenMs + progress.outputTokens * tokenMs, () =>
    exchange.answer({
      status: 200,
      headers: answerHeaders(),
      body: { ...message, content, stop_reason: progress.stopReason },
    }),
  );
}

/** Events of an answer, a step a token, lazily, since one may be without end; `progress` is right after the last. */
function* stepsOf(answer: Answer, { maxTokens, stop }: MessagesRequest, progress: Progress): Generator<Event[]> {
  progress.stopReason = answer.calls.length > 0 ? 'tool_use' : 'end_turn';
  const spend = (): boolean => {
    if (progress.outputTokens < maxTokens) {
      progress.outputTokens++;
      return true;
    }
    progress.stopReason = 'max_tokens';
    return false;
  };
  let index = 0;
  const { text } = answer;
  if (text !== null && text !== '') {
    const ends = stop.map((one) => text.indexOf(one)).filter((at) => at >= 0);
    const tokens = tokensOf(ends.length === 0 ? text : text.slice(0, Math.min(...ends)));
    yield [{ type: 'content_block_start', index, content_block: { type: 'text', text: '' } }, { type: 'ping' }];
    do {
      for (const token of tokens) {
        if (!spend()) return yield [{ type: 'content_block_stop', index }];
        yield [{ type: 'content_block_delta', index, delta: { type: 'text_delta', text: token } }];
      }
    } while (answer.scripted.repeats && tokens.length > 0);
    yield [{ type: 'content_block_stop', index }];
    index++;
  }
  for (const call of answer.calls) {
    const id = `toolu_${randomBytes(12).toString('hex')}`;
    const more = (part: string): Event => ({
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json: part },
    });
    yield [
      { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name: call.name, input: {} } },
      more(''),
    ];
    for (const part of tokensOf(call.arguments)) {
      if (!spend()) return yield [{ type: 'content_block_stop', index }];
      yield [more(part)];
    }
    yield [{ type: 'content_block_stop', index }];
    index++;
  }
  const { finishReason } = answer.scripted;
  if (finishReason !== undefined) progress.stopReason = STOPS[finishReason];
}

class MessageStream {
  readonly #thought: Thought;
  readonly #firstAtMs: number;
  readonly #tokenMs: number;
  readonly #progress: Progress = { outputTokens: 0, stopReason: 'end_turn' };
  readonly #steps: Generator<Event[]>;
  #sentSteps = 0;

  constructor(thought: Thought) {
    const { scenario, request, answer, arrivedAtMs } = thought;
    const { firstTokenMs, tokenMs } = answer.scripted.timing ?? scenario.timing;
    this.#thought = thought;
    this.#firstAtMs = arrivedAtMs + firstTokenMs;
    this.#tokenMs = tokenMs;
    this.#steps = stepsOf(answer, request, this.#progress);
  }

  begin(): void {
    const { exchange, request, promptTokens, answer } = this.#thought;
    exchange.head(200, { ...STREAM_HEADERS, ...answerHeaders() });
    // The client went, and nobody thinks on for it.
    exchange.signal.addEventListener('abort', () =>
      exchange.note('thought', {
        completionTokens: this.#progress.outputTokens,
        finishReason: this.#progress.stopReason,
      }),
    );
    if (answer.scripted.streamsNothing) return;
    exchange.timetable.at(this.#firstAtMs, () =>
      this.#send({ type: 'message_start', message: messageOf(request.model, promptTokens, 1) }),
    );
    this.#next();
  }

  #next(): void {
    const { exchange, answer } = this.#thought;
    exchange.timetable.at(this.#firstAtMs + this.#sentSteps * this.#tokenMs, () => {
      const { cut } = answer.scripted;
      if (cut !== undefined && this.#progress.outputTokens >= cut.afterTokens) return this.#cut(cut.by);
      const step = this.#steps.next();
      if (step.done === true) return this.#finish();
      for (const event of step.value) this.#send(event);
      this.#sentSteps++;
      this.#next();
    });
  }

  #finish(): void {
    const { outputTokens, stopReason } = this.#progress;
    this.#send({
      type: 'message_delta',
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: { output_tokens: outputTokens },
    });
    this.#send({ type: 'message_stop' });
    this.#thought.exchange.end();
  }

  #cut(by: 'end' | 'error' | 'rate_limit'): void {
    if (by === 'error') this.#send(errorBody(529, 'Overloaded') as Event);
    if (by === 'rate_limit') this.#send(errorBody(429, 'This request would exceed a rate limit.') as Event);
    this.#thought.exchange.end();
  }

  #send(event: Event): void {
    this.#thought.exchange.send(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
}
