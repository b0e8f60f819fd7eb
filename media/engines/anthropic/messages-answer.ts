/**
 * Makes chunks of a model out of the events of a streamed message of Anthropic. A stranger writes them: what belongs to
 * another answer is a fault, kinds of events and blocks that are not known are left out. Pure; one instance an answer.
 */
import type { ModelChunk, ModelUsage } from '../../contract/model.ts';
import { faultOfError } from '../provider/answer-fault.ts';
import {
  AnswerFault,
  addArguments,
  type GrowingUse,
  isCount,
  MOST_TEXT_CHARS,
  memberOf,
  newUse,
  objectIn,
  type Stop,
  type StreamedAnswer,
  tellUses,
} from '../provider/model-wire.ts';

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

export class MessagesAnswer implements StreamedAnswer {
  chars = 0;
  usage: ModelUsage | null = null;
  stop: Stop | null = null;
  isDone = false;
  readonly #say: (chunk: ModelChunk) => void;
  readonly #uses: GrowingUse[] = [];
  /** By index, those that were begun. */
  readonly #blocks = new Map<number, Block>();
  #id: string | null = null;
  #inputTokens = 0;
  #cachedTokens = 0;

  constructor(say: (chunk: ModelChunk) => void) {
    this.#say = say;
  }

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
        this.#finished(memberOf(event['delta'], 'stop_reason'));
        break;
      case 'message_stop':
        if (this.stop === null) this.#finished('end_turn');
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
      const use = newUse(this.#uses, typeof id === 'string' ? id : '', typeof name === 'string' ? name : '');
      this.#blocks.set(index, { kind: 'use', use, given: memberOf(block, 'input') });
    } else this.#blocks.set(index, { kind: 'other' });
  }

  #more(index: unknown, delta: unknown): void {
    const block = this.#blocks.get(index as number);
    if (block === undefined) throw strangers();
    if (block.kind === 'text') this.#text(memberOf(delta, 'text'));
    const part = memberOf(delta, 'partial_json');
    if (block.kind !== 'use' || typeof part !== 'string') return;
    this.chars += part.length;
    addArguments(block.use, part);
  }

  #text(text: unknown): void {
    if (typeof text !== 'string' || text === '' || this.stop !== null) return;
    const room = MOST_TEXT_CHARS - this.chars;
    this.chars += text.length;
    if (room > 0) this.#say({ type: 'text', text: text.slice(0, room) });
    if (text.length > room) this.#finished('max_tokens');
  }

  #finished(reason: unknown): void {
    if (typeof reason !== 'string' || this.stop !== null) return;
    const stop = STOPS[reason] ?? 'end';
    for (const block of this.#blocks.values()) {
      // Some servers give the arguments whole, with the beginning.
      if (block.kind === 'use' && block.use.argumentsText === '' && typeof block.given === 'object')
        addArguments(block.use, JSON.stringify(block.given ?? {}));
    }
    const told = tellUses(this.#uses, stop === 'length', this.#say);
    if (stop === 'end' || stop === 'tools') this.stop = told > 0 ? 'tools' : 'end';
    else this.stop = stop;
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
