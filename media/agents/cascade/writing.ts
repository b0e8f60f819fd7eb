/**
 * The answer that a model is writing: its text becomes the reply as it comes and is stopped where it has no end, its
 * uses of tools are kept until it is whole. Owned by `answering.ts`, which is told what became of it.
 */
import type { ModelToolUse, ModelUsage } from '../../contract/model.ts';
import type { Parts } from './parts.ts';
import { newReply } from './question.ts';
import type { Reply } from './reply.ts';
import type { Thinking, ThinkingListener } from './thinking.ts';

export interface WritingListener {
  /** It is whole. `uses`: of tools, in order, under names of our own. */
  answered(reply: Reply, uses: readonly ModelToolUse[]): void;
  /** After words or uses: no more of it comes. */
  brokeOff(): void;
  /** Nobody answers. */
  unanswered(why: string): void;
}

export class Writing implements ThinkingListener {
  reply: Reply | null = null;
  readonly #parts: Parts;
  readonly #listener: WritingListener;
  readonly #thinking: () => Thinking;
  #uses: ModelToolUse[] = [];

  constructor(parts: Parts, listener: WritingListener, thinking: () => Thinking) {
    this.#parts = parts;
    this.#listener = listener;
    this.#thinking = thinking;
  }

  /** Another, of which nothing is there yet. */
  begin(): void {
    this.#uses = [];
    this.#parts.speech.isPrompt = false;
    this.reply = newReply(this.#parts);
  }

  /** Nobody wants it. */
  drop(): void {
    this.reply = null;
    this.#uses = [];
  }

  /** Nobody writes it any more: it is whole as it is. */
  close(): void {
    this.reply?.finish();
    this.#answered();
  }

  // ── What models say ───────────────────────────────────────────────────────────────────────────────────

  text(text: string): void {
    const { reply } = this;
    if (reply === null) return;
    const thinking = this.#thinking();
    reply.ref ??= thinking.answering;
    const stopped = reply.push(text, this.#parts.atMs);
    this.#parts.history.remember(reply.entry);
    if (stopped === null) return;
    thinking.drop();
    const message = stopped.why === 'repeats' ? 'The model repeated itself' : 'The model would not end its answer';
    this.#parts.sink.act({ type: 'warning', code: 'llm_endless', message: `${message}; it was stopped.` });
    this.#answered();
  }

  use(use: ModelToolUse): void {
    if (this.reply !== null) this.#uses.push(this.#parts.tools.round.named(use));
  }

  done(stop: 'end' | 'tools' | 'length' | 'filtered'): void {
    this.reply?.finish(stop === 'length');
    this.#answered();
  }

  broke(): void {
    const { reply } = this;
    reply?.finish(true);
    if (reply !== null) this.#parts.history.remember(reply.entry);
    this.drop();
    this.#listener.brokeOff();
  }

  lost(why: string): void {
    this.reply = null;
    this.#listener.unanswered(why);
  }

  used(model: number, usage: ModelUsage): void {
    this.#parts.spending.used(model, usage);
  }

  #answered(): void {
    const { reply } = this;
    const uses = this.#uses;
    this.drop();
    if (reply !== null) this.#listener.answered(reply, uses);
  }
}
