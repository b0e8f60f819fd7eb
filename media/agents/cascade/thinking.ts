/**
 * One question to the models at a time, and whoever answers it first: the first of them is asked, the next too when no
 * word comes in time or a fault does, and all of them once more before it is given up. An answer may be held back until
 * it is wanted (speculation). No clock: the agent tells it chunks and ticks, with their times.
 *
 *   asked ──first chunk──► answers ──done──► over        asked ──1.2 s──► the next is asked too, the faster answers
 *     └──fault──► the next │ all again │ lost              answers ──fault, 4 s of nothing──► broke off
 */
import type { AgentSink } from '../../contract/agent.ts';
import type { CascadeModel } from '../../contract/agent-definition.ts';
import type { ModelChunk, ModelRequest, ModelToolUse, ModelUsage, ProviderFault } from '../../contract/model.ts';

export type Question = Omit<ModelRequest, 'maxTokens'>;

export interface ThinkingListener {
  text(text: string): void;
  use(use: ModelToolUse): void;
  done(stop: 'end' | 'tools' | 'length' | 'filtered'): void;
  /** After words or uses: no more of them come. */
  broke(): void;
  /** Nobody answers; `why`: what each of them said last, for people. Empty: none said anything. */
  lost(why: string): void;
  used(model: number, usage: ModelUsage): void;
}

export interface ThinkingDeps {
  models: readonly CascadeModel[];
  hedgeAfterMs: number;
  sink: AgentSink;
  listener: ThinkingListener;
}

export const DEFAULT_MAX_TOKENS = 400;
/** From the question to the end of all hope. */
export const GIVE_UP_MS = 8_000;
/** Between the words of an answer; a tool's arguments are told when they are whole. */
export const STALL_MS = 4_000;
const RETRY_AFTER_MS = 500;
/** Who was too slow, or failed, twice in a row is asked last for a while. */
const LOSSES = 2;
const ASKED_LAST_MS = 60_000;
/** Of English. */
const CHARS_A_TOKEN = 4;

interface Attempt {
  ref: string;
  model: number;
  askedAtMs: number;
  isOver: boolean;
  /** Of its answer so far; NaN: nothing came. */
  chars: number;
}

interface Thought {
  question: Question;
  isHeld: boolean;
  kept: ModelChunk[];
  attempts: Attempt[];
  /** Models that were asked since all were asked last. */
  tried: Set<number>;
  rounds: number;
  answers: Attempt | null;
  begunAtMs: number;
  lastAtMs: number;
}

export class Thinking {
  readonly #deps: ThinkingDeps;
  #thought: Thought | null = null;
  #asked = 0;
  /** Never asked again in this call: their key, or what is asked of them, is refused. */
  readonly #barred = new Set<number>();
  readonly #losses: number[];
  readonly #lastUntilMs: number[];
  /** Models that failed and after which nobody else was asked yet, with how long each took. */
  readonly #failures = new Map<number, { attempt: Attempt; afterMs: number }>();
  /** What each said of its last failure. */
  readonly #said = new Map<number, string>();

  constructor(deps: ThinkingDeps) {
    this.#deps = deps;
    this.#losses = deps.models.map(() => 0);
    this.#lastUntilMs = deps.models.map(() => Number.NEGATIVE_INFINITY);
  }

  /** An answer is on its way, and wanted. */
  get isBusy(): boolean {
    return this.#thought !== null && !this.#thought.isHeld;
  }

  /** The `ask` that is being answered. */
  get answering(): string | undefined {
    return this.#thought?.answers?.ref;
  }

  /** An answer is on its way, or there already, and nobody wants it yet. */
  get isHeld(): boolean {
    return this.#thought?.isHeld === true;
  }

  /** `isHeld`: it is asked for before it is known that it is wanted. What was thought before is dropped. */
  begin(question: Question, atMs: number, isHeld = false): void {
    this.drop();
    const thought: Thought = {
      question,
      isHeld,
      kept: [],
      attempts: [],
      tried: new Set(),
      rounds: 1,
      answers: null,
      begunAtMs: atMs,
      lastAtMs: atMs,
    };
    this.#thought = thought;
    if (!this.#askNext(thought, atMs) && !isHeld) this.#lose();
  }

  /** What was held back is wanted now. */
  release(atMs: number): void {
    const thought = this.#thought;
    if (thought === null || !thought.isHeld) return;
    thought.isHeld = false;
    thought.begunAtMs = atMs;
    thought.lastAtMs = atMs;
    // What failed while nobody wanted it is asked for again.
    if (thought.answers === null && thought.attempts.every(({ isOver }) => isOver)) {
      this.begin(thought.question, atMs);
      return;
    }
    const goesOn = thought.answers ?? thought.attempts.find(({ isOver }) => !isOver);
    if (goesOn !== undefined) this.#wentOn(goesOn.model);
    for (const attempt of thought.attempts)
      attempt.askedAtMs = Math.max(attempt.askedAtMs, atMs - this.#deps.hedgeAfterMs / 2);
    for (const chunk of thought.kept.splice(0)) {
      if (this.#thought !== thought) return;
      this.#hand(thought, chunk);
    }
  }

  /** Nobody wants it. */
  drop(): void {
    const thought = this.#thought;
    this.#thought = null;
    if (thought !== null) this.#takeBack(thought, null);
  }

  told(ref: string, chunk: ModelChunk, atMs: number): void {
    const thought = this.#thought;
    const attempt = thought?.attempts.find((one) => one.ref === ref && !one.isOver);
    if (thought === null || attempt === undefined) return;
    if (chunk.type !== 'failed') attempt.chars = (attempt.chars || 0) + charsOf(chunk);
    if (chunk.type === 'done') this.#used(thought, attempt, chunk.usage);
    if (this.#thought !== thought) return;
    if (chunk.type === 'failed') this.#failed(thought, attempt, chunk.fault, chunk.message, atMs);
    else if (chunk.type === 'done' && thought.answers === null && chunk.stop !== 'filtered') {
      attempt.isOver = true;
      this.#failed(thought, attempt, 'failed', 'It answered without a word.', atMs);
    } else if (chunk.type !== 'text' || chunk.text !== '') {
      if (thought.answers === null) this.#answers(thought, attempt, atMs);
      thought.lastAtMs = atMs;
      if (chunk.type === 'done') attempt.isOver = true;
      if (thought.isHeld) thought.kept.push(chunk);
      else this.#hand(thought, chunk);
    }
  }

  /** Its deadlines. */
  tick(atMs: number): void {
    const thought = this.#thought;
    if (thought === null || thought.isHeld) return;
    if (thought.answers !== null) {
      if (atMs - thought.lastAtMs >= STALL_MS) this.#stalled(thought, thought.answers, atMs);
      return;
    }
    if (atMs - thought.begunAtMs >= GIVE_UP_MS) {
      this.#lose();
      return;
    }
    const running = thought.attempts.filter(({ isOver }) => !isOver);
    const newest = running.at(-1);
    if (newest === undefined) {
      if (atMs - thought.lastAtMs < RETRY_AFTER_MS) return;
      thought.rounds++;
      thought.tried.clear();
      if (!this.#askNext(thought, atMs)) this.#lose();
    } else if (atMs - newest.askedAtMs >= this.#deps.hedgeAfterMs && this.#nextModel(thought, atMs) !== null) {
      this.#lost(newest.model, atMs);
      this.#warn(
        'llm_slow',
        newest.model,
        `No word within ${this.#deps.hedgeAfterMs} ms; the next model is asked too.`,
      );
      this.#recover('model_hedge', newest, atMs - newest.askedAtMs);
      this.#askNext(thought, atMs);
    }
  }

  #hand(thought: Thought, chunk: ModelChunk): void {
    const { listener } = this.#deps;
    if (chunk.type === 'text') listener.text(chunk.text);
    else if (chunk.type === 'use') listener.use(chunk.use);
    else if (chunk.type === 'done') {
      if (this.#thought === thought) this.#thought = null;
      listener.done(chunk.stop);
    }
  }

  #answers(thought: Thought, attempt: Attempt, atMs: number): void {
    thought.answers = attempt;
    this.#takeBack(thought, attempt);
    if (atMs - attempt.askedAtMs < this.#deps.hedgeAfterMs) this.#losses[attempt.model] = 0;
  }

  #failed(thought: Thought, attempt: Attempt, fault: ProviderFault, message: string, atMs: number): void {
    if (!attempt.isOver) this.#used(thought, attempt, null);
    attempt.isOver = true;
    thought.lastAtMs = atMs;
    if (fault === 'refused' || fault === 'no_connection') this.#barred.add(attempt.model);
    else this.#lost(attempt.model, atMs);
    this.#warn('llm_failed', attempt.model, `${fault}: ${message}`);
    this.#said.set(attempt.model, `${this.#nameOf(attempt.model)}: ${fault}: ${message}`);
    this.#failures.set(attempt.model, { attempt, afterMs: atMs - attempt.askedAtMs });
    if (thought.answers === attempt) {
      this.#brokeOff(thought);
      return;
    }
    if (thought.isHeld) return;
    const other = thought.attempts.find(({ isOver }) => !isOver);
    if (other !== undefined) {
      this.#wentOn(other.model);
      return;
    }
    if (this.#askNext(thought, atMs)) return;
    // A moment later all are asked once more, those at least that did not refuse.
    if (thought.rounds > 1 || this.#barred.size === this.#deps.models.length) this.#lose();
  }

  #stalled(thought: Thought, attempt: Attempt, atMs: number): void {
    this.#used(thought, attempt, null);
    attempt.isOver = true;
    this.#deps.sink.act({ type: 'unask', ref: attempt.ref });
    this.#lost(attempt.model, atMs);
    this.#warn('llm_failed', attempt.model, `timeout: The answer broke off for ${STALL_MS} ms.`);
    this.#said.set(attempt.model, `${this.#nameOf(attempt.model)}: timeout: the answer broke off`);
    this.#failures.set(attempt.model, { attempt, afterMs: atMs - attempt.askedAtMs });
    this.#brokeOff(thought);
  }

  #brokeOff(thought: Thought): void {
    const { isHeld } = thought;
    this.#thought = null;
    if (isHeld) return;
    // What was said so far stands, and is gone on from.
    this.#wentOn(null);
    this.#deps.listener.broke();
  }

  #lose(): void {
    this.drop();
    this.#failures.clear();
    this.#deps.listener.lost([...this.#said.values()].join('; '));
  }

  /** The words that are wanted come of this model (null: of whoever is asked next), whatever others failed before. */
  #wentOn(model: number | null): void {
    for (const [failed, { attempt, afterMs }] of this.#failures) {
      if (failed !== model) this.#recover('model_fallback', attempt, afterMs);
    }
    this.#failures.clear();
  }

  #askNext(thought: Thought, atMs: number): boolean {
    const model = this.#nextModel(thought, atMs);
    if (model === null) return false;
    thought.tried.add(model);
    if (!thought.isHeld) this.#wentOn(model);
    const ref = `ask${++this.#asked}`;
    thought.attempts.push({ ref, model, askedAtMs: atMs, isOver: false, chars: Number.NaN });
    const maxTokens = this.#deps.models[model]!.maxTokens ?? DEFAULT_MAX_TOKENS;
    this.#deps.sink.act({ type: 'ask', ref, model, request: { ...thought.question, maxTokens } });
    return true;
  }

  #nextModel({ tried }: Thought, atMs: number): number | null {
    const open = this.#deps.models
      .map((_, model) => model)
      .filter((model) => !tried.has(model) && !this.#barred.has(model));
    return open.find((model) => this.#lastUntilMs[model]! <= atMs) ?? open[0] ?? null;
  }

  #takeBack(thought: Thought, but: Attempt | null): void {
    for (const attempt of thought.attempts) {
      if (attempt === but || attempt.isOver) continue;
      this.#used(thought, attempt, null);
      attempt.isOver = true;
      this.#deps.sink.act({ type: 'unask', ref: attempt.ref });
    }
  }

  /** What nobody says is estimated: a call's limits hold for servers that do not count, and for what was dropped. */
  #used({ question }: Thought, { model, chars }: Attempt, usage: ModelUsage | null): void {
    if (usage === null && Number.isNaN(chars)) return;
    this.#deps.listener.used(
      model,
      usage ?? {
        inputTokens: Math.ceil(JSON.stringify(question.messages).length / CHARS_A_TOKEN),
        cachedInputTokens: 0,
        outputTokens: Math.ceil(chars / CHARS_A_TOKEN),
      },
    );
  }

  #lost(model: number, atMs: number): void {
    if (++this.#losses[model]! < LOSSES) return;
    this.#losses[model] = 0;
    this.#lastUntilMs[model] = atMs + ASKED_LAST_MS;
  }

  #recover(what: 'model_hedge' | 'model_fallback', { model }: Attempt, afterMs: number): void {
    const message = `${this.#nameOf(model)} ${what === 'model_hedge' ? 'is late' : 'failed'}`;
    this.#deps.sink.act({ type: 'recovery', what, message, afterMs: Math.round(afterMs) });
  }

  #warn(code: string, model: number, message: string): void {
    const { connection: key } = this.#deps.models[model]!;
    this.#deps.sink.act({ type: 'warning', code, message: `${this.#nameOf(model)}: ${message}`, key });
  }

  #nameOf(model: number): string {
    const { connection, model: name } = this.#deps.models[model]!;
    return `${connection} (${name})`;
  }
}

function charsOf(chunk: ModelChunk): number {
  if (chunk.type === 'text') return chunk.text.length;
  return chunk.type === 'use' ? chunk.use.argumentsText.length : 0;
}
