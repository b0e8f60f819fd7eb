/**
 * The port behind which an agent holds its side of a call. The call (`media/call`) hears, takes turns, speaks, uses
 * tools, obeys operators and keeps checkpoints, the same for every kind of agent; the agent (`media/agents`) decides
 * what to say next, what words mean and how patient to be. It gets events and answers through its sink, at once or
 * later and from elsewhere: its own timers, another service's answer.
 *
 *   call ── AgentEvent ──► agent ── AgentAction ──► sink ──► call
 *
 * What an agent does wrong costs its own call only: a throw, a rejected promise or more than `MOST_ACTIONS_A_SECOND`
 * end it with `internal_error`; one that never returns is taken down with its thread, and its call with it after the
 * third time. Times named `atMs` are ms of stream.
 */
import type { AgentDefinition } from './agent-definition.ts';
import type { EndedReason } from './call-outcome.ts';
import type { RecoveryKind, SaidMeanwhile } from './conversation.ts';
import type { EarHints, HeardWord } from './ear.ts';
import type { EngineChoice } from './engine-kinds.ts';
import type { ModelChunk, ModelRequest } from './model.ts';
import type { SpeechSource } from './speech-source.ts';
import type { ToolResult } from './tools.ts';

/** `other`: words, but not (yet) a whole answer. `rejected`: speech that the recogniser will not call words. */
export type WordSense = 'nothing' | 'rejected' | 'other' | 'answer' | 'acknowledge' | 'interrupt' | 'hold';

export interface Patience {
  /** Silence that ends the caller's turn when what was heard so far already is a whole answer. */
  minMs: number;
  /** Silence that ends it in any case. */
  maxMs: number;
}

/**
 * Of 1.2 s from the last sound to an answer: the rest is 80 ms for the first sound of a reply that is not there yet, or
 * its way to the caller.
 */
export const LONGEST_PAUSE_MS = 1_120;

/** Said when the line was dead and is back, or when another thread goes on where one died. */
export const BRIDGE = 'Sorry, I lost you for a moment.';

/** A script goes through a hundred silent steps at most, with two actions each. */
export const MOST_ACTIONS_A_SECOND = 1_000;
/** An utterance that ended before its end, for its voice failed: the how-manieth since the last `said`, from 0. */
export interface BrokenOff {
  index: number;
  heardText: string;
}

/**
 * Characters of JSON, of `state` and `variables` together: they travel with every checkpoint, so keep them far below. A
 * script with many tools whose answers are long has some hundred thousand.
 */
export const LONGEST_AGENT_STATE = 2 * 1024 * 1024;

export type AgentEvent =
  /**
   * First of all. `isResumed`: another thread or process died in this call; `state` is what its agent kept, null when
   * that was nothing yet, and `variables` what it had told of the caller.
   */
  | {
      type: 'start';
      atMs: number;
      isResumed: boolean;
      state: unknown;
      variables: Readonly<Record<string, string>>;
      /** What its predecessor was saying when it died, as far as it was known, and what of it was heard. */
      cut?: { text: string; heardText: string };
    }
  /** All that was to be said has been played to its end. */
  | { type: 'said'; atMs: number; brokeOff?: readonly BrokenOff[] }
  /**
   * The agent was cut off: what was not yet played never will be, and what waited to be said is gone too. Of all that
   * it asked to be said since it was last told `said`, so many were played to their end before the one that was cut.
   */
  | { type: 'cut'; atMs: number; heardText: string; saidBefore?: number; brokeOff?: readonly BrokenOff[] }
  | {
      type: 'heard';
      atMs: number;
      text: string;
      /** `injected`: an operator says it in the caller's place. */
      how: 'spoken' | 'typed' | 'keys' | 'injected';
      /** From recognisers that tell them. */
      words?: readonly HeardWord[];
      /** 0 to 1. */
      confidence?: number;
    }
  /**
   * The recogniser is lost for good: nothing will be heard any more. Told to kinds that want it
   * (`AgentTraits.saysGoodbyeDeaf`), who say so and end the call within `DEAF_ENDS_WITHIN_MS`.
   */
  | { type: 'deaf'; atMs: number; error: string }
  /** The caller spoke, but nothing that can be understood. */
  | { type: 'unclear'; atMs: number }
  /**
   * The caller's time begins anew: they asked for a moment, or somebody else's words, or a silence that was ordered,
   * are over.
   */
  | { type: 'wait'; atMs: number; why: 'caller' | 'operator' | 'unmuted' }
  /**
   * A pause that may be the end of what the caller says: `text` is what `heard` would tell now. For agents that begin
   * to think at once. Of words only; once a pause, and again, after `went_on`, when they turn out to be others.
   */
  | { type: 'pause'; atMs: number; text: string }
  /** It was a pause only: more is said, and `text` of it may be another. */
  | { type: 'went_on'; atMs: number }
  /** An answer to `ask` grows. None comes after `unask`, nor after `done` or `failed`. */
  | { type: 'model'; atMs: number; ref: string; chunk: ModelChunk }
  /** The caller's sound begins or ends. */
  | { type: 'caller'; atMs: number; speaking: boolean }
  /** A key of the telephone; digits that make an answer follow as `heard`. */
  | { type: 'key'; atMs: number; key: string }
  /** The result of `ref`, once, told when nothing is being said and the caller has finished. */
  | { type: 'tool'; atMs: number; ref: string; result: ToolResult }
  /** The call has said a word of its own, or of `wordForWait`, into the caller's pause, and it has been heard. */
  | { type: 'filled'; atMs: number }
  /** An operator silences the agent: what it wants to say meanwhile waits. */
  | { type: 'muted'; atMs: number; isMuted: boolean }
  /** A person had the call, and gives it back: this was said, and `note` is for the agent alone. */
  | { type: 'handed_back'; atMs: number; said: readonly SaidMeanwhile[]; note: string | null }
  /** The line is dead, or back: what is to be said waits, and what was cut is said again by the call itself. */
  | { type: 'line'; atMs: number; isHeld: boolean }
  /** Each 40 ms in which nobody but the agent may speak; the object is used again. */
  | { type: 'tick'; atMs: number }
  /** The call is over: nothing that is done from here on has an effect. */
  | { type: 'end'; atMs: number };

export type AgentAction =
  /**
   * At once when nothing is being said, else when that is over; 16 wait at most. `isReply`: said later than at once, it
   * still answers what was heard last, and its latency is told. `ref`: of the `ask` whose answer it is, for the stages
   * of that latency.
   */
  | {
      type: 'say';
      speech: SpeechSource;
      stepId: string | null;
      interruptible: boolean;
      isReply?: boolean;
      ref?: string;
    }
  /** What has not been heard is not said any more; no `cut` follows. */
  | { type: 'hush' }
  /**
   * The result comes as the event `tool` with the same `ref`. Resumed with uses that had no result: use them again, in
   * the same order.
   */
  | { type: 'tool'; ref: string; name: string; arguments: Record<string, unknown> }
  /**
   * Asks `models[model]` of `AgentKind.engines`. `ref`: of the agent's own, not in use. Ten at once at most. A
   * successor is told nothing of what its predecessor asked: it asks again.
   */
  | { type: 'ask'; ref: string; model: number; request: ModelRequest }
  /** Nobody wants that answer any more. */
  | { type: 'unask'; ref: string }
  /** Will be said soon, in these words and `isFixed`: its sound is to be there by then. */
  | { type: 'ready'; text: string }
  /** `hints` or `patience` have changed: they hold from now on, in the caller's open turn too. */
  | { type: 'listen' }
  /** Until it is ended: the caller is not listened to. */
  | { type: 'hold'; isHeld: boolean }
  /** `state` has changed without a turn: keep it. */
  | { type: 'keep' }
  /** For those who watch: where the agent stands. */
  | { type: 'step'; stepId: string }
  /** `key`: what it is about, met `count` times just now. */
  | { type: 'warning'; code: string; message: string; key?: string; count?: number }
  /** How the agent goes on after trouble; `afterMs`: how long it waited for what did not come. */
  | { type: 'recovery'; what: RecoveryKind; message: string; afterMs: number }
  /** At once: say what is to be said before, and wait for `said`. */
  | { type: 'end'; reason: EndedReason; disposition: string | null; error: string | null };

export interface AgentSink {
  /** Returns before anything of it has an effect, when called while the agent handles an event. */
  act(action: AgentAction): void;
  /**
   * Once, `delayMs` from now, unless the returned function is called or the call is over before. What it throws ends
   * the call.
   */
  after(delayMs: number, run: () => void): () => void;
}

export interface SaidWords {
  text: string;
  rejected: boolean;
  /** The turn is over: no more words come. Absent: not yet. */
  isOver?: boolean;
  /** Spoken into the agent's words: what of them had been heard then. */
  into?: string;
  how: 'spoken' | 'typed' | 'keys';
}

export interface Agent {
  /** Where it stands, for the transcript; null: nowhere in particular. */
  readonly stepId: string | null;
  /** Of now, like what `hints` gives. */
  readonly patience: Patience;
  /** A promise is watched, not waited for: events go on coming. */
  handle(event: AgentEvent): void | Promise<void>;
  /** `agentSpeaks`: words of assent and of interruption are to be expected too. */
  hints(agentSpeaks: boolean): EarHints;
  /** What the caller's words mean, so far or in the end. Called for each partial: quick, and without effect. */
  sense(words: SaidWords): WordSense;
  /**
   * Said by the call to a caller who has finished and whose words the recogniser owes; empty: nothing is. Absent: words
   * of the call's own. `filled` says that it was heard.
   */
  wordForWait?(): string;
  /** A label for the transcript, of words that are about to be told as `heard`; null: none. */
  intentOf(text: string): string | null;
  /**
   * An operator tells it what to do, unheard by the caller: it holds from the agent's next words on, for its successor
   * too. False: it cannot follow that now. Absent: it follows nobody.
   */
  instruct?(text: string, atMs: number): boolean;
  /** What a successor needs: JSON, opaque to everybody else. */
  state(): unknown;
  /** What is known of the caller and may be read by others (the analysis). */
  variables(): Readonly<Record<string, string>>;
  close(): void;
}

export interface AgentContext<Definition = AgentDefinition> {
  definition: Definition;
  placeholders: Readonly<Record<string, string>>;
  /** Longest time of the call. The call ends it by itself if the agent has not, some seconds later. */
  maxDurationMs: number;
  /** Of the leg's voice: sound of this rate is not resampled. */
  legRateHz: number;
  sink: AgentSink;
}

/** From the loss of its recogniser to the end of the call, whether the agent has ended it or not. */
export const DEAF_ENDS_WITHIN_MS = 15_000;

export interface AgentTraits {
  /** False: operators cannot make it say anything or silence it. */
  isSteerable: boolean;
  /** A call whose recogniser is lost is ended by the agent, with words. Absent: it ends at once. */
  saysGoodbyeDeaf?: true;
}

/** A kind of agent: one entry of `media/threads/agent-kinds.ts`. */
export interface AgentKind<Definition = AgentDefinition> {
  readonly kind: string;
  readonly traits: AgentTraits;
  /** Of what `state` gives now. */
  readonly stateVersion: number;
  /** States of these versions can be gone on from. */
  readonly readsVersions: readonly number[];
  create(context: AgentContext<Definition>): Agent;
  /** What is said first, rendered while the phone rings; null: nothing. */
  opening(
    definition: Definition,
    placeholders: Readonly<Record<string, string>>,
  ): { text: string; clip?: string } | null;
  /** Which engines such an agent hears and speaks with. */
  engines(definition: Definition): EngineChoice;
  /** Texts that are the same in every call, each with U+0000 in place of what is not: their speech may be kept. */
  fixedTexts(definition: Definition): readonly string[];
}
