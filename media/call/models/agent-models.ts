/**
 * The agent's questions to language models: asked for it under its own names, and their answers told to it as they
 * come. What a provider says is held to the port here: in order, bounded, nothing after its end or the call's. Called
 * by the conversation.
 */
import type { AgentAction } from '../../contract/agent.ts';
import type { ModelRequestFacts } from '../../contract/conversation.ts';
import type { LanguageModel, ModelChunk } from '../../contract/model.ts';
import type { AskTimes } from '../reply-stages.ts';

export const MOST_ASKS = 10;
/** Of one answer, arguments of tools among them. No utterance is longer, and none is read by anybody else. */
const MOST_ANSWER_CHARS = 200_000;
/** Answers whose times are known still: what is said later than so many questions is no reply to any. */
const MOST_TIMES = 3 * MOST_ASKS;

type RequestEnd = Pick<ModelRequestFacts, 'outcome' | 'fault' | 'usage'>;

export interface AgentModelsDeps {
  /** By their place in `EngineChoice.models`. */
  models: readonly LanguageModel[];
  /** Ms of stream. */
  nowMs(): number;
  /** One is over. */
  asked(times: AskTimes, end: RequestEnd): void;
  tell(ref: string, chunk: ModelChunk): void;
  /** The agent, or what it did in answer, failed: the call ends. */
  failed(error: unknown): void;
}

export class AgentModels {
  readonly #deps: AgentModelsDeps;
  readonly #asks = new Map<string, { takeBack: () => void; times: AskTimes }>();
  /** The oldest first. */
  readonly #times = new Map<string, AskTimes>();
  #isClosed = false;

  constructor(deps: AgentModelsDeps) {
    this.#deps = deps;
  }

  /** Throws, and so ends the call, where the agent is out of bounds. */
  ask({ ref, model, request }: Extract<AgentAction, { type: 'ask' }>): void {
    const { models } = this.#deps;
    const asked = models[model];
    if (asked === undefined) throw new Error(`the agent asks model ${model}, and it has ${models.length}`);
    if (this.#asks.has(ref)) throw new Error(`the agent asks under '${ref}', which is in use`);
    if (this.#asks.size >= MOST_ASKS) throw new Error(`the agent asks more than ${MOST_ASKS} models at once`);
    const times: AskTimes = { model, askedAtMs: this.#deps.nowMs(), firstTokenAtMs: Number.NaN };
    const ask = { takeBack: (): void => {}, times };
    this.#remember(ref, times);
    let chars = 0;
    // First: an answer that comes from within all the same is one to this.
    this.#asks.set(ref, ask);
    ask.takeBack = asked.ask(request, (chunk) => {
      if (this.#asks.get(ref) !== ask) return;
      if (Number.isNaN(times.firstTokenAtMs) && chunk.type !== 'failed') times.firstTokenAtMs = this.#deps.nowMs();
      chars += charsOf(chunk);
      if (chars <= MOST_ANSWER_CHARS) this.#tell(ref, chunk);
      else {
        ask.takeBack();
        this.#tell(ref, { type: 'done', stop: 'length', usage: null });
      }
    });
  }

  /** Null: it was never asked, or so long ago that it is forgotten. */
  timesOf(ref: string): AskTimes | null {
    return this.#times.get(ref) ?? null;
  }

  #remember(ref: string, times: AskTimes): void {
    this.#times.delete(ref);
    this.#times.set(ref, times);
    for (const oldest of this.#times.keys()) {
      if (this.#times.size <= MOST_TIMES) break;
      this.#times.delete(oldest);
    }
  }

  /** Nothing happens when it was answered, or never asked. */
  unask(ref: string): void {
    const ask = this.#asks.get(ref);
    this.#asks.delete(ref);
    if (ask === undefined) return;
    ask.takeBack();
    this.#deps.asked(ask.times, { outcome: 'taken_back', fault: null, usage: null });
  }

  close(): void {
    this.#isClosed = true;
    for (const ref of [...this.#asks.keys()]) this.unask(ref);
  }

  /** Comes between the call's ticks: what goes wrong must not be thrown into whoever brings it. */
  #tell(ref: string, chunk: ModelChunk): void {
    if (this.#isClosed) return;
    const ask = this.#asks.get(ref);
    const end = endOf(chunk);
    if (end !== null && ask !== undefined) {
      this.#asks.delete(ref);
      this.#deps.asked(ask.times, end);
    }
    try {
      this.#deps.tell(ref, chunk);
    } catch (error) {
      this.#deps.failed(error);
    }
  }
}

function endOf(chunk: ModelChunk): RequestEnd | null {
  if (chunk.type === 'done') return { outcome: 'ok', fault: null, usage: chunk.usage };
  return chunk.type === 'failed' ? { outcome: 'failed', fault: chunk.fault, usage: null } : null;
}

function charsOf(chunk: ModelChunk): number {
  if (chunk.type === 'text') return chunk.text.length;
  return chunk.type === 'use' ? chunk.use.argumentsText.length : 0;
}
