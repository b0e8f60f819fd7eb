/**
 * The line between a call and its agent: events one way, actions the other. Actions wait until the agent has handled
 * its event, and come at once when the agent acts by itself. Made by the conversation, which carries them out. Whatever
 * the agent does wrong here, `failed` is told, once, and nothing more passes.
 */
import {
  type Agent,
  type AgentAction,
  type AgentContext,
  type AgentEvent,
  type AgentKind,
  type AgentSink,
  MOST_ACTIONS_A_SECOND,
  type SaidWords,
  type WordSense,
} from '../contract/agent.ts';
import type { AgentState } from '../contract/checkpoint.ts';
import type { Clock } from '../contract/clock.ts';
import type { EarHints } from '../contract/ear.ts';

const MOST_TIMERS = 100;
/** Of an agent that has no words of its own for it. */
const WORD_FOR_WAIT = 'One moment.';

export interface AgentLineDeps {
  kind: AgentKind;
  context: Omit<AgentContext, 'sink'>;
  clock: Clock;
  act(action: AgentAction): void;
  failed(error: unknown): void;
}

export class AgentLine implements AgentSink {
  readonly agent: Agent;
  readonly #deps: AgentLineDeps;
  readonly #actions: AgentAction[] = [];
  readonly #timers = new Set<() => void>();
  /** Within the agent's own code. */
  #depth = 0;
  #isCarryingOut = false;
  #isClosed = false;
  #acted = 0;
  #countedSinceMs = Number.NEGATIVE_INFINITY;

  constructor(deps: AgentLineDeps) {
    this.#deps = deps;
    this.#depth++;
    this.agent = deps.kind.create({ ...deps.context, sink: this });
    this.#depth--;
  }

  /** Why the agent cannot go on from this; null: it can. */
  faultOf({ kind, version }: AgentState): string | null {
    const { kind: own, readsVersions } = this.#deps.kind;
    if (kind === own && readsVersions.includes(version)) return null;
    return `the checkpoint is of version ${version} of '${kind}', and agents of kind '${own}' read: ${readsVersions.join(', ')}`;
  }

  tell(event: AgentEvent): void {
    if (this.#isClosed) return;
    // No closure: this is told at each tick.
    this.#depth++;
    try {
      const handled = this.agent.handle(event);
      if (handled !== undefined) handled.then(undefined, (error: unknown) => this.#fail(error));
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#depth--;
    }
    this.carryOut();
  }

  /** What the agent did while it was asked something; called at each tick. */
  carryOut(): void {
    if (this.#actions.length === 0 || this.#depth > 0 || this.#isCarryingOut) return;
    this.#isCarryingOut = true;
    try {
      for (let next = this.#actions.shift(); next !== undefined; next = this.#actions.shift()) {
        if (!this.#isClosed) this.#deps.act(next);
      }
    } finally {
      this.#isCarryingOut = false;
    }
  }

  sense(words: SaidWords): WordSense {
    return this.#asked(() => this.agent.sense(words));
  }

  hints(agentSpeaks: boolean): EarHints {
    return this.#asked(() => this.agent.hints(agentSpeaks));
  }

  intentOf(text: string): string | null {
    return this.#asked(() => this.agent.intentOf(text));
  }

  /** For a caller who has finished, and whose words nobody knows yet; empty: nothing is to be said. */
  wordForWait(): string {
    return this.#asked(() => this.agent.wordForWait?.() ?? WORD_FOR_WAIT);
  }

  /** An operator's word to the agent alone. Null: it follows nobody. */
  instruct(text: string, atMs: number): boolean | null {
    const isFollowed = this.#asked(() => this.agent.instruct?.(text, atMs) ?? null);
    this.carryOut();
    return isFollowed;
  }

  /** For a checkpoint. */
  kept(): { agent: AgentState; variables: Record<string, string> } {
    const { kind, stateVersion: version } = this.#deps.kind;
    return this.#asked(() => ({
      agent: { kind, version, state: this.agent.state() },
      variables: { ...this.agent.variables() },
    }));
  }

  /** The last event; what it does in answer has no effect. */
  close(atMs: number): void {
    if (this.#isClosed) return;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    this.tell({ type: 'end', atMs });
    this.#isClosed = true;
    this.#actions.length = 0;
    this.agent.close();
  }

  // ── The agent's side ──────────────────────────────────────────────────────────────────────────────────

  act(action: AgentAction): void {
    if (this.#isClosed) return;
    const nowMs = this.#deps.clock.nowMs();
    if (nowMs - this.#countedSinceMs >= 1_000) {
      this.#countedSinceMs = nowMs;
      this.#acted = 0;
    }
    if (++this.#acted > MOST_ACTIONS_A_SECOND) {
      this.#fail(new Error(`the agent wants more than ${MOST_ACTIONS_A_SECOND} actions in a second`));
      return;
    }
    this.#actions.push(action);
    if (this.#depth > 0) return;
    // By itself: what goes wrong here is not to be thrown into whoever called the agent.
    try {
      this.carryOut();
    } catch (error) {
      this.#fail(error);
    }
  }

  after(delayMs: number, run: () => void): () => void {
    if (this.#isClosed) return () => {};
    if (this.#timers.size >= MOST_TIMERS) throw new Error(`the agent wants more than ${MOST_TIMERS} timers at once`);
    const forget = this.#deps.clock.after(delayMs, () => {
      this.#timers.delete(cancel);
      if (!this.#isClosed) this.#within(run);
    });
    const cancel = () => {
      this.#timers.delete(cancel);
      forget();
    };
    this.#timers.add(cancel);
    return cancel;
  }

  // ── Inside ────────────────────────────────────────────────────────────────────────────────────────────

  #within(run: () => void): void {
    this.#depth++;
    try {
      run();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#depth--;
    }
    this.carryOut();
  }

  /** What it throws ends the call by whoever asked. */
  #asked<Answer>(ask: () => Answer): Answer {
    this.#depth++;
    try {
      return ask();
    } finally {
      this.#depth--;
    }
  }

  #fail(error: unknown): void {
    if (this.#isClosed) return;
    this.#actions.length = 0;
    this.#deps.failed(error);
  }
}
