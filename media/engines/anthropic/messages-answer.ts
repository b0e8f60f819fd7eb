/**
 * Makes chunks of a model out of the events of a streamed message of Anthropic. A stranger writes them: what belongs to
 * another answer is a fault, kinds of events and blocks that are not known are left out. Pure; one instance an answer.
 */
import { faultOfError } from '../provider/answer-fault.ts';
import { GrowingAnswer, type GrowingUse } from '../provider/growing-answer.ts';
import { AnswerFault, type Stop } from '../provider/model-wire.ts';
import { isCount, memberOf, objectIn } from '../provider/told-json.ts';

const STOPS: Readonly<Record<string, Stop>> = {
  end_turn: 'end',
  stop_sequence: 'end',
  pause_turn: 'end',
  tool_use: 'tools',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'filtered',
};

/** `other`: thinking, and what is not known; nothing of it is said. */
type Block = { kind: 'text' } | { kind: 'use'; use: GrowingUse; given: unknown } | { kind: 'other' };

export class MessagesAnswer extends GrowingAnswer {
  /** By index, those that were begun. */
  readonly #blocks = new Map<number, Block>();
  #id: string | null = null;
  #inputTokens = 0;
  #cachedTokens = 0;

  event(data: string): void {
    if (this.isDone) return;
    const event = objectIn(data);
    if (event === undefined || typeof event['type'] !== 'string') throw garbage();
    switch (event['type']) {
      case 'message_start':
        this.#began(event['message']);
        break;
      case 'content_block_start':
        this.#blockBegan(event['index'], event['content_block']);
        break;
      case 'content_block_delta':
        this.#more(event['index'], event['delta']);
        break;
      case 'message_delta':
        this.#readUsage(event['usage']);
        this.#stopped(memberOf(event['delta'], 'stop_reason'));
        break;
      case 'message_stop':
        if (this.stop === null) this.finish('end');
        this.isDone = true;
        break;
      case 'error':
        throw new AnswerFault(...faultOfError(event['error']));
    }
  }

  /** A server, or a proxy before it, that mixes answers up must not have one caller hear another's. */
  #began(message: unknown): void {
    const id = memberOf(message, 'id');
    if (this.#id !== null) throw strangers();
    this.#id = typeof id === 'string' ? id : '';
    const usage = memberOf(message, 'usage');
    const of = (name: string): number => {
      const count = memberOf(usage, name);
      return isCount(count) ? count : 0;
    };
    this.#cachedTokens = of('cache_read_input_tokens');
    this.#inputTokens = of('input_tokens') + of('cache_creation_input_tokens') + this.#cachedTokens;
  }

  #blockBegan(index: unknown, block: unknown): void {
    if (typeof index !== 'number' || this.#blocks.has(index)) throw strangers();
    const type = memberOf(block, 'type');
    if (type === 'text') {
      this.#blocks.set(index, { kind: 'text' });
      this.#text(memberOf(block, 'text'));
    } else if (type === 'tool_use') {
      const [id, name] = [memberOf(block, 'id'), memberOf(block, 'name')];
      const use = this.newUse(typeof id === 'string' ? id : '', typeof name === 'string' ? name : '');
      this.#blocks.set(index, { kind: 'use', use, given: memberOf(block, 'input') });
    } else this.#blocks.set(index, { kind: 'other' });
  }

  #more(index: unknown, delta: unknown): void {
    const block = this.#blocks.get(index as number);
    if (block === undefined) throw strangers();
    if (block.kind === 'text') this.#text(memberOf(delta, 'text'));
    const part = memberOf(delta, 'partial_json');
    if (block.kind !== 'use' || typeof part !== 'string') return;
    this.addArguments(block.use, part);
  }

  #text(text: unknown): void {
    if (typeof text === 'string') this.text(text);
  }

  #stopped(reason: unknown): void {
    if (typeof reason === 'string' && this.stop === null) this.finish(STOPS[reason] ?? 'end');
  }

  protected override finish(reason: Stop): void {
    for (const block of this.#blocks.values()) {
      // Some servers give the arguments whole, with the beginning.
      if (block.kind === 'use' && block.use.argumentsText === '' && typeof block.given === 'object')
        this.addArguments(block.use, JSON.stringify(block.given ?? {}));
    }
    super.finish(reason);
  }

  /** Counts grow: the last are those of the whole answer. */
  #readUsage(usage: unknown): void {
    const output = memberOf(usage, 'output_tokens');
    if (!isCount(output)) return;
    const cachedInputTokens = Math.min(this.#cachedTokens, this.#inputTokens);
    this.usage = { inputTokens: this.#inputTokens, cachedInputTokens, outputTokens: output };
  }
}

function garbage(): AnswerFault {
  return new AnswerFault('failed', 'the answer is not one of a messages endpoint');
}

function strangers(): AnswerFault {
  return new AnswerFault('failed', 'a part of the answer belongs to another request');
}
