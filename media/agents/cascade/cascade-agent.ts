/**
 * The agent that converses freely, behind the agent port: what the caller says becomes a question to a language model,
 * the model's words become speech as they come, its uses of tools become uses of the call's. Made for each call by
 * `cascade-kind.ts`. This file joins the parts; each of them is described in its own.
 *
 *   heard ──► history ──► thinking ──text──► reply ──► mouth ──► say        said · cut ──► what of it was heard
 *      ▲                     └────use──► tool round ──► tool ──result──► history ──► thinking …
 *      └── duty: fillers into silence · farewell: the end, when it was heard · quiet time: a caller who says nothing
 */
import {
  type Agent,
  type AgentContext,
  type AgentEvent,
  BRIDGE,
  type Patience,
  type SaidWords,
  type WordSense,
} from '../../contract/agent.ts';
import type { CascadeAgent, Expectation } from '../../contract/agent-definition.ts';
import type { EarHints } from '../../contract/ear.ts';
import type { ModelTool, ModelToolUse, ModelUsage } from '../../contract/model.ts';
import { TOOL_DEFAULTS, type ToolDefinition, type ToolResult } from '../../contract/tools.ts';
import { patienceFor } from '../words/patience.ts';
import { QuietTime } from '../words/quiet-time.ts';
import { AgentSpeech } from './agent-speech.ts';
import { modelToolsOf } from './built-in-tools.ts';
import { isGoodbye, senseOf } from './caller-sense.ts';
import { Duty } from './duty.ts';
import { expectationAfter } from './expectation.ts';
import { type Ending, Farewell } from './farewell.ts';
import { assistantEntry, History, heardOf, messagesOf } from './history.ts';
import { type FixedLines, linesIn } from './lines.ts';
import { Memory } from './memory.ts';
import { firstMessageOf, systemText, unresolvedKeys } from './prompt.ts';
import { Reply } from './reply.ts';
import { type CascadeState, type Cut, nothingKept, repair } from './resumption.ts';
import { Speculation } from './speculation.ts';
import { Spending } from './spending.ts';
import { type Question, Thinking, type ThinkingListener } from './thinking.ts';
import { MOST_ROUNDS } from './tool-round.ts';
import { ToolWork } from './tool-work.ts';

const FILLER_AFTER_MS = 700;
const HEDGE_AFTER_MS = 1_200;
const MOST_ANSWER_CHARS = 1_200;
const IDLE = { promptAfterMs: 8_000, endAfterMs: 30_000 };
/** More answers that break off than this in a row are a fault like no answer. */
const MOST_BREAKS = 3;
/** After an open question; `expectation.ts` tells what was asked. */
const OPEN_PATIENCE: Patience = { minMs: 500, maxMs: 1_120 };

const GREET = 'The call has begun. Greet the caller and open the conversation.';
const GO_ON = 'Your last answer broke off. Go on from there, without repeating it.';
const BACK = 'The line was interrupted for a moment and is back. Go on where you were.';
const RESULT_HERE = 'The results of your tools are here now. Tell the caller.';
const NOT_ENDED = 'The caller goes on speaking, so the call was not ended.';

export class Conversant implements Agent, ThinkingListener {
  readonly stepId = null;
  readonly #context: AgentContext<CascadeAgent>;
  readonly #lines: FixedLines;
  readonly #system: string;
  readonly #modelTools: readonly ModelTool[];
  readonly #thinking: Thinking;
  readonly #quiet: QuietTime;
  readonly #duty = new Duty();
  readonly #speculation = new Speculation();
  readonly #farewell = new Farewell();
  readonly #history = new History();
  readonly #memory: Memory;
  readonly #spending: Spending;
  readonly #speech: AgentSpeech;
  readonly #tools: ToolWork;
  #reply: Reply | null = null;
  /** Of the answer that is being written. */
  #uses: ModelToolUse[] = [];
  /** An answer broke off: when it was heard, it is gone on with. */
  #mustGoOn = false;
  /** How often answers broke off since the caller's last word. */
  #breaks = 0;
  /** The caller had a word while tools were at work: their results are told apart. */
  #spokeMeanwhile = false;
  #expect: Expectation = 'open';
  #atMs = 0;
  #hasBegun = false;
  #isOver = false;

  constructor(context: AgentContext<CascadeAgent>) {
    const { definition, placeholders, sink, maxDurationMs, legRateHz } = context;
    const { think, hedgeAfterMs = HEDGE_AFTER_MS, idle } = definition;
    this.#context = context;
    this.#lines = linesIn(definition);
    this.#system = systemText(definition, placeholders);
    this.#modelTools = modelToolsOf(definition);
    this.#spending = new Spending(definition);
    this.#speech = new AgentSpeech(sink, this.#history, definition.language);
    this.#memory = new Memory(this.#history, sink, (usage) => this.#spending.used(0, usage));
    this.#tools = new ToolWork({
      definition,
      legRateHz,
      sink,
      history: this.#history,
      farewell: this.#farewell,
      speech: this.#speech,
      farewellLine: this.#lines.farewell,
      names: this.#modelTools.map(({ name }) => name),
    });
    this.#thinking = new Thinking({ models: think, hedgeAfterMs, sink, listener: this });
    this.#quiet = new QuietTime({ ...IDLE, ...idle, say: [...this.#lines.idle] }, maxDurationMs);
  }

  get patience(): Patience {
    if (this.#expect === 'open') return this.#context.definition.patience ?? OPEN_PATIENCE;
    return patienceFor(this.#expect);
  }

  hints(): EarHints {
    return { phrases: this.#context.definition.listen.keyterms ?? [], isOpen: true };
  }

  sense(words: SaidWords): WordSense {
    return senseOf(words, this.#speech.mouth.isBusy);
  }

  intentOf(): null {
    return null;
  }

  variables(): Readonly<Record<string, string>> {
    return this.#tools.variables;
  }

  state(): CascadeState {
    const isThinking = this.#thinking.isBusy || this.#mustGoOn;
    return {
      entries: this.#history.entries.map((entry) => ({ ...entry })),
      open: this.#tools.round.open,
      rounds: this.#tools.round.rounds,
      numbered: this.#tools.round.numbered,
      isSaying: this.#speech.hasWords && this.#reply === null,
      isThinking,
      ending: this.#farewell.ending,
      tokens: this.#spending.tokens,
      costUsd: this.#spending.costUsd,
      turns: this.#speech.turns,
    };
  }

  close(): void {
    this.#isOver = true;
  }

  handle(event: AgentEvent): void {
    if (this.#isOver) return;
    this.#atMs = event.atMs;
    if (event.type === 'start') {
      if (!this.#hasBegun) this.#start(event);
    } else if (!this.#hasBegun) return;
    switch (event.type) {
      case 'heard':
        this.#heard(event.how === 'keys' ? `[on the keypad] ${event.text}` : event.text);
        break;
      case 'pause':
        this.#speculate(event.text);
        break;
      case 'went_on':
        this.#dropSpeculation();
        break;
      case 'model':
        if (!this.#memory.told(event.ref, event.chunk)) this.#thinking.told(event.ref, event.chunk, event.atMs);
        break;
      case 'said':
        this.#said();
        break;
      case 'cut':
        this.#cut(event.heardText);
        break;
      case 'deaf':
        this.#apologise('stt_error', event.error, 'The recogniser is lost.');
        break;
      case 'unclear':
        this.#unclear();
        break;
      case 'wait':
        this.#quiet.beginsAnew(event.atMs);
        this.#dropSpeculation();
        break;
      case 'caller':
        this.#quiet.caller(event.speaking, event.atMs);
        this.#duty.caller(event.speaking, event.atMs);
        break;
      case 'tool':
        this.#toolDone(event.ref, event.result);
        break;
      case 'tick':
        this.#tick();
        break;
      case 'end':
        this.#isOver = true;
        break;
    }
    this.#open();
  }

  // ── Its beginning ─────────────────────────────────────────────────────────────────────────────────────

  #start(event: Extract<AgentEvent, { type: 'start' }>): void {
    const { definition, placeholders, sink } = this.#context;
    this.#hasBegun = true;
    this.#quiet.beginsAnew(event.atMs);
    this.#tools.variables = { ...event.variables };
    if (event.isResumed) {
      this.#resume((event.state as CascadeState | null) ?? nothingKept(definition, placeholders), event.cut ?? null);
      return;
    }
    for (const [key, count] of unresolvedKeys(definition, placeholders)) {
      const message = `The placeholder '${key}' has no value; nothing stands in its place.`;
      sink.act({ type: 'warning', code: 'placeholder_unresolved', message, key, count });
    }
    const text = firstMessageOf(definition, placeholders);
    if (text !== null) this.#speech.line(text, { isOpening: true });
    else if (definition.speaksFirst !== 'caller') {
      this.#history.note(GREET);
      this.#ask();
    }
  }

  /** Another died: a short word, what was cut from the beginning of its sentence, and whatever was still owed. */
  #resume(state: CascadeState, cut: Cut | null): void {
    const [history, tools, spending, speech] = [this.#history, this.#tools, this.#spending, this.#speech];
    history.restore(state.entries);
    tools.round.numbered = state.numbered;
    tools.round.rounds = state.rounds;
    spending.tokens = state.tokens;
    spending.costUsd = state.costUsd;
    speech.turns = state.turns;
    const isFiller = cut !== null && this.#isFixedLine(cut.text);
    const { again, isTorn } = repair(history, state, isFiller ? null : cut, this.#context.definition.language);
    if (state.ending !== null) this.#farewell.begin(state.ending);
    for (const use of state.open) tools.begin(use, this.#atMs);
    const isOwed = again === '' && !this.#tools.round.isBusy && state.ending === null && state.isThinking;
    this.#mustGoOn = isTorn && !isOwed;
    if (again !== '') this.#speech.line(again, { lead: `${BRIDGE} ` });
    else if (isOwed) {
      this.#history.note(isTorn ? GO_ON : BACK);
      this.#ask();
      this.#reply?.lead(`${BRIDGE} `, this.#atMs);
    } else this.#speech.fixed(BRIDGE);
  }

  // ── The caller ────────────────────────────────────────────────────────────────────────────────────────

  #heard(text: string): void {
    const { ending } = this.#farewell;
    // Who was asked whether they are there says yes, and does not mean goodbye.
    const isEnd = ending !== null && ending.reason !== 'inactivity' && isGoodbye(text);
    if (ending !== null && (!ending.isOptional || isEnd)) {
      this.#history.user(text);
      if (!this.#speech.mouth.isBusy) this.#end(ending);
      return;
    }
    // The call tells words when nothing is being said; if it were otherwise, there are never two answers at once.
    if (this.#speech.mouth.isBusy) this.#speech.hush();
    const isThoughtOf = this.#speculation.take(text, this.#history.version);
    this.#answerBegins();
    this.#tools.round.rounds = 0;
    this.#breaks = 0;
    this.#spokeMeanwhile = this.#tools.round.isBusy;
    if (ending !== null) {
      this.#farewell.callOff();
      this.#history.note(NOT_ENDED);
    }
    this.#history.user(text);
    if (isThoughtOf && ending === null && this.#thinking.isHeld) {
      this.#reply = this.#newReply();
      this.#thinking.release(this.#atMs);
    } else this.#ask();
  }

  #unclear(): void {
    const { ending } = this.#farewell;
    this.#quiet.beginsAnew(this.#atMs);
    this.#dropSpeculation();
    if (ending !== null) {
      if (!this.#speech.mouth.isBusy) this.#speech.fixed(this.#lines.farewell);
      return;
    }
    if (this.#isOwing || this.#speech.mouth.isBusy) return;
    this.#mustGoOn = false;
    this.#speech.line(this.#speech.next(this.#lines.unclear));
  }

  /** What was not said of the last answer is not wanted any more. */
  #answerBegins(): void {
    this.#quiet.beginsAnew(this.#atMs);
    this.#duty.anew();
    this.#speech.mouth.dropUnasked();
    this.#mustGoOn = false;
    this.#reply = null;
    this.#uses = [];
    if (this.#thinking.isBusy) this.#thinking.drop();
  }

  /** Once a pause: what the answer would be, if it were the end. */
  #speculate(text: string): void {
    const isFree =
      !this.#isOwing && !this.#speech.mouth.isBusy && this.#farewell.ending === null && !this.#spending.isTooDear;
    if (!isFree || !this.#speculation.begin(text, this.#history.version)) return;
    const messages = messagesOf([...this.#history.entries, { type: 'user', text }], this.#system);
    this.#thinking.begin({ messages, tools: this.#modelTools, toolChoice: 'auto' }, this.#atMs, true);
  }

  #dropSpeculation(): void {
    if (!this.#speculation.isOpen) return;
    this.#speculation.drop();
    if (!this.#thinking.isBusy) this.#thinking.drop();
  }

  // ── The model ─────────────────────────────────────────────────────────────────────────────────────────

  /** Anew, with all that is known. */
  #ask(): void {
    if (this.#spending.isTooDear) {
      this.#context.sink.act({
        type: 'warning',
        code: 'llm_limit',
        message: 'The models of this call have used what `limits` allows; the call ends.',
      });
      this.#endWith(this.#lines.limit, 'agent_hangup', 'limit_reached', null);
      return;
    }
    const running = new Set(this.#tools.round.open.map(({ useId }) => useId));
    const isLast = this.#tools.round.isBusy || this.#tools.round.rounds >= MOST_ROUNDS;
    const question: Question = {
      messages: this.#history.messages(this.#system, running),
      tools: this.#modelTools,
      toolChoice: isLast ? 'none' : 'auto',
    };
    this.#uses = [];
    this.#reply = this.#newReply();
    this.#thinking.begin(question, this.#atMs);
  }

  #newReply(): Reply {
    const { language, limits } = this.#context.definition;
    this.#speech.isPrompt = false;
    // In the history from its first word on.
    return new Reply({
      entry: assistantEntry(),
      mouth: this.#speech.mouth,
      language,
      mostChars: limits?.answerCharacters ?? MOST_ANSWER_CHARS,
    });
  }

  text(text: string): void {
    const reply = this.#reply;
    if (reply === null) return;
    const stopped = reply.push(text, this.#atMs);
    this.#remember(reply);
    if (stopped === null) return;
    this.#thinking.drop();
    const message = stopped.why === 'repeats' ? 'The model repeated itself' : 'The model would not end its answer';
    this.#context.sink.act({ type: 'warning', code: 'llm_endless', message: `${message}; it was stopped.` });
    this.#answered();
  }

  use(use: ModelToolUse): void {
    if (this.#reply !== null) this.#uses.push(this.#tools.round.named(use));
  }

  done(stop: 'end' | 'tools' | 'length' | 'filtered'): void {
    this.#reply?.finish(stop === 'length');
    this.#answered();
  }

  broke(): void {
    const reply = this.#reply;
    reply?.finish(true);
    if (reply !== null) this.#remember(reply);
    this.#reply = null;
    this.#uses = [];
    if (++this.#breaks > MOST_BREAKS) {
      this.lost();
      return;
    }
    this.#mustGoOn = true;
    if (!this.#speech.hasWords) this.#goOn();
  }

  lost(): void {
    this.#reply = null;
    this.#context.sink.act({
      type: 'warning',
      code: 'llm_lost',
      message: 'No model answers; the call ends with an apology.',
    });
    const message = 'No language model of the agent answered.';
    this.#apologise('llm_error', message, message);
  }

  #apologise(reason: Ending['reason'], error: string, message: string): void {
    const afterMs = Math.round(this.#duty.owedForMs(this.#atMs));
    this.#context.sink.act({ type: 'recovery', what: 'apology', message, afterMs });
    this.#endWith(this.#lines.apology, reason, null, error);
  }

  used(model: number, usage: ModelUsage): void {
    this.#spending.used(model, usage);
  }

  #remember({ entry }: Reply): void {
    if (entry.text !== '' || entry.uses.length > 0) this.#history.add(entry);
  }

  /** An answer is whole. */
  #answered(): void {
    const reply = this.#reply;
    const uses = this.#uses;
    this.#reply = null;
    this.#uses = [];
    if (reply === null) return;
    if (uses.length > 0) {
      if (!this.#tools.round.isBusy && this.#tools.round.rounds < MOST_ROUNDS) {
        reply.entry.uses = uses;
        this.#remember(reply);
        this.#spokeMeanwhile = false;
        this.#tools.use(reply, uses, this.#atMs);
        if (!this.#tools.round.isBusy) this.#afterTools();
        return;
      }
      // It was told to answer in words.
      this.#context.sink.act({
        type: 'warning',
        code: 'llm_tools',
        message: `The model used tools where it must not: ${uses[0]!.name}.`,
      });
    }
    this.#remember(reply);
    if (!reply.hasWords) this.#speech.line(this.#lines.nothing);
    this.#context.sink.act({ type: 'keep' });
  }

  // ── Tools ─────────────────────────────────────────────────────────────────────────────────────────────

  #toolDone(ref: string, result: ToolResult): void {
    if (this.#tools.done(ref, result) && !this.#tools.round.isBusy) this.#afterTools();
  }

  /** All results are there: the model goes on from them, unless the call is to end. */
  #afterTools(): void {
    if (this.#farewell.ending !== null) return;
    // An answer to what the caller said meanwhile is on its way: the results follow it.
    if (this.#thinking.isBusy) {
      this.#mustGoOn = true;
      return;
    }
    if (this.#spokeMeanwhile) this.#history.note(RESULT_HERE);
    this.#spokeMeanwhile = false;
    this.#ask();
  }

  // ── What was said ─────────────────────────────────────────────────────────────────────────────────────

  #said(): void {
    const isOfHistory = this.#speech.mouth.sayings.some(({ isAsked, entry }) => isAsked && entry !== null);
    this.#speech.mouth.said();
    this.#agentFellSilent();
    if (!this.#speech.isPrompt) this.#quiet.silentSinceMs = this.#atMs;
    this.#quiet.playedUntilMs = this.#atMs;
    if (isOfHistory) this.#askedFor();
    if (this.#farewell.ending !== null) this.#farewell.said(this.#atMs);
    else if (this.#mustGoOn && !this.#thinking.isBusy && !this.#speech.mouth.isBusy) this.#goOn();
    else if (!this.#isOwing) this.#memory.tend(this.#atMs);
  }

  /** How long the caller may take, by what they were asked. */
  #askedFor(): void {
    const last = this.#history.entries.findLast((entry) => entry.type === 'assistant');
    const expect = last === undefined ? 'open' : expectationAfter(heardOf(last));
    if (expect === this.#expect) return;
    this.#expect = expect;
    this.#context.sink.act({ type: 'listen' });
  }

  #goOn(): void {
    this.#mustGoOn = false;
    this.#history.note(this.#spokeMeanwhile ? RESULT_HERE : GO_ON);
    this.#spokeMeanwhile = false;
    this.#ask();
  }

  #cut(heardText: string): void {
    this.#speech.mouth.cut(heardText);
    this.#agentFellSilent();
    this.#answerBegins();
    this.#dropSpeculation();
    if (this.#farewell.ending !== null) this.#farewell.cut(this.#atMs);
  }

  #agentFellSilent(): void {
    this.#duty.agentEndMs = this.#atMs;
    this.#quiet.agentEndMs = this.#atMs;
  }

  // ── Time ──────────────────────────────────────────────────────────────────────────────────────────────

  /** Words are owed, and not all of them are on their way. */
  get #isOwing(): boolean {
    return this.#thinking.isBusy || this.#tools.round.isBusy || this.#mustGoOn || this.#speech.waits;
  }

  #tick(): void {
    const atMs = this.#atMs;
    this.#thinking.tick(atMs);
    this.#memory.tick(atMs);
    if (this.#isOver) return;
    this.#reply?.tick(atMs);
    this.#closeOrphans();
    if (this.#tools.tick(atMs)) this.#afterTools();
    const isSpeaking = this.#speech.mouth.isBusy;
    if (isSpeaking ? this.#quiet.isFarTooLong(atMs) : this.#quiet.isTooLong(atMs)) {
      this.#end({ reason: 'max_duration_reached', disposition: null, error: null, isOptional: false });
      return;
    }
    if (this.#duty.tick({ isOwing: this.#isOwing, isSpeaking, fillerAfterMs: this.#fillerAfterMs }, atMs)) {
      const line = this.#speech.next(this.#fillers);
      if (line !== '') this.#speech.fixed(line);
      return;
    }
    if (isSpeaking || this.#isOwing) return;
    if (this.#farewell.ending !== null) this.#tickEnding(this.#farewell.ending);
    else this.#tickIdle();
  }

  /** What has lost whoever it waits for: words that nobody writes any more, an answer that nobody thinks of. */
  #closeOrphans(): void {
    const isThinking = this.#thinking.isBusy;
    if (this.#reply !== null && !isThinking) {
      this.#reply.finish();
      this.#answered();
    }
    if (this.#reply === null) for (const { feed } of this.#speech.mouth.sayings) feed.finish();
    if (this.#mustGoOn && !isThinking && this.#speech.mouth.sayings.length === 0) this.#goOn();
  }

  #tickEnding(ending: Ending): void {
    const due = this.#farewell.due(this.#atMs, this.#duty);
    if (due === 'end') this.#end(ending);
    else if (due === 'say_again') this.#speech.fixed(this.#lines.farewell);
  }

  #tickIdle(): void {
    const atMs = this.#atMs;
    const quiet = this.#quiet;
    if (quiet.callerSpeaks(atMs)) return;
    if (quiet.isInactive(atMs)) {
      this.#farewell.begin({ reason: 'inactivity', disposition: null, error: null, isOptional: true });
      this.#speech.line(this.#lines.farewell);
    } else if (quiet.wantsPrompt(atMs)) {
      quiet.playedUntilMs = atMs;
      this.#speech.line(this.#speech.next(this.#lines.idle), { isPrompt: true });
    }
  }

  get #fillers(): readonly string[] {
    return this.#toolAtWork?.speakDuring ?? this.#lines.fillers;
  }

  get #fillerAfterMs(): number {
    const { afterMs = FILLER_AFTER_MS } = this.#context.definition.filler ?? {};
    const tool = this.#toolAtWork;
    return tool === undefined ? afterMs : (tool.speakAfterMs ?? Math.max(afterMs, TOOL_DEFAULTS.speakAfterMs));
  }

  get #toolAtWork(): ToolDefinition | undefined {
    return this.#thinking.isBusy ? undefined : this.#tools.atWork;
  }

  #endWith(line: string, reason: Ending['reason'], disposition: string | null, error: string | null): void {
    this.#answerBegins();
    this.#farewell.begin({ reason, disposition, error, isOptional: false });
    this.#speech.line(line);
  }

  #end({ reason, disposition, error }: Ending): void {
    this.#isOver = true;
    this.#thinking.drop();
    this.#context.sink.act({ type: 'end', reason, disposition, error });
  }

  /** Words that the history does not know. */
  #isFixedLine(text: string): boolean {
    const said = text.trim();
    return [BRIDGE, ...this.#lines.fillers].some((line) => line.startsWith(said));
  }

  /** After each event: what may be said now is. */
  #open(): void {
    if (!this.#isOver && this.#duty.mayBegin(this.#atMs)) this.#speech.open();
  }
}
