/**
 * Who has the word: carries out what the hearing makes of an interruption (pause, cut, go on), keeps what waits until
 * the far end has fallen silent, and lets the line be dead and come back. The conversation pumps it; what follows from
 * a cut is the conversation's.
 *
 *   hearing ── may interrupt · interrupts · meant ──► pause · cut · go on ──► `cut`, `mean`
 */
import { BRIDGE } from '../contract/agent.ts';
import type { Hearing } from './hearing/hearing.ts';
import { type InterruptionListener, type Meaning, together } from './hearing/meaning.ts';
import type { OperatorDesk } from './operator-desk.ts';
import type { OwedWords, SaidBefore } from './owed-words.ts';
import type { CallReporter } from './reporter.ts';
import type { AgentSpeech, Utterance } from './speaking/agent-speech.ts';
import { restOfFeed } from './speaking/feed-pieces.ts';
import type { Encouragement } from './turn-taking/encouragement.ts';

export interface FloorListener {
  /** The agent was cut off. */
  cut(heardText: string, before: SaidBefore): void;
  /** So was what it has wanted to say while it was not to. */
  cutWaiting(): void;
  /** Nothing is being said any more: what the caller meant has its effect. */
  mean(meaning: Meaning): void;
  /** A turn that will not have one. */
  unmeant(meaning: Meaning): void;
  /** Where the agent stands. */
  readonly stepId: string | null;
}

export interface FloorDeps {
  reporter: CallReporter;
  agentSpeech: AgentSpeech;
  operator: OperatorDesk;
  owed: OwedWords;
  encouragement: Encouragement;
  listener: FloorListener;
}

export class Floor implements InterruptionListener {
  /** The line is dead: time stands still. */
  isHeld = false;
  readonly #deps: FloorDeps;
  #hearing: Hearing | null = null;
  /** A turn whose meaning is known but waits until the far end has stopped playing. */
  #waiting: Meaning | null = null;
  /** What to do once the playhead is final. */
  #onceSettled: 'nothing' | 'commit' | 'resume' | 'bridge' = 'nothing';
  /** A clip that was cut, and sounds anew after the bridge. */
  #afterBridge: Utterance | null = null;

  constructor(deps: FloorDeps) {
    this.#deps = deps;
  }

  start(hearing: Hearing): void {
    this.#hearing = hearing;
  }

  /** The caller's words wait to be meant. */
  get isTaken(): boolean {
    return this.#waiting !== null;
  }

  /** At each tick. */
  settle(): void {
    if (this.#onceSettled !== 'nothing' && this.#deps.agentSpeech.settled) this.#settled();
  }

  mayInterrupt(): void {
    const { agentSpeech } = this.#deps;
    if (!agentSpeech.active) return;
    agentSpeech.pause();
    this.#tellBargeIn('pause');
  }

  interrupts(): void {
    const { agentSpeech } = this.#deps;
    this.#hearing?.bePatient();
    if (!agentSpeech.active) return;
    agentSpeech.pause();
    this.#onceSettled = 'commit';
    this.settle();
  }

  letsGoOn(): void {
    const { agentSpeech, operator } = this.#deps;
    const hearing = this.#hearing;
    hearing?.bePatient();
    if (hearing?.pausedAgent !== true || !agentSpeech.active || operator.muted) return;
    this.#onceSettled = 'resume';
    this.settle();
  }

  meant(meaning: Meaning): void {
    this.answerEncouragement();
    const { agentSpeech, encouragement } = this.#deps;
    if (this.#onceSettled === 'commit') this.#wait(meaning);
    else if (!agentSpeech.active || encouragement.speaks) this.#deps.listener.mean(meaning);
  }

  /** It interrupts, whatever it is. */
  meantAtOnce(meaning: Meaning): void {
    this.#wait(meaning);
    this.interrupts();
  }

  /** Until the far end has stopped playing; what waits already is not lost. */
  #wait(meaning: Meaning): void {
    this.#waiting = this.#waiting === null ? meaning : together(this.#waiting, meaning);
  }

  /** The call is over: nothing will be meant. What waited to be, for whoever writes it down. */
  close(): Meaning | null {
    const waiting = this.#waiting;
    this.#waiting = null;
    this.#onceSettled = 'nothing';
    return waiting;
  }

  /** An operator wants the word. */
  cutForOperator(): void {
    if (!this.#deps.agentSpeech.active) {
      this.#deps.listener.cutWaiting();
      return;
    }
    const waiting = this.#waiting;
    this.#waiting = null;
    this.#onceSettled = 'nothing';
    if (waiting !== null) this.#deps.listener.unmeant(waiting);
    this.#cut();
  }

  /**
   * The agent wants nothing more of its own words said. Of words that the caller is cutting already the cut follows.
   */
  hush(): void {
    const { agentSpeech, owed } = this.#deps;
    this.endEncouragement();
    if (owed.areOthers || this.#onceSettled === 'commit') return;
    this.#onceSettled = 'nothing';
    this.#afterBridge = null;
    agentSpeech.silence(true);
    this.#hearing?.endInterruption();
  }

  /** The agent falls silent for as long as it is muted. */
  mute(): void {
    if (this.#onceSettled === 'resume') this.#onceSettled = 'nothing';
    this.#deps.agentSpeech.pause();
  }

  /** From the word at which it fell silent; false: nothing was being said. */
  unmute(): boolean {
    const { agentSpeech } = this.#deps;
    if (!agentSpeech.active) return false;
    if (agentSpeech.settled) agentSpeech.resume();
    else this.#onceSettled = 'resume';
    return true;
  }

  hold(held: boolean): void {
    const { agentSpeech, operator } = this.#deps;
    if (held === this.isHeld) return;
    this.isHeld = held;
    this.#hearing?.hold(held);
    if (held) {
      if (this.#onceSettled === 'resume') this.#onceSettled = 'nothing';
      if (this.#onceSettled === 'nothing' && agentSpeech.active) agentSpeech.pause();
      return;
    }
    // What was to be said next, if anything, is still owed; a commit that waits goes its own way, and a muted agent
    // says nothing.
    if (this.#onceSettled === 'commit' || operator.muted) return;
    if (!agentSpeech.active || agentSpeech.settled) this.#bridge();
    else this.#onceSettled = 'bridge';
  }

  /** What was said was a bridge, and what it led to is said now. */
  goOnAfterBridge(): boolean {
    const cut = this.#afterBridge;
    this.#afterBridge = null;
    if (cut === null) return false;
    this.#deps.agentSpeech.say(cut);
    return true;
  }

  /** The caller goes on, or their turn is over: whatever the agent says now is an answer. */
  endEncouragement(): void {
    const { encouragement, agentSpeech } = this.#deps;
    if (!encouragement.speaks) return;
    encouragement.over(this.#nowMs);
    agentSpeech.silence(true);
  }

  /** There is an answer: what was said to who waits for it is heard to its end, if it has begun to be heard. */
  answerEncouragement(): void {
    const { encouragement, agentSpeech } = this.#deps;
    if (!encouragement.isOfWait || !agentSpeech.audible) this.endEncouragement();
  }

  get #nowMs(): number {
    return this.#hearing?.nowMs ?? 0;
  }

  /** The playhead is final: cut there, or go on from the word that was cut. */
  #settled(): void {
    const what = this.#onceSettled;
    this.#onceSettled = 'nothing';
    if (what === 'bridge') this.#bridge();
    else if (what === 'resume') {
      this.#tellBargeIn('resume');
      this.#deps.agentSpeech.resume();
    } else this.#commit();
  }

  #commit(): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    const turn = waiting?.turn ?? this.#hearing?.turn ?? null;
    if (turn !== null) turn.cutAgent = true;
    this.#tellBargeIn('commit', this.#deps.agentSpeech.heardText);
    this.#cut();
    if (waiting !== null) this.#deps.listener.mean(waiting);
  }

  #cut(): void {
    const { agentSpeech, owed, encouragement, listener } = this.#deps;
    const { heardText } = agentSpeech;
    this.#afterBridge = null;
    encouragement.over(this.#nowMs);
    agentSpeech.silence(true);
    const before = owed.cut();
    this.#hearing?.endInterruption();
    listener.cut(heardText, before);
  }

  /** The line is back: a short word, and then what was cut. */
  #bridge(): void {
    const { agentSpeech, owed, listener } = this.#deps;
    this.endEncouragement();
    const unsaid = agentSpeech.active ? agentSpeech.unsaid : null;
    if (unsaid === null) {
      // A bridge alone is no answer of the agent's: it only gives the caller their time anew.
      owed.areOthers = true;
      agentSpeech.say({ speech: { text: BRIDGE }, stepId: listener.stepId, interruptible: true, anchor: null });
      return;
    }
    const { utterance, restText } = unsaid;
    const { speech } = utterance;
    if ('text' in speech) {
      agentSpeech.silence(true);
      const { clip, ...words } = { ...speech, isOpening: false };
      if (clip !== undefined) this.#afterBridge = { ...utterance, speech: { ...words, clip }, anchor: null };
      const text = `${BRIDGE} ${clip === undefined ? restText : ''}`.trim();
      agentSpeech.say({ ...utterance, speech: { ...words, text }, anchor: null });
    } else if ('feed' in speech) {
      const feed = restOfFeed(speech.feed, `${BRIDGE} ${restText}`);
      agentSpeech.silence(true);
      agentSpeech.say({ ...utterance, speech: { feed }, anchor: null });
    } else agentSpeech.resume();
  }

  #tellBargeIn(phase: 'pause' | 'commit' | 'resume', heardText?: string): void {
    const { reporter } = this.#deps;
    const atMs = reporter.nowMs;
    reporter.conversationEvent(
      heardText === undefined ? { type: 'barge_in', phase, atMs } : { type: 'barge_in', phase, atMs, heardText },
    );
  }
}
