/**
 * The agent that converses freely, behind the agent port: what the caller says becomes a question to a language model,
 * the model's words become speech as they come, its uses of tools become uses of the call's. Made for each call by
 * `cascade-kind.ts`. This file takes the call's events and joins the pieces; each of them is described in its own.
 *
 *   heard ──► history ──► thinking ──text──► reply ──► mouth ──► say        said · cut ──► what of it was heard
 *      ▲                     └────use──► tool round ──► tool ──result──► history ──► thinking …
 *      └── duty: fillers into silence · endings: the farewell, when it was heard; a caller who says nothing
 */
import type {
  Agent,
  AgentContext,
  AgentEvent,
  BrokenOff,
  Patience,
  SaidWords,
  WordSense,
} from '../../contract/agent.ts';
import type { CascadeAgent, Expectation } from '../../contract/agent-definition.ts';
import type { EarHints } from '../../contract/ear.ts';
import { TOOL_DEFAULTS, type ToolDefinition } from '../../contract/tools.ts';
import { patienceFor } from '../words/patience.ts';
import { Answering } from './answering.ts';
import { begin } from './beginning.ts';
import { isGoodbye, senseOf } from './caller-sense.ts';
import { Endings } from './endings.ts';
import { expectationAfter } from './expectation.ts';
import { heardOf } from './history.ts';
import { meanwhileNote } from './meanwhile-note.ts';
import { Parts } from './parts.ts';
import { withoutRemarks } from './prompt.ts';
import type { CascadeState } from './resumption.ts';
import { spokenText } from './speakable.ts';

const FILLER_AFTER_MS = 700;
/** After an open question; `expectation.ts` tells what was asked. */
const OPEN_PATIENCE: Patience = { minMs: 500, maxMs: 1_120 };

/** The caller's own words cannot look like it: brackets are taken from them. */
const INSTRUCTED = 'An instruction of the operator, whom the caller does not hear. Follow it, and never mention it';

const NOT_ENDED = 'The caller goes on speaking, so the call was not ended.';

export class Conversant implements Agent {
  readonly stepId = null;
  readonly #parts: Parts;
  readonly #endings: Endings;
  readonly #answering: Answering;
  #expect: Expectation = 'open';
  #hasBegun = false;

  constructor(context: AgentContext<CascadeAgent>) {
    this.#parts = new Parts(context);
    this.#endings = new Endings(this.#parts, () => this.#answering);
    this.#answering = new Answering(this.#parts, this.#endings);
  }

  get patience(): Patience {
    if (this.#expect === 'open') return this.#parts.definition.patience ?? OPEN_PATIENCE;
    return patienceFor(this.#expect);
  }

  hints(): EarHints {
    return { phrases: this.#parts.definition.listen.keyterms ?? [], isOpen: true };
  }

  sense(words: SaidWords): WordSense {
    return senseOf(words, this.#parts.speech.mouth.isBusy);
  }

  wordForWait(): string {
    const { speech, lines, definition } = this.#parts;
    return spokenText(speech.coming(lines.fillers), definition.language);
  }

  intentOf(): null {
    return null;
  }

  instruct(text: string): boolean {
    if (!this.#hasBegun || this.#parts.isOver) return false;
    this.#parts.history.note(`${INSTRUCTED}: ${withoutRemarks(text)}`);
    return true;
  }

  variables(): Readonly<Record<string, string>> {
    return this.#parts.tools.variables;
  }

  state(): CascadeState {
    const { history, tools, speech, farewell, spending } = this.#parts;
    const { reply, isThinking, mustGoOn } = this.#answering;
    return {
      entries: history.entries.map((entry) => ({ ...entry })),
      open: tools.round.open,
      rounds: tools.round.rounds,
      numbered: tools.round.numbered,
      isSaying: speech.hasWords && reply === null,
      isThinking: isThinking || mustGoOn,
      ending: farewell.ending,
      tokens: spending.tokens,
      costUsd: spending.costUsd,
      turns: speech.turns,
    };
  }

  close(): void {
    this.#parts.isOver = true;
  }

  handle(event: AgentEvent): void {
    const { quiet, duty } = this.#parts;
    if (this.#parts.isOver) return;
    this.#parts.atMs = event.atMs;
    if (event.type === 'start') {
      if (!this.#hasBegun) begin(this.#parts, this.#answering, event);
      this.#hasBegun = true;
    } else if (!this.#hasBegun) return;
    switch (event.type) {
      case 'heard':
        this.#heard(heardText(event));
        break;
      case 'pause':
        this.#answering.speculate(withoutRemarks(event.text));
        break;
      case 'went_on':
        this.#answering.dropSpeculation();
        break;
      case 'model':
        this.#answering.told(event);
        break;
      case 'said':
        this.#said(event.brokeOff);
        break;
      case 'cut':
        this.#cut(event);
        break;
      case 'handed_back':
        this.#handedBack(event);
        break;
      case 'deaf':
        this.#endings.apologise('stt_error', event.error, 'The recogniser is lost.');
        break;
      case 'unclear':
        this.#unclear();
        break;
      case 'wait':
        quiet.beginsAnew(event.atMs);
        this.#answering.dropSpeculation();
        break;
      case 'caller':
        quiet.caller(event.speaking, event.atMs);
        duty.caller(event.speaking, event.atMs);
        break;
      case 'filled':
        this.#agentFellSilent();
        this.#parts.speech.next(this.#parts.lines.fillers);
        this.#parts.speech.ready(this.#parts.lines.fillers);
        break;
      case 'tool':
        this.#answering.toolDone(event.ref, event.result);
        break;
      case 'tick':
        this.#tick();
        break;
      case 'end':
        this.#parts.isOver = true;
        break;
    }
    this.#open();
  }

  // ── The caller ────────────────────────────────────────────────────────────────────────────────────────

  #heard(text: string): void {
    const { farewell, history, speech } = this.#parts;
    const { ending } = farewell;
    // Who was asked whether they are there says yes, and does not mean goodbye.
    const isEnd = ending !== null && ending.reason !== 'inactivity' && isGoodbye(text);
    if (ending !== null && (!ending.isOptional || isEnd)) {
      history.user(text);
      if (!speech.mouth.isBusy) this.#endings.end(ending);
      return;
    }
    // The call tells words when nothing is being said; if it were otherwise, there are never two answers at once.
    if (speech.mouth.isBusy) speech.hush();
    if (ending !== null) farewell.callOff();
    this.#answering.answer(text, ending === null ? null : NOT_ENDED);
  }

  #unclear(): void {
    const { farewell, speech, lines, quiet, atMs } = this.#parts;
    quiet.beginsAnew(atMs);
    this.#answering.dropSpeculation();
    if (farewell.ending !== null) {
      if (!speech.mouth.isBusy) speech.fixed(lines.farewell);
      return;
    }
    if (this.#answering.isOwing || speech.mouth.isBusy) return;
    this.#answering.mustGoOn = false;
    speech.line(speech.next(lines.unclear));
  }

  /** Whoever spoke in its place has given the call back: it goes on at once. */
  #handedBack(event: Extract<AgentEvent, { type: 'handed_back' }>): void {
    const { farewell, speech } = this.#parts;
    if (speech.mouth.isBusy) speech.hush();
    if (farewell.ending !== null) farewell.callOff();
    this.#answering.takeUp(meanwhileNote(event));
  }

  // ── What was said ─────────────────────────────────────────────────────────────────────────────────────

  #said(brokeOff?: readonly BrokenOff[]): void {
    const { speech, quiet, farewell, lines, atMs } = this.#parts;
    const answering = this.#answering;
    const isOfHistory = speech.mouth.sayings.some(({ isAsked, entry }) => isAsked && entry !== null);
    const isBroken = speech.mouth.said(brokeOff);
    this.#agentFellSilent();
    if (!speech.isPrompt) quiet.silentSinceMs = atMs;
    quiet.playedUntilMs = atMs;
    if (isOfHistory) this.#askedFor();
    if (farewell.ending === null) speech.ready(lines.fillers);
    if (farewell.ending !== null) farewell.said(atMs);
    else if (isBroken) answering.voiceBroke();
    else if (answering.mustGoOn && !answering.isThinking && !speech.mouth.isBusy) answering.goOn();
    else answering.tendMemory();
  }

  /** How long the caller may take, by what they were asked. */
  #askedFor(): void {
    const { history, sink } = this.#parts;
    const last = history.entries.findLast((entry) => entry.type === 'assistant');
    const expect = last === undefined ? 'open' : expectationAfter(heardOf(last));
    if (expect === this.#expect) return;
    this.#expect = expect;
    sink.act({ type: 'listen' });
  }

  #cut({ heardText, saidBefore, brokeOff }: Extract<AgentEvent, { type: 'cut' }>): void {
    const { speech, farewell, atMs } = this.#parts;
    speech.mouth.cut(heardText, saidBefore, brokeOff);
    this.#agentFellSilent();
    this.#answering.anew();
    this.#answering.dropSpeculation();
    if (farewell.ending !== null) farewell.cut(atMs);
  }

  #agentFellSilent(): void {
    const { duty, quiet, atMs } = this.#parts;
    duty.agentEndMs = atMs;
    quiet.agentEndMs = atMs;
  }

  // ── Time ──────────────────────────────────────────────────────────────────────────────────────────────

  #tick(): void {
    const { speech, duty, atMs } = this.#parts;
    this.#answering.tick();
    if (this.#parts.isOver) return;
    const isSpeaking = speech.mouth.isBusy;
    if (this.#endings.isOutOfTime()) return;
    const { isOwing } = this.#answering;
    if (duty.tick({ isOwing, isSpeaking, fillerAfterMs: this.#fillerAfterMs }, atMs)) {
      const line = speech.next(this.#fillers);
      if (line !== '') speech.fixed(line);
      return;
    }
    if (!isSpeaking && !isOwing) this.#endings.tick();
  }

  get #fillers(): readonly string[] {
    return this.#toolAtWork?.speakDuring ?? this.#parts.lines.fillers;
  }

  get #fillerAfterMs(): number {
    const { afterMs = FILLER_AFTER_MS } = this.#parts.definition.filler ?? {};
    const tool = this.#toolAtWork;
    return tool === undefined ? afterMs : (tool.speakAfterMs ?? Math.max(afterMs, TOOL_DEFAULTS.speakAfterMs));
  }

  get #toolAtWork(): ToolDefinition | undefined {
    return this.#answering.isThinking ? undefined : this.#parts.tools.atWork;
  }

  /** After each event: what may be said now is. */
  #open(): void {
    const { isOver, duty, speech, atMs } = this.#parts;
    if (!isOver && duty.mayBegin(atMs)) speech.open();
  }
}

/** What an operator has it hear stands as it is. */
function heardText({ how, text }: Extract<AgentEvent, { type: 'heard' }>): string {
  if (how === 'injected') return text;
  return how === 'keys' ? `[on the keypad] ${text}` : withoutRemarks(text);
}
