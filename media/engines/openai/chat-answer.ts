/**
 * Makes chunks of a model out of the events of a streamed chat completion. A stranger writes them: what is no answer,
 * or a part of another one, is a fault; what is longer than its bound is cut. Pure; one instance an answer.
 */
import type { ModelChunk, ModelUsage, ProviderFault } from '../../contract/model.ts';
import { faultOfError } from './chat-fault.ts';

/** No answer that is spoken is longer; the request's own limit is far below. */
const MOST_TEXT_CHARS = 100_000;
const MOST_TOOL_USES = 32;
const MOST_ARGUMENTS_CHARS = 64 * 1024;
/** More than any model reads. */
const MOST_TOKENS = 100_000_000;

interface Use {
  id: string;
  name: string;
  argumentsText: string;
}

type Stop = Extract<ModelChunk, { type: 'done' }>['stop'];

/** What is wrong with an answer. */
export class AnswerFault extends Error {
  readonly fault: ProviderFault;
  constructor(fault: ProviderFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

const STOPS: Readonly<Record<string, Stop>> = {
  stop: 'end',
  tool_calls: 'tools',
  function_call: 'tools',
  length: 'length',
  content_filter: 'filtered',
};

export class ChatAnswer {
  /** Characters of text and arguments so far. */
  chars = 0;
  usage: ModelUsage | null = null;
  /** The model has said all; only what it used may follow. */
  stop: Stop | null = null;
  /** The protocol's last word was said. */
  isDone = false;
  readonly #say: (chunk: ModelChunk) => void;
  /** In the order in which they began. */
  readonly #uses: Use[] = [];
  /** The newest of each index. */
  readonly #byIndex = new Map<number, Use>();
  #id = '';

  constructor(say: (chunk: ModelChunk) => void) {
    this.#say = say;
  }

  /** `data` of one event. Throws `AnswerFault`. */
  event(data: string): void {
    if (this.isDone) return;
    if (data.trim() === '[DONE]') {
      this.isDone = true;
      return;
    }
    const chunk = parsed(data);
    const error = memberOf(chunk, 'error');
    if (error !== undefined && error !== null) throw new AnswerFault(...faultOfError(error));
    this.#checkOrigin(chunk);
    this.#readUsage(memberOf(chunk, 'usage') ?? memberOf(memberOf(chunk, 'x_groq'), 'usage'));
    const choices = memberOf(chunk, 'choices');
    if (choices === undefined || choices === null) return;
    if (!Array.isArray(choices)) throw new AnswerFault('failed', 'the answer has no choices where they belong');
    const choice = choices.find((one) => (memberOf(one, 'index') ?? 0) === 0);
    if (choice === undefined || this.stop !== null) return;
    this.#readDelta(memberOf(choice, 'delta'));
    const finish = memberOf(choice, 'finish_reason');
    if (typeof finish === 'string' && finish !== '') this.#finished(finish);
  }

  #readDelta(delta: unknown): void {
    for (const field of ['content', 'refusal']) {
      const text = memberOf(delta, field);
      if (typeof text === 'string' && text !== '') this.#text(text);
    }
    const calls = memberOf(delta, 'tool_calls');
    if (!Array.isArray(calls)) return;
    for (const call of calls) this.#call(call);
  }

  #text(text: string): void {
    const room = MOST_TEXT_CHARS - this.chars;
    this.chars += text.length;
    if (room > 0) this.#say({ type: 'text', text: text.slice(0, room) });
    if (text.length > room) this.#finished('length');
  }

  #call(call: unknown): void {
    const id = memberOf(call, 'id');
    const told = memberOf(call, 'index');
    // Some servers give no index: a part with a name begins a use.
    const { name, arguments: more } = functionOf(call);
    const isNew = typeof told !== 'number' && name !== '';
    const index = typeof told === 'number' ? told : Math.max(0, this.#uses.length - (isNew ? 0 : 1));
    let use = this.#byIndex.get(index);
    // Others give one index to all of their uses.
    const isOther =
      use !== undefined && name !== '' && typeof id === 'string' && id !== '' && use.id !== '' && id !== use.id;
    if (use === undefined || isOther) {
      if (this.#uses.length >= MOST_TOOL_USES)
        throw new AnswerFault('failed', `it uses more than ${MOST_TOOL_USES} tools`);
      use = { id: '', name: '', argumentsText: '' };
      this.#uses.push(use);
      this.#byIndex.set(index, use);
    }
    if (typeof id === 'string' && use.id === '') use.id = id;
    if (use.name === '') use.name = name;
    use.argumentsText += more;
    this.chars += more.length;
    if (use.argumentsText.length > MOST_ARGUMENTS_CHARS) {
      throw new AnswerFault('failed', `the arguments of a tool have more than ${MOST_ARGUMENTS_CHARS} characters`);
    }
  }

  #finished(finish: string): void {
    const stop = STOPS[finish] ?? 'end';
    const ids = new Set<string>();
    let told = 0;
    for (const { id, name, argumentsText } of this.#uses) {
      // What was cut off is no use of a tool.
      if (name === '' || (stop === 'length' && !isJson(argumentsText))) continue;
      const useId = id === '' || ids.has(id) ? `call_${ids.size + 1}_${name}`.slice(0, 64) : id;
      ids.add(useId);
      told++;
      this.#say({ type: 'use', use: { useId, name, argumentsText: argumentsText === '' ? '{}' : argumentsText } });
    }
    // Some say `stop` where a tool is used, and some `tool_calls` where none is.
    if (stop === 'end' || stop === 'tools') this.stop = told > 0 ? 'tools' : 'end';
    else this.stop = stop;
  }

  /** A server, or a proxy before it, that mixes answers up must not have one caller hear another's. */
  #checkOrigin(chunk: unknown): void {
    const object = memberOf(chunk, 'object');
    if (typeof chunk !== 'object' || chunk === null || Array.isArray(chunk)) throw garbage();
    if (typeof object === 'string' && object !== '' && object !== 'chat.completion.chunk') throw garbage();
    const id = memberOf(chunk, 'id');
    if (typeof id !== 'string' || id === '') return;
    if (this.#id === '') this.#id = id;
    if (id !== this.#id) throw new AnswerFault('failed', 'a part of the answer belongs to another request');
  }

  #readUsage(usage: unknown): void {
    const input = memberOf(usage, 'prompt_tokens');
    const output = memberOf(usage, 'completion_tokens');
    if (!isCount(input) || !isCount(output)) return;
    const cached = memberOf(memberOf(usage, 'prompt_tokens_details'), 'cached_tokens');
    const cachedInputTokens = isCount(cached) ? Math.min(cached, input) : 0;
    this.usage = { inputTokens: input, cachedInputTokens, outputTokens: output };
  }
}

function functionOf(call: unknown): { name: string; arguments: string } {
  const fn = memberOf(call, 'function');
  const name = memberOf(fn, 'name');
  const args = memberOf(fn, 'arguments');
  return {
    name: typeof name === 'string' ? name : '',
    // Some give an object in place of its text.
    arguments: typeof args === 'string' ? args : args === undefined || args === null ? '' : JSON.stringify(args),
  };
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw garbage();
  }
}

function garbage(): AnswerFault {
  return new AnswerFault('failed', 'the answer is not one of a chat endpoint');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Of tokens; what no request can have is not counted: it would use up what the call, or the connection, may. */
function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MOST_TOKENS;
}

export function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}
