/**
 * Makes chunks of a model out of the events of a streamed chat completion. A stranger writes them: what is no answer,
 * or a part of another one, is a fault; what is longer than its bound is cut. Pure; one instance an answer.
 */
import { faultOfError } from '../provider/answer-fault.ts';
import { GrowingAnswer, type GrowingUse } from '../provider/growing-answer.ts';
import { AnswerFault, type Stop } from '../provider/model-wire.ts';
import { isCount, memberOf } from '../provider/told-json.ts';

const STOPS: Readonly<Record<string, Stop>> = {
  stop: 'end',
  tool_calls: 'tools',
  function_call: 'tools',
  length: 'length',
  content_filter: 'filtered',
};

export class ChatAnswer extends GrowingAnswer {
  /** The newest of each index. */
  readonly #byIndex = new Map<number, GrowingUse>();
  #id = '';

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
    if (typeof finish === 'string' && finish !== '') this.finish(STOPS[finish] ?? 'end');
  }

  #readDelta(delta: unknown): void {
    for (const field of ['content', 'refusal']) {
      const text = memberOf(delta, field);
      if (typeof text === 'string') this.text(text);
    }
    const calls = memberOf(delta, 'tool_calls');
    if (!Array.isArray(calls)) return;
    for (const call of calls) this.#call(call);
  }

  #call(call: unknown): void {
    const id = memberOf(call, 'id');
    const told = memberOf(call, 'index');
    // Some servers give no index: a part with a name begins a use.
    const { name, arguments: more } = functionOf(call);
    const isNew = typeof told !== 'number' && name !== '';
    const index = typeof told === 'number' ? told : Math.max(0, this.uses.length - (isNew ? 0 : 1));
    let use = this.#byIndex.get(index);
    // Others give one index to all of their uses.
    const isOther =
      use !== undefined && name !== '' && typeof id === 'string' && id !== '' && use.id !== '' && id !== use.id;
    if (use === undefined || isOther) {
      use = this.newUse();
      this.#byIndex.set(index, use);
    }
    if (typeof id === 'string' && use.id === '') use.id = id;
    if (use.name === '') use.name = name;
    this.addArguments(use, more);
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
