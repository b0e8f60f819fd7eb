/**
 * A person speaks with the caller in the agent's place. The agent is silent; the person's sound goes to the caller and
 * to an ear, the caller is heard as ever, and the turns of both are written down. Given back, the agent is told what
 * was said. Who says nothing for some seconds, not even silence, is gone: the caller is never left alone.
 *
 *   off ──take──► on ──give back · gone · nothing comes──► giving back ──said and heard, or too late──► off
 *
 * `operator.ts` hands on what is asked; the conversation brings sound and ticks.
 */
import type { Logger } from 'pino';
import type { LegFormat } from '../../contract/audio-format.ts';
import type { Clock } from '../../contract/clock.ts';
import { type SaidMeanwhile, type TakeoverEnd, UNCLEAR_TEXT } from '../../contract/conversation.ts';
import type { EarFactory } from '../../contract/ear.ts';
import { CONTROL_DONE, type ControlOutcome, controlRefused } from '../../contract/operator-control.ts';
import type { AgentLine } from '../agent-line.ts';
import type { Floor } from '../floor.ts';
import type { OperatorDesk } from '../operator-desk.ts';
import type { CallReporter } from '../reporter.ts';
import type { AgentSpeech } from '../speaking/agent-speech.ts';
import { Meanwhile } from './meanwhile.ts';
import { PersonEar } from './person-ear.ts';
import { PERSON_RATE_HZ, PersonVoice, type PersonVoiceListener } from './person-voice.ts';
import { SpurtGate, type SpurtListener } from './spurt-gate.ts';

export interface TakeoverDeps {
  clock: Clock;
  logger: Logger;
  reporter: CallReporter;
  agentSpeech: AgentSpeech;
  floor: Floor;
  desk: OperatorDesk;
  line: AgentLine;
  /** In which the leg's voice is made. */
  format: LegFormat;
  /** An ear of the agent's recogniser at `PERSON_RATE_HZ`; null: the agent does not listen. */
  personEar: (() => Promise<EarFactory>) | null;
  /** The agent falls silent. */
  mute(): void;
}

/** A spurt's words, and where they were played. */
interface Spurt {
  number: number;
  turnId: string | null;
  startMs: number;
  isPlayed: boolean;
  endMs: number;
  /** Null: not known yet. */
  text: string | null;
  wordsByMs: number;
}

const FRAME_SAMPLES = (PERSON_RATE_HZ * 20) / 1000;
/** A microphone sends its silence too. */
const GONE_AFTER_MS = 5_000;
const WORDS_WITHIN_MS = 1_500;
/** From the word that gives the call back to the agent's turn. */
const GIVEN_BACK_WITHIN_MS = 800;

export class Takeover implements SpurtListener, PersonVoiceListener {
  readonly #deps: TakeoverDeps;
  #state: 'off' | 'on' | 'giving_back' = 'off';
  #meanwhile = new Meanwhile();
  #gate: SpurtGate;
  #voice: PersonVoice | null = null;
  #ear: PersonEar | null = null;
  /** Of the takeovers of this call: an ear that comes late for one is none of the next. */
  #count = 0;
  #spurts: Spurt[] = [];
  #spurtCount = 0;
  #heardAtMs = 0;
  #givenBack: { why: TakeoverEnd; note: string | null; byMs: number } | null = null;

  constructor(deps: TakeoverDeps) {
    this.#deps = deps;
    this.#gate = new SpurtGate(this);
  }

  get isOn(): boolean {
    return this.#state !== 'off';
  }

  /** For a checkpoint; null: the agent has the call. */
  get kept(): { said: readonly SaidMeanwhile[] } | null {
    return this.#state === 'off' ? null : { said: this.#meanwhile.lines };
  }

  take(): ControlOutcome {
    const { floor, reporter, mute } = this.#deps;
    if (this.isOn) return controlRefused('taken');
    floor.cutForOperator();
    mute();
    this.#begin([]);
    reporter.oweCheckpoint();
    reporter.conversationEvent({ type: 'takeover', phase: 'began', atMs: reporter.nowMs });
    return CONTROL_DONE;
  }

  /** In place of a thread that died meanwhile. */
  resume(said: readonly SaidMeanwhile[]): void {
    this.#deps.mute();
    this.#begin(said);
  }

  giveBack(note: string | null): ControlOutcome {
    if (this.#state !== 'on') return controlRefused('not_taken');
    this.#endSoon('asked', note);
    return CONTROL_DONE;
  }

  /** The person's line is gone. */
  gone(): void {
    if (this.#state === 'on') this.#endSoon('gone', null);
  }

  /** Some frames of 20 ms. */
  sound(monoSamples: Int16Array): void {
    if (this.#state !== 'on') return;
    this.#heardAtMs = this.#deps.clock.nowMs();
    for (let at = 0; at + FRAME_SAMPLES <= monoSamples.length; at += FRAME_SAMPLES) {
      const frame = monoSamples.subarray(at, at + FRAME_SAMPLES);
      this.#ear?.frame(frame);
      this.#gate.push(frame);
    }
  }

  tick(nowMs: number): void {
    if (this.#state === 'off') return;
    this.#voice?.pump();
    if (this.#state === 'on' && nowMs - this.#heardAtMs >= GONE_AFTER_MS) this.#endSoon('silent', null);
    if (this.#spurts.some(({ text, wordsByMs }) => text === null && nowMs >= wordsByMs)) this.#ear?.settle();
    for (const spurt of this.#spurts) if (nowMs >= spurt.wordsByMs) spurt.text ??= '';
    this.#write();
    const givenBack = this.#givenBack;
    if (givenBack !== null && (this.#spurts.length === 0 || nowMs >= givenBack.byMs)) this.#end(givenBack);
  }

  /** The call is over: what was said stands in the transcript. */
  close(): void {
    if (this.#state !== 'off') this.#letGo();
  }

  // ── The person speaks ─────────────────────────────────────────────────────────────────────────────────

  spurtBegan(): void {
    const number = ++this.#spurtCount;
    this.#spurts.push({
      ...{ number, turnId: null, startMs: Number.NaN, isPlayed: false, endMs: Number.NaN },
      ...{ text: this.#ear === null ? '' : null, wordsByMs: Number.POSITIVE_INFINITY },
    });
    this.#voice?.begin(number);
    this.#ear?.spurtBegan(number);
  }

  spurtFrame(monoSamples: Int16Array): void {
    this.#ear?.spurtFrame(monoSamples);
    // One that is as long as an utterance may be is over, and what follows is another.
    if (this.#voice?.frame(monoSamples) === false) this.#gate.end();
  }

  spurtOver(): void {
    const spurt = this.#spurts.at(-1);
    if (spurt !== undefined) spurt.wordsByMs = this.#deps.clock.nowMs() + WORDS_WITHIN_MS;
    this.#voice?.end();
    this.#ear?.spurtOver();
  }

  spurtStarted(number: number): void {
    const spurt = this.#spurtOf(number);
    if (spurt === undefined) return;
    spurt.startMs = this.#deps.reporter.nowMs;
    spurt.turnId = this.#deps.reporter.personStarted();
  }

  spurtPlayed(number: number): void {
    const spurt = this.#spurtOf(number);
    if (spurt === undefined) return;
    spurt.isPlayed = true;
    spurt.endMs = this.#deps.reporter.nowMs;
    if (spurt.turnId !== null) this.#deps.reporter.personEnded(spurt.turnId);
  }

  #spurtOf(number: number): Spurt | undefined {
    return this.#spurts.find((spurt) => spurt.number === number);
  }

  /** In their order: those that were played and whose words are known. */
  #write(): void {
    for (let spurt = this.#spurts[0]; spurt?.isPlayed === true && spurt.text !== null; spurt = this.#spurts[0]) {
      this.#spurts.shift();
      // Nobody has heard it.
      if (spurt.turnId === null) continue;
      const { turnId, startMs, endMs, text } = spurt;
      this.#deps.reporter.personTurn({ turnId, startMs, endMs, text: text === '' ? UNCLEAR_TEXT : text });
    }
  }

  // ── Beginning and end ─────────────────────────────────────────────────────────────────────────────────

  #begin(said: readonly SaidMeanwhile[]): void {
    const { clock, reporter, agentSpeech, format } = this.#deps;
    this.#state = 'on';
    this.#count++;
    this.#meanwhile = new Meanwhile(said);
    this.#gate = new SpurtGate(this);
    this.#heardAtMs = clock.nowMs();
    this.#voice = new PersonVoice(agentSpeech, format, this);
    reporter.onTurn = (turn) => this.#meanwhile.turn(turn);
    this.#listen(this.#count);
  }

  /** A recogniser of a fixed grammar would hear the caller's answers in whatever the person says. */
  #listen(count: number): void {
    const { line, personEar, logger } = this.#deps;
    const hints = line.hints(false);
    if (personEar === null || hints.isOpen !== true) return;
    personEar().then(
      (open) => {
        if (count !== this.#count || this.#state !== 'on') return;
        this.#ear = new PersonEar(open, hints, (number, text) => {
          const spurt = this.#spurtOf(number);
          if (spurt !== undefined) spurt.text = text;
        });
      },
      (error: unknown) => logger.warn({ err: error }, 'what a person says in the agent’s place will have no words'),
    );
  }

  #endSoon(why: TakeoverEnd, note: string | null): void {
    this.#gate.end();
    this.#state = 'giving_back';
    this.#givenBack = { why, note, byMs: this.#deps.clock.nowMs() + GIVEN_BACK_WITHIN_MS };
  }

  #end({ why, note }: { why: TakeoverEnd; note: string | null }): void {
    const { reporter, floor, desk, line } = this.#deps;
    this.#letGo();
    const said = this.#meanwhile.lines;
    const atMs = reporter.nowMs;
    // What the agent wanted to say meanwhile is of no use any more.
    floor.cutForOperator();
    desk.muted = false;
    reporter.oweCheckpoint();
    reporter.conversationEvent({ type: 'takeover', phase: 'ended', why, atMs });
    line.tell({ type: 'muted', atMs, isMuted: false });
    line.tell({ type: 'wait', atMs, why: 'operator' });
    line.tell({ type: 'handed_back', atMs, said, note });
  }

  #letGo(): void {
    this.#voice?.close();
    this.#ear?.close();
    for (const spurt of this.#spurts) spurt.text ??= '';
    this.#write();
    this.#voice = null;
    this.#ear = null;
    this.#spurts = [];
    this.#givenBack = null;
    this.#state = 'off';
    this.#deps.reporter.onTurn = null;
  }
}
