/** A language model that answers when the test says so, and notes what it was asked and what was taken back. */
import type { LanguageModel, ModelChunk, ModelRequest } from '../../../media/contract/model.ts';

export class FakeModel implements LanguageModel {
  readonly requests: ModelRequest[] = [];
  /** By the number of the request. */
  readonly takenBack: number[] = [];
  readonly #tell: ((chunk: ModelChunk) => void)[] = [];

  ask(request: ModelRequest, onChunk: (chunk: ModelChunk) => void): () => void {
    const number = this.requests.push(request) - 1;
    this.#tell.push(onChunk);
    return () => this.takenBack.push(number);
  }

  /** To the newest request, or to that of a number. */
  say(chunk: ModelChunk, number = this.requests.length - 1): void {
    this.#tell[number]?.(chunk);
  }

  answer(text: string, number = this.requests.length - 1): void {
    for (const word of text.match(/\S+\s*/g) ?? []) this.say({ type: 'text', text: word }, number);
    this.say({ type: 'done', stop: 'end', usage: null }, number);
  }
}
