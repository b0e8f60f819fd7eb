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

/** Answers each question soon, in four pieces. */
export class AnsweringModel implements LanguageModel {
  openAsks = 0;

  ask({ messages }: ModelRequest, onChunk: (chunk: ModelChunk) => void): () => void {
    this.openAsks++;
    let isOver = false;
    const over = (): void => {
      if (!isOver) this.openAsks--;
      isOver = true;
    };
    const last = messages.at(-1);
    const pieces = ['You said ', last?.role === 'user' ? last.text : 'nothing', '. Is that ', 'right?'];
    const next = (): void => {
      if (isOver) return;
      const text = pieces.shift();
      if (text !== undefined) {
        onChunk({ type: 'text', text });
        setImmediate(next);
        return;
      }
      over();
      onChunk({ type: 'done', stop: 'end', usage: null });
    };
    setImmediate(next);
    return over;
  }
}
