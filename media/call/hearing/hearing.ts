/**
 * The caller's side of the conversation: from frames to what a turn means, and whether it is to stop the agent. It owns
 * the turn taker, the call's ear and the judgement of an interruption; what follows from them is the floor's
 * (`floor.ts`).
 *
 *   frame → turn taker ─┬─ turn begins → recogniser (with the 500 ms before it)
 *                       └─ turn over → final words → barge-in's outcome → `meant`, or the agent goes on
 */
import type { Logger } from 'pino';
import type { Clock } from '../../contract/clock.ts';
import type { CallEar, EarFactory, EarListener, EarWords } from '../../contract/ear.ts';
import type { CallerWords } from '../caller-words.ts';
import type { CallReporter } from '../reporter.ts';
import type { AgentSpeech } from '../speaking/agent-speech.ts';
import type { Pause } from '../turn-taking/encouragement.ts';
import { INTERRUPTION_PATIENCE } from '../turn-taking/patience.ts';
import { SoundDetector } from '../turn-taking/sound-detector.ts';
import { type TurnListener, TurnTaker } from '../turn-taking/turn-taker.ts';
import { CallerTurn, type CallerTurnListener } from './caller-turn.ts';
import { type FrameIntake, type FrameSink, PRE_ROLL_MS } from './frame-intake.ts';
import { Interruption } from './interruption.ts';
import { type HearingListener, type InterruptionListener, isSpeech } from './meaning.ts';

/** A recogniser that gives no final result in this time is not waited for. */
const FINAL_WITHIN_MS = 1_500;
/** An ear that tells turns ends them; the gate does so only where it has not in this time. */
const EAR_ENDS_WITHIN_MS = 2_000;
/** A turn that the ear alone has begun, and does not end. */
const LONGEST_EAR_TURN_MS = 20_000;
/** Failures of the recogniser in a row that end the call. */
const MOST_FAILURES = 3;

export interface HearingDeps {
  clock: Clock;
  logger: Logger;
  reporter: CallReporter;
  /** Null: nothing is heard. */
  ear: EarFactory | null;
  agentSpeech: Pick<AgentSpeech, 'active' | 'interruptible' | 'audible' | 'heardText'>;
  words: CallerWords;
  floor: InterruptionListener;
  listener: HearingListener;
}

export class Hearing implements FrameSink, TurnListener, CallerTurnListener, EarListener {
  readonly #deps: HearingDeps;
  readonly #taker: TurnTaker;
  readonly #soundDetector = new SoundDetector();
  readonly #interruption: Interruption;
  #intake: FrameIntake | null = null;
  readonly #ear: CallEar | null;
  /** The ear is given each frame, not those of turns alone. */
  readonly #hearsAll: boolean;
  /** The ear takes a telephone's leg as it is. */
  readonly #hearsMulaw: boolean;
  #turn: CallerTurn | null = null;
  #turns = 0;
  /** The ear, and not the gate, says that the caller speaks. */
  #earSpeaks = false;
  #failures = 0;
  #isLineDead = false;
  #isHeld = false;
  /** The recogniser has said that it will hear nothing any more. */
  #isEarLost = false;
  /** For one of them, or because the call is over, nothing is heard. */
  #isDeaf = false;
  #isClosed = false;

  constructor(deps: HearingDeps) {
    this.#deps = deps;
    this.#taker = new TurnTaker(this, deps.words.patience);
    this.#ear = deps.ear?.(this) ?? null;
    this.#hearsAll = this.#ear?.traits.hears === 'everything';
    this.#interruption = new Interruption(deps.agentSpeech, deps.words, this.#hearsAll);
    this.#hearsMulaw = this.#hearsAll && this.#ear?.traits.codec === 'mulaw';
    this.bePatient();
  }

  start(intake: FrameIntake): void {
    this.#intake = intake;
  }

  /** The caller's turn that is under way. */
  get turn(): CallerTurn | null {
    return this.#turn;
  }

  /** The caller is silent, in a turn that waits for more of them or for the recogniser; null else. */
  get pause(): Pause | null {
    const taker = this.#taker;
    if (this.#turn === null || taker.speaking) return null;
    const { lastSpeechEndMs } = taker;
    // An ear that ends turns has not, in the time that the caller is given: it is late.
    const isLate = this.#isLed && taker.nowMs - lastSpeechEndMs >= this.#deps.words.patience.maxMs;
    const untilMs = taker.turnOpen && !isLate ? taker.patientUntilMs : Number.POSITIVE_INFINITY;
    return { sinceMs: lastSpeechEndMs, untilMs };
  }

  /** Audio time. */
  get nowMs(): number {
    return this.#taker.nowMs;
  }

  /** The agent fell silent for what may be an interruption. */
  get pausedAgent(): boolean {
    return this.#interruption.pausedAgent;
  }

  tick(nowMs: number): void {
    if (this.#turn === null || nowMs < this.#turn.finalByMs) return;
    const message = `The recogniser gave no final result within ${FINAL_WITHIN_MS} ms.`;
    this.#deps.reporter.warning('stt_slow', message);
    this.#turn.giveUp();
  }

  /** As patient as the last question wants it. */
  bePatient(): void {
    const { minMs, maxMs } = this.#deps.words.patience;
    this.#taker.patience = { minMs: this.#led(minMs), maxMs: this.#led(maxMs) };
  }

  /** What the agent expects has changed. */
  listenAnew(): void {
    this.bePatient();
    this.#ear?.hint(this.#deps.words.hints(this.#deps.agentSpeech.active));
  }

  /** Nothing is to be interrupted any more. */
  endInterruption(): void {
    this.#interruption.end();
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
    this.#earIsSilent(turn);
    this.#deps.listener.callerWentOn();
    return turn;
  }

  /** While the line is dead, or while the agent wants it so, nothing is heard. */
  hold(held: boolean, by: 'line' | 'agent' = 'line'): void {
    if (by === 'line') this.#isLineDead = held;
    else this.#isHeld = held;
    this.#isDeaf = this.#isClosed || this.#isLineDead || this.#isHeld || this.#isEarLost;
    if (!held) return;
    this.dropTurn();
    this.#interruption.end();
    this.#taker.abandon();
    this.#intake?.forgetPreRoll();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isDeaf = true;
    this.#ear?.close();
  }

  // ── What comes up the line ────────────────────────────────────────────────────────────────────────────

  frame(atMs: number, monoSamples: Int16Array, isSpeech: boolean, mulawBytes: Uint8Array | null): void {
    if (this.#isDeaf) return;
    const turn = this.#turn;
    this.#taker.push(atMs, isSpeech, this.#soundDetector.sounds(monoSamples));
    if (this.#hearsMulaw) {
      if (mulawBytes !== null) this.#ear?.pushMulaw?.(mulawBytes, atMs);
    } else if (this.#hearsAll || (turn !== null && turn === this.#turn && Number.isNaN(turn.decidedAtMs)))
      this.#ear?.push(monoSamples, atMs);
    const verdict = this.#interruption.judge(this.#taker.nowMs, this.#taker.spokenMs);
    if (verdict === 'none') return;
    if (verdict === 'pause') this.#deps.floor.mayInterrupt();
    else if (verdict === 'go_on') this.#deps.floor.letsGoOn();
    else this.#deps.floor.interrupts();
  }

  audioStopped(): void {
    if (!this.#isDeaf) this.#taker.audioStopped();
  }

  turnStarted(onsetMs: number): void {
    if (this.#earSpeaks && this.#turn !== null) {
      // The ear heard it first: from here on the gate says how long it lasts.
      this.#earSpeaks = false;
      this.#turn.finalByMs = Number.POSITIVE_INFINITY;
      return;
    }
    this.#deps.reporter.openUserTurn();
    this.#deps.listener.callerSpeaks(true, onsetMs);
    this.#beginTurn(onsetMs);
  }

  speechResumed(onsetMs: number): void {
    this.#turn?.goOn();
    this.#deps.listener.callerSpeaks(true, onsetMs);
    this.#deps.listener.callerWentOn();
  }

  speechPaused(lastSpeechEndMs: number): void {
    this.#deps.listener.callerSpeaks(false, lastSpeechEndMs);
    this.#tellPause();
  }

  mayBeOver(): void {
    if (this.#turn !== null && Number.isNaN(this.#turn.decidedAtMs)) this.#turn.conclude(this.#deps.clock.nowMs());
  }

  turnEnded(_why: unknown, lastSpeechEndMs: number): void {
    this.#intake?.forgetPreRoll();
    const turn = this.#turn;
    if (turn === null || turn.done) return;
    turn.lastSpeechEndMs = lastSpeechEndMs;
    turn.decidedAtMs = this.#deps.reporter.nowMs;
    turn.finalByMs = this.#deps.clock.nowMs() + FINAL_WITHIN_MS;
    turn.finish();
  }

  // ── What the recogniser makes of it ───────────────────────────────────────────────────────────────────

  words(words: EarWords): void {
    if (this.#turn?.number === words.turn) this.#turn.heard(words);
  }

  failed(turn: number, error: Error): void {
    if (this.#turn?.number === turn) this.#turn.lost(error);
  }

  /** Nobody waits for another turn to know it. */
  deaf(error: Error): void {
    if (this.#isClosed || this.#isEarLost) return;
    this.#isEarLost = true;
    this.#isDeaf = true;
    this.dropTurn();
    this.#interruption.end();
    this.#taker.abandon();
    this.#deps.reporter.warning('stt_error', error.message);
    this.#deps.logger.error({ err: error }, 'the recogniser is lost for good; the call ends');
    this.#deps.listener.recogniserLost(error);
  }

  /** The ear hears what the gate does not, or words that it owed. */
  speechBegan(onsetMs: number): void {
    const { agentSpeech, reporter, listener, clock } = this.#deps;
    if (this.#isDeaf || this.#turn !== null || this.#taker.turnOpen) return;
    if (agentSpeech.active && !agentSpeech.interruptible) return;
    reporter.openUserTurn();
    listener.callerSpeaks(true, onsetMs);
    this.#earSpeaks = true;
    this.#beginTurn(onsetMs);
    const turn = this.#turn as CallerTurn | null;
    if (turn !== null) turn.finalByMs = clock.nowMs() + LONGEST_EAR_TURN_MS;
  }

  partial(turn: CallerTurn): void {
    if (turn !== this.#turn) return;
    this.#taker.partialChanged(this.#interruption.weigh(turn, this.#taker.nowMs));
    this.#tellPartial(turn);
    this.#tellPause();
  }

  /** Each pause, short ones too, and words that come late in it. */
  #tellPause(): void {
    const turn = this.#turn;
    if (turn === null || turn.done || turn.text === '' || this.#taker.speaking) return;
    this.#deps.listener.callerPaused(turn.text);
  }

  concluded(turn: CallerTurn): void {
    if (turn !== this.#turn) return;
    this.#taker.concluded(this.#interruption.weigh(turn, this.#taker.nowMs));
    this.#tellPartial(turn);
    this.#tellPause();
  }

  #tellPartial(turn: CallerTurn): void {
    if (turn.text === '') return;
    const { reporter } = this.#deps;
    reporter.conversationEvent({ type: 'partial', text: turn.text, atMs: reporter.nowMs, turnId: reporter.userTurnId });
  }

  recogniserFailed(error: Error): void {
    this.#failures++;
    this.#deps.reporter.warning('stt_error', error.message);
    if (this.#failures < MOST_FAILURES) return;
    this.#deps.logger.error({ err: error }, 'the recogniser failed three times in a row; the call ends');
    this.#deps.listener.recogniserLost(error);
  }

  final(turn: CallerTurn): void {
    if (turn !== this.#turn || this.#isClosed) return;
    const { reporter, words, floor } = this.#deps;
    if (!turn.failed) this.#failures = 0;
    if (Number.isNaN(turn.decidedAtMs)) {
      // The recogniser came to its end before the turn did.
      turn.decidedAtMs = reporter.nowMs;
      const { lastSpeechEndMs } = this.#taker;
      turn.lastSpeechEndMs = this.#earSpeaks ? Math.max(turn.onsetMs, lastSpeechEndMs) : lastSpeechEndMs;
      this.#taker.abandon();
    }
    this.#earIsSilent(turn);
    this.#turn = null;
    const sense = words.sense(turn);
    const { outcome, isNews } = this.#interruption.outcome(sense, turn.spokenMs);
    if (outcome !== 'commit') {
      if (outcome === 'backchannel') words.record(turn, 'backchannel');
      else if (isSpeech(turn, sense)) words.record(turn, 'unclear');
      this.#deps.listener.callerWentOn();
      floor.letsGoOn();
      return;
    }
    if (isNews) floor.interrupts();
    const anchor = {
      speechEndMs: reporter.at(turn.lastSpeechEndMs),
      decidedAtMs: turn.decidedAtMs,
      recognisedAtMs: Math.max(turn.decidedAtMs, reporter.exactMs),
    };
    floor.meant({ turn, sense, anchor });
  }

  // ── Inside ────────────────────────────────────────────────────────────────────────────────────────────

  /** A turn of the caller: someone must listen, unless the agent is speaking and may not be interrupted. */
  #beginTurn(onsetMs: number): void {
    const { agentSpeech, words } = this.#deps;
    const ear = this.#ear;
    const speaks = agentSpeech.active;
    if (speaks && !agentSpeech.interruptible) return;
    if (this.#turn !== null) this.#turn.settle();
    if (this.#isClosed || ear === null) return;
    const turn = new CallerTurn(++this.#turns, onsetMs, speaks, this, ear);
    this.#turn = turn;
    ear.hint(words.hints(speaks));
    ear.turnBegan(turn.number, onsetMs);
    if (!this.#hearsAll) this.#intake?.replay((samples) => ear.push(samples, onsetMs));
    if (speaks) this.#weigh(turn);
  }

  /** The ear tells turns. */
  get #isLed(): boolean {
    return this.#ear?.traits.tellsTurns === true;
  }

  /** The gate's patience: where the ear tells turns, its end comes first. */
  #led(ms: number): number {
    return this.#isLed ? Math.max(ms, EAR_ENDS_WITHIN_MS) : ms;
  }

  /** What the ear alone heard is over. */
  #earIsSilent(turn: CallerTurn): void {
    if (!this.#earSpeaks) return;
    this.#earSpeaks = false;
    this.#deps.listener.callerSpeaks(false, turn.lastSpeechEndMs);
  }

  /** From here on the caller's words decide whether the agent goes on. */
  #weigh(turn: CallerTurn): void {
    this.#interruption.begin(turn);
    // Where nobody speaks, the ear ends nothing.
    this.#taker.patience = { ...INTERRUPTION_PATIENCE, minMs: this.#led(INTERRUPTION_PATIENCE.minMs) };
    if (turn.text !== '' || turn.rejected)
      this.#taker.partialChanged(this.#interruption.weigh(turn, this.#taker.nowMs));
  }
}
