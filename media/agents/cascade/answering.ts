/**
 * From a question to the last word of its answer: the models are asked with all that is known, what they write
 * (`writing.ts`) is said, their uses of tools become the call's, and what breaks off is gone on with. Owned by
 * `cascade-agent.ts`, which says when there is something to ask.
 */
import type { AgentEvent } from '../../contract/agent.ts';
import type { ModelToolUse } from '../../contract/model.ts';
import type { ToolResult } from '../../contract/tools.ts';
import type { Endings } from './endings.ts';
import { Memory } from './memory.ts';
import type { Parts } from './parts.ts';
import { questionAhead, questionOf } from './question.ts';
import type { Reply } from './reply.ts';
import { Speculation } from './speculation.ts';
import { Thinking } from './thinking.ts';
import { MOST_ROUNDS } from './tool-round.ts';
import { Writing, type WritingListener } from './writing.ts';

const HEDGE_AFTER_MS = 1_200;
/** More answers that break off than this in a row are a fault like no answer. */
const MOST_BREAKS = 3;

/** Said to the model where its answer is torn. */
export const GO_ON = 'Your last answer broke off. Go on from there, without repeating it.';
const RESULT_HERE = 'The results of your tools are here now. Tell the caller.';

export class Answering implements WritingListener {
  /** An answer broke off: when it was heard, it is gone on with. */
  mustGoOn = false;
  readonly #parts: Parts;
  readonly #endings: Endings;
  readonly #thinking: Thinking;
  readonly #writing: Writing;
  readonly #speculation = new Speculation();
  readonly #memory: Memory;
  /** How often answers broke off since the caller's last word. */
  #breaks = 0;
  /** The caller had a word while tools were at work: their results are told apart. */
  #spokeMeanwhile = false;

  constructor(parts: Parts, endings: Endings) {
    const { definition, sink, history, spending } = parts;
    this.#parts = parts;
    this.#endings = endings;
    const { think, hedgeAfterMs = HEDGE_AFTER_MS } = definition;
    this.#memory = new Memory(history, sink, (usage) => spending.used(0, usage));
    this.#writing = new Writing(parts, this, () => this.#thinking);
    this.#thinking = new Thinking({ models: think, hedgeAfterMs, sink, listener: this.#writing });
  }

  /** The answer that is being written. */
  get reply(): Reply | null {
    return this.#writing.reply;
  }

  /** A model is at work on an answer. */
  get isThinking(): boolean {
    return this.#thinking.isBusy;
  }

  /** Words are owed, and not all of them are on their way. */
  get isOwing(): boolean {
    const { tools, speech } = this.#parts;
    return this.#thinking.isBusy || tools.round.isBusy || this.mustGoOn || speech.waits;
  }

  // ── Questions ─────────────────────────────────────────────────────────────────────────────────────────

  /** The caller has said this, and it is to be answered. `note`: what the history is told before it. */
  answer(text: string, note: string | null): void {
    const { history, tools, atMs } = this.#parts;
    const isThoughtOf = this.#speculation.take(text, history.version);
    this.anew();
    tools.round.rounds = 0;
    this.#breaks = 0;
    this.#spokeMeanwhile = tools.round.isBusy;
    if (note !== null) history.note(note);
    history.user(text);
    if (isThoughtOf && note === null && this.#thinking.isHeld) {
      this.#writing.begin();
      this.#thinking.release(atMs);
    } else this.ask();
  }

  /** Nobody has asked anything: it goes on with what is known now. `note`: what the history is told of it. */
  takeUp(note: string): void {
    const { history, tools } = this.#parts;
    this.anew();
    this.dropSpeculation();
    tools.round.rounds = 0;
    this.#breaks = 0;
    this.#spokeMeanwhile = tools.round.isBusy;
    history.note(note);
    this.ask();
  }

  /** Anew, with all that is known. */
  ask(): void {
    const { spending, sink, lines, atMs } = this.#parts;
    if (spending.isTooDear) {
      sink.act({
        type: 'warning',
        code: 'llm_limit',
        message: 'The models of this call have used what `limits` allows; the call ends.',
      });
      this.#endings.endWith(lines.limit, 'agent_hangup', 'limit_reached', null);
      return;
    }
    this.#writing.begin();
    this.#thinking.begin(questionOf(this.#parts), atMs);
  }

  /** What was not said of the last answer is not wanted any more. */
  anew(): void {
    const { quiet, duty, speech, atMs } = this.#parts;
    quiet.beginsAnew(atMs);
    duty.anew();
    speech.mouth.dropUnasked();
    this.mustGoOn = false;
    this.#writing.drop();
    if (this.#thinking.isBusy) this.#thinking.drop();
  }

  drop(): void {
    this.#thinking.drop();
  }

  /** When it was heard to where it broke off. */
  goOn(): void {
    this.mustGoOn = false;
    this.#parts.history.note(this.#spokeMeanwhile ? RESULT_HERE : GO_ON);
    this.#spokeMeanwhile = false;
    this.ask();
  }

  // ── Questions that may not be asked in the end ────────────────────────────────────────────────────────

  /** Once a pause: what the answer would be, if it were the end. */
  speculate(text: string): void {
    const { speech, farewell, spending, history, atMs } = this.#parts;
    const isFree = !this.isOwing && !speech.mouth.isBusy && farewell.ending === null && !spending.isTooDear;
    if (!isFree || !this.#speculation.begin(text, history.version)) return;
    this.#thinking.begin(questionAhead(this.#parts, text), atMs, true);
  }

  dropSpeculation(): void {
    if (!this.#speculation.isOpen) return;
    this.#speculation.drop();
    if (!this.#thinking.isBusy) this.#thinking.drop();
  }

  // ── What models say ───────────────────────────────────────────────────────────────────────────────────

  told({ ref, chunk, atMs }: Extract<AgentEvent, { type: 'model' }>): void {
    if (!this.#memory.told(ref, chunk)) this.#thinking.told(ref, chunk, atMs);
  }

  brokeOff(): void {
    if (++this.#breaks > MOST_BREAKS) {
      this.unanswered('an answer broke off too often');
      return;
    }
    this.mustGoOn = true;
    if (!this.#parts.speech.hasWords) this.goOn();
  }

  /** In the middle of words that are the model's: what was not heard is said anew. */
  voiceBroke(): void {
    this.anew();
    if (++this.#breaks <= MOST_BREAKS && !this.#parts.tools.round.isBusy) this.goOn();
  }

  /** `why`: what the models said, for people. */
  unanswered(why: string): void {
    const { sink } = this.#parts;
    sink.act({ type: 'warning', code: 'llm_lost', message: 'No model answers; the call ends with an apology.' });
    const message = 'No language model of the agent answered.';
    this.#endings.apologise('llm_error', why === '' ? message : `${message.slice(0, -1)}: ${why}`, message);
  }

  answered(reply: Reply, uses: readonly ModelToolUse[]): void {
    const { tools, sink, speech, history, lines, atMs } = this.#parts;
    if (uses.length > 0) {
      if (!tools.round.isBusy && tools.round.rounds < MOST_ROUNDS) {
        reply.entry.uses = [...uses];
        history.remember(reply.entry);
        this.#spokeMeanwhile = false;
        tools.use(reply, uses, atMs);
        if (!tools.round.isBusy) this.#afterTools();
        return;
      }
      // It was told to answer in words.
      sink.act({
        type: 'warning',
        code: 'llm_tools',
        message: `The model used tools where it must not: ${uses[0]!.name}.`,
      });
    }
    history.remember(reply.entry);
    if (!reply.hasWords) speech.line(lines.nothing);
    sink.act({ type: 'keep' });
  }

  // ── Tools ─────────────────────────────────────────────────────────────────────────────────────────────

  toolDone(ref: string, result: ToolResult): void {
    const { tools } = this.#parts;
    if (tools.done(ref, result) && !tools.round.isBusy) this.#afterTools();
  }

  /** All results are there: the model goes on from them, unless the call is to end. */
  #afterTools(): void {
    const { farewell, history } = this.#parts;
    if (farewell.ending !== null) return;
    // An answer to what the caller said meanwhile is on its way: the results follow it.
    if (this.#thinking.isBusy) {
      this.mustGoOn = true;
      return;
    }
    if (this.#spokeMeanwhile) history.note(RESULT_HERE);
    this.#spokeMeanwhile = false;
    this.ask();
  }

  // ── Time ──────────────────────────────────────────────────────────────────────────────────────────────

  /** When all was said and nothing is owed, the history is kept short. */
  tendMemory(): void {
    if (!this.isOwing) this.#memory.tend(this.#parts.atMs);
  }

  tick(): void {
    const { atMs } = this.#parts;
    this.#thinking.tick(atMs);
    this.#memory.tick(atMs);
    if (this.#parts.isOver) return;
    this.reply?.tick(atMs);
    this.#closeOrphans();
    if (this.#parts.tools.tick(atMs)) this.#afterTools();
  }

  /** What has lost whoever it waits for: words that nobody writes any more, an answer that nobody thinks of. */
  #closeOrphans(): void {
    const { mouth } = this.#parts.speech;
    const isThinking = this.#thinking.isBusy;
    if (this.reply !== null && !isThinking) this.#writing.close();
    if (this.reply === null) for (const { feed } of mouth.sayings) feed.finish();
    if (this.mustGoOn && !isThinking && mouth.sayings.length === 0) this.goOn();
  }
}
