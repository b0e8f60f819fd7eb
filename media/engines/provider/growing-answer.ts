/**
 * An answer of a model while it comes: its text and the tools that it uses, bounded, whatever the protocol. A stranger
 * writes them; what is longer than its bound is cut, or is a fault. Pure; one instance an answer.
 */
import type { ModelChunk, ModelToolUse, ModelUsage } from '../../contract/model.ts';
import { AnswerFault, type Stop, type StreamedAnswer } from './model-wire.ts';
import { isJson } from './told-json.ts';

/** No answer that is spoken is longer; the request's own limit is far below. */
const MOST_TEXT_CHARS = 100_000;
const MOST_TOOL_USES = 32;
const MOST_ARGUMENTS_CHARS = 64 * 1024;

/** A use of a tool while its arguments come. */
export interface GrowingUse {
  id: string;
  name: string;
  argumentsText: string;
  providerMark?: string;
}

export abstract class GrowingAnswer implements StreamedAnswer {
  chars = 0;
  usage: ModelUsage | null = null;
  stop: Stop | null = null;
  isDone = false;
  /** In the order in which they began. */
  protected readonly uses: GrowingUse[] = [];
  readonly #say: (chunk: ModelChunk) => void;

  constructor(say: (chunk: ModelChunk) => void) {
    this.#say = say;
  }

  abstract event(data: string): void;

  protected text(text: string): void {
    if (text === '' || this.stop !== null) return;
    const room = MOST_TEXT_CHARS - this.chars;
    this.chars += text.length;
    if (room > 0) this.#say({ type: 'text', text: text.slice(0, room) });
    if (text.length > room) this.finish('length');
  }

  protected newUse(id = '', name = ''): GrowingUse {
    if (this.uses.length >= MOST_TOOL_USES) {
      throw new AnswerFault('failed', `it uses more than ${MOST_TOOL_USES} tools`);
    }
    const use = { id, name, argumentsText: '' };
    this.uses.push(use);
    return use;
  }

  protected addArguments(use: GrowingUse, more: string): void {
    this.chars += more.length;
    use.argumentsText += more;
    if (use.argumentsText.length > MOST_ARGUMENTS_CHARS) {
      throw new AnswerFault('failed', `the arguments of a tool have more than ${MOST_ARGUMENTS_CHARS} characters`);
    }
  }

  /** The model has said all, for this reason: its uses of tools are told, once. */
  protected finish(reason: Stop): void {
    if (this.stop !== null) return;
    const told = this.#tellUses(reason === 'length');
    // Some say that they are at the end where a tool is used, and some that a tool is used where none is.
    if (reason === 'end' || reason === 'tools') this.stop = told > 0 ? 'tools' : 'end';
    else this.stop = reason;
  }

  /** Ids that are missing, or came twice, are made up. How many were told. */
  #tellUses(isCut: boolean): number {
    const ids = new Set<string>();
    for (const { id, name, argumentsText, providerMark } of this.uses) {
      // What was cut off is no use of a tool.
      if (name === '' || (isCut && !isJson(argumentsText))) continue;
      const useId = id === '' || ids.has(id) ? `call_${ids.size + 1}_${name}`.slice(0, 64) : id;
      ids.add(useId);
      const use: ModelToolUse = { useId, name, argumentsText: argumentsText === '' ? '{}' : argumentsText };
      this.#say({ type: 'use', use: providerMark === undefined ? use : { ...use, providerMark } });
    }
    return ids.size;
  }
}
