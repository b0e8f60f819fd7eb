/**
 * The caller's side of the conversation: from frames to what a turn means, and whether it is to stop the agent. It owns the turn taker, the
 * recogniser's stream and the judgement of an interruption; what follows from them is the conversation's.
 *
 *   frame → turn taker ─┬─ turn begins → recogniser (with the 500 ms before it)
 *                       └─ turn over → final words → barge-in's outcome → `meant`, or the agent goes on
 */
import type { Logger } from 'pino';
import type { Clock } from '../contract/clock.ts';
import type { SpeechToText } from '../contract/engines.ts';
import { CallerTurn, type CallerTurnListener } from './caller-turn.ts';
import type { CallerWords } from './caller-words.ts';
import type { AgentVoice } from './speaking/agent-voice.ts';
import type { ReplyAnchor, Transcript } from './transcript.ts';
import { BargeIn, bargeInOutcome } from './turn-taking/barge-in.ts';
import type { Pause } from './turn-taking/encouragement.ts';
import { INTERRUPTION_PATIENCE } from './turn-taking/patience.ts';
import { SoundDetector } from './turn-taking/sound-detector.ts';
import { type TurnListener, TurnTaker } from './turn-taking/turn-taker.ts';
import type { WordSense } from './turn-taking/word-sense.ts';
import { PRE_ROLL_MS, type Uplink, type UplinkSink } from './uplink/uplink.ts';

/** A caller's turn whose words are final. */
export interface Meaning {
  turn: CallerTurn;
  sense: WordSense;
  anchor: ReplyAnchor;
}

export interface HearingListener {
  /** The caller's sound begins or ends, at this audio time. */
  callerSpeaks(speaking: boolean, streamMs: number): void;
  /** Sound that may be an interruption: the agent falls silent and waits. */
  mayInterrupt(): void;
  /** It is one. */
  interrupts(): void;
  /** It was none: the agent goes on. */
  letsGoOn(): void;
  meant(meaning: Meaning): void;
  /** Failed again and again. */
  recogniserLost(error: Error): void;
}

export interface HearingDeps {
  clock: Clock;
  logger: Logger;
  transcript: Transcript;
  speechToText: SpeechToText;
  voice: Pick<AgentVoice, 'active' | 'interruptible' | 'audible'>;
  words: CallerWords;
  listener: HearingListener;
}

/** A recogniser that gives no final result in this time is not waited for. */
const FINAL_WITHIN_MS = 1_500;
/** Failures of the recogniser in a row that end the call. */
const MOST_FAILURES = 3;

/** Shorter speech that nothing can be made of is a noise. */
export const SHORTEST_SPEECH_MS = 250;

/** Somebody spoke, whether or not it was understood. */
export function isSpeech(turn: CallerTurn, sense: WordSense): boolean {
  return sense !== 'nothing' && (sense !== 'rejected' || turn.spokenMs >= SHORTEST_SPEECH_MS);
}

export class Hearing implements UplinkSink, TurnListener, CallerTurnListener {
  readonly #deps: HearingDeps;
  readonly #taker: TurnTaker;
  readonly #soundDetector = new SoundDetector();
  readonly #bargeIn = new BargeIn();
  #uplink: Uplink | null = null;
  #turn: CallerTurn | null = null;
  #failures = 0;
  /** The line is dead, or the call is over: nothing is heard. */
  #isDeaf = false;
  #isClosed = false;

  constructor(deps: HearingDeps) {
    this.#deps = deps;
    this.#taker = new TurnTaker(this, deps.words.patience);
  }

  start(uplink: Uplink): void {
    this.#uplink = uplink;
  }

  /** The caller's turn that is under way. */
  get turn(): CallerTurn | null {
    return this.#turn;
  }

  /** The caller is silent, in a turn that waits for more of them or for the recogniser; null else. */
  get pause(): Pause | null {
    const taker = this.#taker;
    if (this.#turn === null || taker.speaking) return null;
    const untilMs = taker.turnOpen ? taker.patientUntilMs : Number.POSITIVE_INFINITY;
    return { sinceMs: taker.lastSpeechEndMs, untilMs };
  }

  /** Audio time. */
  get nowMs(): number {
    return this.#taker.nowMs;
  }

  /** The agent fell silent for what may be an interruption. */
  get pausedAgent(): boolean {
    return this.#bargeIn.paused;
  }

  tick(nowMs: number): void {
    if (this.#turn === null || nowMs < this.#turn.finalByMs) return;
    const message = `The recogniser gave no final result within ${FINAL_WITHIN_MS} ms.`;
    this.#deps.transcript.warning('stt_slow', message);
    this.#turn.giveUp();
  }

  /** As patient as the last question wants it. */
  bePatient(): void {
    this.#taker.patience = this.#deps.words.patience;
  }

  /** Nothing is to be interrupted any more. */
  endInterruption(): void {
    this.#bargeIn.end();
  }

  /** The agent speaks from here on: words of the open turn, if there is one, decide whether it goes on. */
  agentSpeaks(interruptible: boolean): void {
    if (this.#turn === null) return;
    if (interruptible) this.#weigh(this.#turn);
    else this.dropTurn();
  }

  /** The caller has been talking into what may not be interrupted: from here on someone listens. */
  agentFinished(): void {
    if (this.#isClosed || this.#turn !== null || !this.#taker.turnOpen) return;
    this.#beginTurn(Math.max(this.#taker.turnOnsetMs, this.#taker.nowMs - PRE_ROLL_MS));
  }

  /** What the caller is saying is of no use; the turn that was under way, for whoever writes it down. */
  dropTurn(): CallerTurn | null {
    const turn = this.#turn;
    this.#turn = null;
    if (turn === null) return null;
    if (Number.isNaN(turn.decidedAtMs)) turn.lastSpeechEndMs = Math.max(turn.onsetMs, this.#taker.lastSpeechEndMs);
    turn.close();
    return turn;
  }

  hold(held: boolean): void {
    this.#isDeaf = held;
    if (!held) return;
    this.dropTurn();
    this.#bargeIn.end();
    this.#taker.abandon();
    this.#uplink?.forgetPreRoll();
  }

  close(): void {
    this.#isClosed = true;
    this.#isDeaf = true;
  }

  // ── What comes up the line ────────────────────────────────────────────────────────────────────────────

  frame(atMs: number, monoSamples: Int16Array, isSpeech: boolean): void {
    if (this.#isDeaf) return;
    const turn = this.#turn;
    this.#taker.push(atMs, isSpeech, this.#soundDetector.sounds(monoSamples));
    if (turn !== null && turn === this.#turn && Number.isNaN(turn.decidedAtMs)) turn.push(monoSamples);
    if (!this.#bargeIn.active) return;
    const verdict = this.#bargeIn.judge(this.#taker.nowMs, this.#taker.spokenMs);
    if (verdict === 'none') return;
    if (verdict === 'pause') this.#deps.listener.mayInterrupt();
    else this.#deps.listener.interrupts();
  }

  audioStopped(): void {
    if (!this.#isDeaf) this.#taker.audioStopped();
  }

  turnStarted(onsetMs: number): void {
    this.#deps.transcript.openUserTurn();
    this.#deps.listener.callerSpeaks(true, onsetMs);
    this.#beginTurn(onsetMs);
  }

  speechResumed(onsetMs: number): void {
    this.#turn?.goOn();
    this.#deps.listener.callerSpeaks(true, onsetMs);
  }

  speechPaused(lastSpeechEndMs: number): void {
    this.#deps.listener.callerSpeaks(false, lastSpeechEndMs);
  }

  mayBeOver(): void {
    if (this.#turn !== null && Number.isNaN(this.#turn.decidedAtMs)) this.#turn.conclude(this.#deps.clock.nowMs());
  }

  turnEnded(_why: unknown, lastSpeechEndMs: number): void {
    this.#uplink?.forgetPreRoll();
    const turn = this.#turn;
    if (turn === null || turn.done) return;
    turn.lastSpeechEndMs = lastSpeechEndMs;
    turn.decidedAtMs = this.#deps.transcript.nowMs;
    turn.finalByMs = this.#deps.clock.nowMs() + FINAL_WITHIN_MS;
    turn.finish();
  }

  // ── What the recogniser makes of it ───────────────────────────────────────────────────────────────────

  partial(turn: CallerTurn): void {
    if (turn !== this.#turn) return;
    this.#taker.partialChanged(this.#weighWords(turn));
    this.#tellPartial(turn);
  }

  concluded(turn: CallerTurn): void {
    if (turn !== this.#turn) return;
    this.#taker.concluded(this.#weighWords(turn));
    this.#tellPartial(turn);
  }

  #tellPartial(turn: CallerTurn): void {
    if (turn.text === '') return;
    const { transcript } = this.#deps;
    transcript.live({ type: 'partial', text: turn.text, atMs: transcript.nowMs, turnId: transcript.userTurnId });
  }

  recogniserFailed(error: Error): void {
    this.#failures++;
    this.#deps.transcript.warning('stt_error', error.message);
    if (this.#failures < MOST_FAILURES) return;
    this.#deps.logger.error({ err: error }, 'the recogniser failed three times in a row; the call ends');
    this.#deps.listener.recogniserLost(error);
  }

  final(turn: CallerTurn): void {
    if (turn !== this.#turn || this.#isClosed) return;
    const { transcript, words, voice, listener } = this.#deps;
    if (!turn.failed) this.#failures = 0;
    if (Number.isNaN(turn.decidedAtMs)) {
      // The recogniser came to its end before the turn did.
      turn.decidedAtMs = transcript.nowMs;
      turn.lastSpeechEndMs = this.#taker.lastSpeechEndMs;
      this.#taker.abandon();
    }
    this.#turn = null;
    const sense = words.sense(turn);
    const undecided = this.#bargeIn.active && !this.#bargeIn.committed && voice.active;
    const outcome = undecided ? bargeInOutcome(sense, turn.spokenMs, this.#bargeIn.early) : 'commit';
    this.#bargeIn.end();
    if (outcome !== 'commit') {
      if (outcome === 'backchannel') words.record(turn, 'backchannel');
      else if (isSpeech(turn, sense)) words.record(turn, 'unclear');
      listener.letsGoOn();
      return;
    }
    if (undecided) listener.interrupts();
    const anchor = {
      speechEndMs: transcript.at(turn.lastSpeechEndMs),
      decidedAtMs: turn.decidedAtMs,
      recognisedAtMs: transcript.nowMs,
    };
    listener.meant({ turn, sense, anchor });
  }

  // ── Inside ────────────────────────────────────────────────────────────────────────────────────────────

  /** A turn of the caller: someone must listen, unless the agent is speaking and may not be interrupted. */
  #beginTurn(onsetMs: number): void {
    const { voice, speechToText, words } = this.#deps;
    const speaks = voice.active;
    if (speaks && !voice.interruptible) return;
    if (this.#turn !== null) this.#turn.settle();
    if (this.#isClosed) return;
    const turn = new CallerTurn(onsetMs, speaks, this);
    this.#turn = turn;
    turn.listen(speechToText, { phrases: words.phrases(speaks) });
    this.#uplink?.replay((samples) => turn.push(samples));
    if (speaks) this.#weigh(turn);
  }

  /** From here on the caller's words decide whether the agent goes on. */
  #weigh(turn: CallerTurn): void {
    turn.duringSpeech = true;
    this.#bargeIn.begin(!this.#deps.voice.audible);
    this.#taker.patience = INTERRUPTION_PATIENCE;
    if (turn.text !== '' || turn.rejected) this.#taker.partialChanged(this.#weighWords(turn));
  }

  /** Whether they are a whole answer. */
  #weighWords(turn: CallerTurn): boolean {
    const sense = this.#deps.words.sense(turn);
    const fromLists = sense === 'acknowledge' || sense === 'interrupt' || sense === 'hold';
    this.#bargeIn.wordsChanged(sense, this.#taker.nowMs);
    return sense === 'phrase' || (turn.duringSpeech && fromLists);
  }
}
