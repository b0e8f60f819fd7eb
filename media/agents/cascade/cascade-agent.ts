/**
 * The agent that converses freely, behind the agent port: what the caller says becomes a question to a language model,
 * the model's words become speech as they come, its uses of tools become uses of the call's. Made for each call by
 * `cascadeKind.create`. This file joins the parts; each of them is described in its own.
 *
 *   heard ──► history ──► thinking ──text──► reply ──► mouth ──► say        said · cut ──► what of it was heard
 *      ▲                     └────use──► tool round ──► tool ──result──► history ──► thinking …
 *      └── duty: fillers into silence · farewell: the end, when it was heard · quiet time: a caller who says nothing
 */
import {
  type Agent,
  type AgentContext,
  type AgentEvent,
  type AgentKind,
  BRIDGE,
  type Patience,
  type SaidWords,
  type WordSense,
} from '../../contract/agent.ts';
import { type CascadeAgent, DO_NOT_CALL_STEP, type Expectation } from '../../contract/agent-definition.ts';
import type { EarHints } from '../../contract/ear.ts';
import type { EngineChoice } from '../../contract/engine-kinds.ts';
import type { ModelToolUse, ModelUsage } from '../../contract/model.ts';
import { toolValues } from '../../contract/tool-values.ts';
import { TOOL_DEFAULTS, type ToolResult } from '../../contract/tools.ts';
import { patienceFor } from '../words/patience.ts';
import { QuietTime } from '../words/quiet-time.ts';
import { digitsOf, isBuiltIn, modelToolsOf } from './built-in-tools.ts';
import { isGoodbye, senseOf } from './caller-sense.ts';
import { type CascadeState, NOTHING_KEPT, splitAtSentence, spokenText } from './cascade-state.ts';
import { Duty } from './duty.ts';
import { expectationAfter } from './expectation.ts';
import { type Ending, Farewell } from './farewell.ts';
import { type AssistantEntry, History, heardOf, messagesOf } from './history.ts';
import { keyTones } from './key-tones.ts';
import { type FixedLines, linesOf } from './lines.ts';
import { Memory } from './memory.ts';
import { firstMessageOf, systemText, unresolvedKeys } from './prompt.ts';
import { Reply } from './reply.ts';
import { Mouth, Saying } from './saying.ts';
import { Speculation } from './speculation.ts';
import { type Question, Thinking, type ThinkingListener } from './thinking.ts';
import { errorText, MOST_ROUNDS, resultText, ToolRound } from './tool-round.ts';

const FILLER_AFTER_MS = 700;
const HEDGE_AFTER_MS = 1_200;
const MOST_TOKENS = 400_000;
const MOST_ANSWER_CHARS = 1_200;
const IDLE = { promptAfterMs: 8_000, endAfterMs: 30_000 };
/** More answers that break off than this in a row are a fault like no answer. */
const MOST_BREAKS = 3;
/** After an open question; `expectation.ts` tells what was asked. */
const OPEN_PATIENCE: Patience = { minMs: 500, maxMs: 1_120 };
const MODEL_ENGINE = 'openai';

const GREET = 'The call has begun. Greet the caller and open the conversation.';
const GO_ON = 'Your last answer broke off. Go on from there, without repeating it.';
const BACK = 'The line was interrupted for a moment and is back. Go on where you were.';
const RESULT_HERE = 'The results of your tools are here now. Tell the caller.';
const NOT_ENDED = 'The caller goes on speaking, so the call was not ended.';

export const cascadeKind: AgentKind<CascadeAgent> = {
  kind: 'cascade',
  traits: { isSteerable: true },
  stateVersion: 1,
  readsVersions: [1],
  create: (context) => new Conversant(context),
  opening(definition, placeholders) {
    const text = firstMessageOf(definition, placeholders);
    return text === null ? null : { text: spokenText(text, definition.language) };
  },
  engines: enginesOf,
  fixedTexts(definition) {
    const lines = linesIn(definition);
    const all = [
      ...lines.fillers,
      ...lines.unclear,
      ...lines.idle,
      lines.nothing,
      lines.apology,
      lines.limit,
      lines.farewell,
    ];
    return all.map((line) => spokenText(line, definition.language));
  },
};

function enginesOf({
  think,
  listen,
  speak,
  language,
  otherLanguages = [],
  voiceActivity = 'gate',
}: CascadeAgent): EngineChoice {
  const languages = { language, languages: [language, ...otherLanguages] };
  const voice = speak[0]!;
  return {
    ear: {
      engine: listen.engine,
      ...(listen.connection === undefined ? {} : { connection: listen.connection }),
      settings: { ...listen.settings, ...languages, ...named(listen.model), keyterms: listen.keyterms ?? [] },
    },
    voice: {
      engine: voice.engine,
      name: voice.voice,
      ...(voice.connection === undefined ? {} : { connection: voice.connection }),
      settings: { ...voice.settings, language, ...named(voice.model) },
    },
    models: think.map(({ engine = MODEL_ENGINE, connection, model, temperature, settings }) => ({
      engine,
      connection,
      settings: { ...settings, model, ...(temperature === undefined ? {} : { temperature }) },
    })),
    voiceActivity,
  };
}

const named = (model: string | undefined): { model?: string } => (model === undefined ? {} : { model });

/** Its own lines where it has some. */
function linesIn({ language, filler, idle, end }: CascadeAgent): FixedLines {
  const lines = linesOf(language);
  return {
    ...lines,
    fillers: filler?.say ?? lines.fillers,
    idle: idle?.say ?? lines.idle,
    farewell: end?.farewell ?? lines.farewell,
  };
}

type Cut = { text: string; heardText: string };

class Conversant implements Agent, ThinkingListener {
  readonly stepId = null;
  readonly #context: AgentContext<CascadeAgent>;
  readonly #lines: FixedLines;
  readonly #system: string;
  readonly #toolNames: readonly string[];
  readonly #thinking: Thinking;
  readonly #quiet: QuietTime;
  readonly #duty = new Duty();
  readonly #mouth = new Mouth();
  readonly #speculation = new Speculation();
  readonly #farewell = new Farewell();
  #history = new History();
  #memory: Memory;
  #tools = new ToolRound();
  #reply: Reply | null = null;
  /** Of the answer that is being written. */
  #uses: ModelToolUse[] = [];
  /** An answer broke off: when it was heard, it is gone on with. */
  #mustGoOn = false;
  /** How often answers broke off since the caller's last word. */
  #breaks = 0;
  /** What was said last was an idle prompt: the silence before it still counts. */
  #isPrompt = false;
  /** The caller had a word while tools were at work: their results are told apart. */
  #spokeMeanwhile = false;
  #expect: Expectation = 'open';
  #variables: Record<string, string> = {};
  #tokens = 0;
  #costUsd = 0;
  #turns = 0;
  #atMs = 0;
  #hasBegun = false;
  #isOver = false;

  constructor(context: AgentContext<CascadeAgent>) {
    const { definition, placeholders, sink, maxDurationMs } = context;
    const { think, hedgeAfterMs = HEDGE_AFTER_MS, idle } = definition;
    this.#context = context;
    this.#lines = linesIn(definition);
    this.#system = systemText(definition, placeholders);
    this.#toolNames = modelToolsOf(definition).map(({ name }) => name);
    this.#thinking = new Thinking({ models: think, hedgeAfterMs, sink, listener: this });
    this.#quiet = new QuietTime({ ...IDLE, ...idle, say: [...this.#lines.idle] }, maxDurationMs);
    this.#memory = this.#memoryOf();
  }

  get patience(): Patience {
    if (this.#expect === 'open') return this.#context.definition.patience ?? OPEN_PATIENCE;
    return patienceFor(this.#expect);
  }

  hints(): EarHints {
    return { phrases: this.#context.definition.listen.keyterms ?? [], isOpen: true };
  }

  sense(words: SaidWords): WordSense {
    return senseOf(words, this.#mouth.isBusy);
  }

  intentOf(): null {
    return null;
  }

  variables(): Readonly<Record<string, string>> {
    return this.#variables;
  }

  state(): CascadeState {
    const isThinking = this.#thinking.isBusy || this.#mustGoOn;
    return {
      entries: this.#history.entries.map((entry) => ({ ...entry })),
      open: this.#tools.open,
      rounds: this.#tools.rounds,
      numbered: this.#tools.numbered,
      isSaying: this.#mouth.sayings.some(({ entry }) => entry !== null) && this.#reply === null,
      isThinking,
      ending: this.#farewell.ending,
      tokens: this.#tokens,
      costUsd: this.#costUsd,
      turns: this.#turns,
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
    this.#openMouth();
  }

  // ── Its beginning ─────────────────────────────────────────────────────────────────────────────────────

  #start(event: Extract<AgentEvent, { type: 'start' }>): void {
    const { definition, placeholders, sink } = this.#context;
    this.#hasBegun = true;
    this.#quiet.beginsAnew(event.atMs);
    this.#variables = { ...event.variables };
    if (event.isResumed) {
      this.#resume((event.state as CascadeState | null) ?? this.#nothingKept(), event.cut ?? null);
      return;
    }
    for (const [key, count] of unresolvedKeys(definition, placeholders)) {
      const message = `The placeholder '${key}' has no value; nothing stands in its place.`;
      sink.act({ type: 'warning', code: 'placeholder_unresolved', message, key, count });
    }
    const text = firstMessageOf(definition, placeholders);
    if (text !== null) this.#sayLine(text, { isOpening: true });
    else if (definition.speaksFirst !== 'caller') {
      this.#history.note(GREET);
      this.#ask();
    }
  }

  /** It died before anything was kept: with its first words in the mouth, if it has any. */
  #nothingKept(): CascadeState {
    const { definition, placeholders } = this.#context;
    const text = firstMessageOf(definition, placeholders);
    if (text === null) return { ...NOTHING_KEPT, isThinking: definition.speaksFirst !== 'caller' };
    const entry: AssistantEntry = { type: 'assistant', text, heard: null, isCut: false, uses: [] };
    return { ...NOTHING_KEPT, entries: [entry], isSaying: true };
  }

  /** Another died: a short word, what was cut from the beginning of its sentence, and whatever was still owed. */
  #resume(state: CascadeState, cut: Cut | null): void {
    const { language } = this.#context.definition;
    this.#history = new History(state.entries);
    this.#memory = this.#memoryOf();
    this.#tools = new ToolRound(state.numbered);
    this.#tools.rounds = state.rounds;
    this.#tokens = state.tokens;
    this.#costUsd = state.costUsd;
    this.#turns = state.turns;
    const { again, isTorn } = this.#repair(state, cut, language);
    if (state.ending !== null) this.#farewell.begin(state.ending);
    for (const use of state.open) {
      this.#tools.begin(use, this.#atMs);
      this.#context.sink.act({ type: 'tool', ref: use.useId, name: use.name, arguments: use.args });
    }
    const isOwed = again === '' && !this.#tools.isBusy && state.ending === null && state.isThinking;
    this.#mustGoOn = isTorn && !isOwed;
    if (again !== '') this.#sayLine(again, { lead: `${BRIDGE} ` });
    else if (isOwed) {
      this.#history.note(isTorn ? GO_ON : BACK);
      this.#ask();
      this.#reply?.lead(`${BRIDGE} `, this.#atMs);
    } else this.#sayFixed(BRIDGE);
  }

  /** What of the open words counts as heard, and what of them is said again: the cut sentence. */
  #repair(state: CascadeState, cut: Cut | null, language: string): { again: string; isTorn: boolean } {
    const last = this.#history.entries.at(-1);
    const open = last?.type === 'assistant' && last.heard === null ? last : null;
    if (cut !== null && cut.text !== '' && !this.#isFixedLine(cut.text)) {
      const text = withoutBridge(cut.text);
      const isWhole = open !== null && state.isSaying && isBeginning(text, spokenText(open.text, language));
      const entry = open ?? this.#history.assistant(text);
      if (!isWhole) entry.text = text;
      const spoken = isWhole ? spokenText(entry.text, language) : text;
      const { heard, again } = splitAtSentence(spoken, withoutBridge(cut.heardText).length);
      entry.heard = heard;
      // What had not been told of an unfinished answer died with the thread.
      return { again, isTorn: !isWhole && state.isThinking };
    }
    if (open === null) return { again: '', isTorn: false };
    // Where nobody knows how far it was heard: its last sentence, if all of it was known.
    const { heard, again } = state.isSaying ? lastSentence(open.text.trim()) : { heard: '', again: '' };
    open.heard = heard;
    return { again, isTorn: false };
  }

  // ── The caller ────────────────────────────────────────────────────────────────────────────────────────

  #heard(text: string): void {
    const { ending } = this.#farewell;
    // Who was asked whether they are there says yes, and does not mean goodbye.
    const isEnd = ending !== null && ending.reason !== 'inactivity' && isGoodbye(text);
    if (ending !== null && (!ending.isOptional || isEnd)) {
      this.#history.user(text);
      if (!this.#mouth.isBusy) this.#end(ending);
      return;
    }
    // The call tells words when nothing is being said; if it were otherwise, there are never two answers at once.
    if (this.#mouth.isBusy) this.#hush();
    const isThoughtOf = this.#speculation.take(text, this.#history.version);
    this.#answerBegins();
    this.#tools.rounds = 0;
    this.#breaks = 0;
    this.#spokeMeanwhile = this.#tools.isBusy;
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
      if (!this.#mouth.isBusy) this.#sayFixed(this.#lines.farewell);
      return;
    }
    if (this.#isOwing || this.#mouth.isBusy) return;
    this.#mustGoOn = false;
    this.#sayLine(this.#next(this.#lines.unclear));
  }

  /** What was not said of the last answer is not wanted any more. */
  #answerBegins(): void {
    this.#quiet.beginsAnew(this.#atMs);
    this.#duty.anew();
    this.#mouth.dropUnasked();
    this.#mustGoOn = false;
    this.#reply = null;
    this.#uses = [];
    if (this.#thinking.isBusy) this.#thinking.drop();
  }

  #hush(): void {
    this.#context.sink.act({ type: 'hush' });
    this.#mouth.cut('');
  }

  /** Once a pause: what the answer would be, if it were the end. */
  #speculate(text: string): void {
    const isFree = !this.#isOwing && !this.#mouth.isBusy && this.#farewell.ending === null && !this.#isTooDear;
    if (!isFree || !this.#speculation.begin(text, this.#history.version)) return;
    const messages = messagesOf([...this.#history.entries, { type: 'user', text }], this.#system);
    this.#thinking.begin(
      { messages, tools: modelToolsOf(this.#context.definition), toolChoice: 'auto' },
      this.#atMs,
      true,
    );
  }

  #dropSpeculation(): void {
    if (!this.#speculation.isOpen) return;
    this.#speculation.drop();
    if (!this.#thinking.isBusy) this.#thinking.drop();
  }

  // ── The model ─────────────────────────────────────────────────────────────────────────────────────────

  /** Anew, with all that is known. */
  #ask(): void {
    if (this.#isTooDear) {
      this.#context.sink.act({
        type: 'warning',
        code: 'llm_limit',
        message: 'The models of this call have used what `limits` allows; the call ends.',
      });
      this.#endWith(this.#lines.limit, 'agent_hangup', 'limit_reached', null);
      return;
    }
    const running = new Set(this.#tools.open.map(({ useId }) => useId));
    const isLast = this.#tools.isBusy || this.#tools.rounds >= MOST_ROUNDS;
    const question: Question = {
      messages: this.#history.messages(this.#system, running),
      tools: modelToolsOf(this.#context.definition),
      toolChoice: isLast ? 'none' : 'auto',
    };
    this.#uses = [];
    this.#reply = this.#newReply();
    this.#thinking.begin(question, this.#atMs);
  }

  #newReply(): Reply {
    const { language, limits } = this.#context.definition;
    this.#isPrompt = false;
    // In the history from its first word on.
    const entry: AssistantEntry = { type: 'assistant', text: '', heard: null, isCut: false, uses: [] };
    return new Reply({ entry, mouth: this.#mouth, language, mostChars: limits?.answerCharacters ?? MOST_ANSWER_CHARS });
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
    if (this.#reply !== null) this.#uses.push(this.#tools.named(use));
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
    if (!this.#mouth.sayings.some(({ entry }) => entry !== null)) this.#goOn();
  }

  lost(): void {
    this.#reply = null;
    this.#context.sink.act({
      type: 'warning',
      code: 'llm_lost',
      message: 'No model answers; the call ends with an apology.',
    });
    this.#endWith(this.#lines.apology, 'llm_error', null, 'No language model of the agent answered.');
  }

  used(model: number, { inputTokens, cachedInputTokens, outputTokens }: ModelUsage): void {
    this.#tokens += inputTokens + outputTokens;
    const price = this.#context.definition.think[model]?.price;
    if (price === undefined) return;
    const { input, cachedInput = input, output } = price;
    const fresh = Math.max(0, inputTokens - cachedInputTokens);
    this.#costUsd += (fresh * input + cachedInputTokens * cachedInput + outputTokens * output) / 1e6;
  }

  get #isTooDear(): boolean {
    const { tokens = MOST_TOKENS, costUsd = Number.POSITIVE_INFINITY } = this.#context.definition.limits ?? {};
    return this.#tokens >= tokens || this.#costUsd >= costUsd;
  }

  #memoryOf(): Memory {
    return new Memory(this.#history, this.#context.sink, (usage) => this.used(0, usage));
  }

  #remember({ entry }: Reply): void {
    if (entry.text === '' && entry.uses.length === 0) return;
    if (this.#history.entries.includes(entry)) return;
    this.#history.entries.push(entry);
    this.#history.version++;
  }

  /** An answer is whole. */
  #answered(): void {
    const reply = this.#reply;
    const uses = this.#uses;
    this.#reply = null;
    this.#uses = [];
    if (reply === null) return;
    if (uses.length > 0) {
      if (!this.#tools.isBusy && this.#tools.rounds < MOST_ROUNDS) {
        reply.entry.uses = uses;
        this.#remember(reply);
        this.#useTools(reply, uses);
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
    if (!reply.hasWords) this.#sayLine(this.#lines.nothing);
    this.#context.sink.act({ type: 'keep' });
  }

  // ── Tools ─────────────────────────────────────────────────────────────────────────────────────────────

  #useTools(reply: Reply, uses: readonly ModelToolUse[]): void {
    const { sink } = this.#context;
    const isAlone = uses.length === 1;
    this.#tools.rounds++;
    this.#spokeMeanwhile = false;
    for (const [index, use] of uses.entries()) {
      const judged = this.#tools.judge(use, index, this.#toolNames);
      if ('result' in judged) this.#history.result(use.useId, judged.result);
      else if (isBuiltIn(use.name))
        this.#history.result(use.useId, this.#useBuiltIn(use.name, judged.begin.args, reply, isAlone));
      else {
        this.#tools.begin(judged.begin, this.#atMs);
        sink.act({ type: 'tool', ref: use.useId, name: use.name, arguments: judged.begin.args });
      }
    }
    sink.act({ type: 'keep' });
    if (!this.#tools.isBusy) this.#afterTools();
  }

  #useBuiltIn(name: string, args: Record<string, unknown>, reply: Reply, isAlone: boolean): string {
    switch (name) {
      case 'end_call': {
        if (!isAlone && this.#tools.isBusy)
          return errorText('not_now', 'Other tools are at work. End the call when their results are here.');
        const disposition = typeof args['disposition'] === 'string' ? args['disposition'].slice(0, 120) : null;
        const isOptOut = this.#variables[DO_NOT_CALL_STEP] === 'true';
        this.#farewell.begin({
          reason: isOptOut ? 'opt_out_requested' : 'agent_hangup',
          disposition: disposition ?? (isOptOut ? DO_NOT_CALL_STEP : null),
          error: null,
          isOptional: true,
        });
        const farewell = typeof args['farewell'] === 'string' ? args['farewell'].slice(0, 500).trim() : '';
        if (!reply.hasWords) this.#sayLine(farewell === '' ? this.#lines.farewell : farewell);
        else if (this.#mouth.sayings.length === 0) this.#farewell.said(this.#atMs);
        return '{"status":"the call ends when your goodbye was heard"}';
      }
      case 'send_digits': {
        const digits = digitsOf(args['digits']);
        if (digits === null) return errorText('bad_arguments', 'The digits must be 1 to 32 of 0-9, * and #.');
        // Behind what was said before they are pressed.
        this.#openMouth();
        this.#context.sink.act({
          type: 'say',
          speech: { audio: keyTones(digits, this.#context.legRateHz) },
          stepId: null,
          interruptible: false,
        });
        return '{"status":"pressed"}';
      }
      default:
        this.#variables = { ...this.#variables, [DO_NOT_CALL_STEP]: 'true' };
        this.#context.sink.act({ type: 'step', stepId: DO_NOT_CALL_STEP });
        return '{"status":"this number is not called again"}';
    }
  }

  #toolDone(ref: string, result: ToolResult): void {
    if (!this.#tools.done(ref)) return;
    this.#history.result(ref, resultText(result));
    const definition = this.#context.definition.tools?.find(({ name }) => name === result.name);
    if (definition?.responseVariables !== undefined)
      this.#keepVariables(toolValues(definition, result), definition.responseVariables);
    this.#context.sink.act({ type: 'keep' });
    if (!this.#tools.isBusy) this.#afterTools();
  }

  #keepVariables(values: Readonly<Record<string, string | null>>, wanted: Readonly<Record<string, string>>): void {
    for (const name of Object.keys(wanted)) {
      const value = values[name];
      const { [name]: _, ...others } = this.#variables;
      this.#variables = value === null || value === undefined ? others : { ...others, [name]: value };
    }
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
    const isOfHistory = this.#mouth.sayings.some(({ isAsked, entry }) => isAsked && entry !== null);
    this.#mouth.said();
    this.#agentFellSilent();
    if (!this.#isPrompt) this.#quiet.silentSinceMs = this.#atMs;
    this.#quiet.playedUntilMs = this.#atMs;
    if (isOfHistory) this.#askedFor();
    if (this.#farewell.ending !== null) this.#farewell.said(this.#atMs);
    else if (this.#mustGoOn && !this.#thinking.isBusy && !this.#mouth.isBusy) this.#goOn();
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
    this.#mouth.cut(heardText);
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
    return (
      this.#thinking.isBusy ||
      this.#tools.isBusy ||
      this.#mustGoOn ||
      this.#mouth.sayings.some(({ isAsked }) => !isAsked)
    );
  }

  #tick(): void {
    const atMs = this.#atMs;
    this.#thinking.tick(atMs);
    this.#memory.tick(atMs);
    if (this.#isOver) return;
    this.#reply?.tick(atMs);
    this.#closeOrphans();
    for (const use of this.#tools.overdue(atMs)) {
      this.#tools.done(use.useId);
      this.#history.result(use.useId, errorText('timeout', 'There was no answer.'));
      if (!this.#tools.isBusy) this.#afterTools();
    }
    const isSpeaking = this.#mouth.isBusy;
    if (isSpeaking ? this.#quiet.isFarTooLong(atMs) : this.#quiet.isTooLong(atMs)) {
      this.#end({ reason: 'max_duration_reached', disposition: null, error: null, isOptional: false });
      return;
    }
    if (this.#duty.tick({ isOwing: this.#isOwing, isSpeaking, fillerAfterMs: this.#fillerAfterMs }, atMs)) {
      const line = this.#next(this.#fillers);
      if (line !== '') this.#sayFixed(line);
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
    if (this.#reply === null) for (const { feed } of this.#mouth.sayings) feed.finish();
    if (this.#mustGoOn && !isThinking && this.#mouth.sayings.length === 0) this.#goOn();
  }

  #tickEnding(ending: Ending): void {
    const due = this.#farewell.due(this.#atMs, this.#duty);
    if (due === 'end') this.#end(ending);
    else if (due === 'say_again') this.#sayFixed(this.#lines.farewell);
  }

  #tickIdle(): void {
    const atMs = this.#atMs;
    const quiet = this.#quiet;
    if (quiet.callerSpeaks(atMs)) return;
    if (quiet.isInactive(atMs)) {
      this.#farewell.begin({ reason: 'inactivity', disposition: null, error: null, isOptional: true });
      this.#sayLine(this.#lines.farewell);
    } else if (quiet.wantsPrompt(atMs)) {
      quiet.playedUntilMs = atMs;
      this.#sayLine(this.#next(this.#lines.idle), { isPrompt: true });
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

  get #toolAtWork() {
    const name = this.#thinking.isBusy ? undefined : this.#tools.open[0]?.name;
    return name === undefined ? undefined : this.#context.definition.tools?.find((tool) => tool.name === name);
  }

  #endWith(line: string, reason: Ending['reason'], disposition: string | null, error: string | null): void {
    this.#answerBegins();
    this.#farewell.begin({ reason, disposition, error, isOptional: false });
    this.#sayLine(line);
  }

  #end({ reason, disposition, error }: Ending): void {
    this.#isOver = true;
    this.#thinking.drop();
    this.#context.sink.act({ type: 'end', reason, disposition, error });
  }

  // ── The mouth ─────────────────────────────────────────────────────────────────────────────────────────

  /** Words of its own that no model wrote, in the history like all others. */
  #sayLine(written: string, { isOpening = false, isPrompt = false, lead = '' } = {}): void {
    const saying = new Saying(this.#history.assistant(written), this.#context.definition.language);
    if (lead !== '') saying.lead(lead);
    saying.push(written);
    saying.feed.finish();
    this.#mouth.sayings.push(saying);
    this.#isPrompt = isPrompt;
    if (isOpening) this.#sayNow(saying, { text: saying.spoken, isOpening });
  }

  /** Words that the model is told nothing of. */
  #sayFixed(text: string): void {
    const saying = new Saying(null, this.#context.definition.language);
    saying.push(text);
    saying.feed.finish();
    this.#mouth.sayings.push(saying);
    this.#isPrompt = false;
    this.#sayNow(saying, { text: saying.spoken, isFixed: true });
  }

  /** After each event: what may be said now is. */
  #openMouth(): void {
    if (this.#isOver || !this.#duty.mayBegin(this.#atMs)) return;
    for (const saying of [...this.#mouth.sayings]) {
      if (saying.isAsked) continue;
      if (saying.hasWords) {
        this.#sayNow(saying, { feed: saying.feed });
      } else if (saying.feed.isFinished) {
        saying.heard(0);
        this.#mouth.sayings.splice(this.#mouth.sayings.indexOf(saying), 1);
      } else break;
    }
  }

  #sayNow(
    saying: Saying,
    speech: { text: string; isFixed?: boolean; isOpening?: boolean } | { feed: Saying['feed'] },
  ): void {
    saying.isAsked = true;
    this.#context.sink.act({
      type: 'say',
      speech,
      stepId: null,
      interruptible: true,
      ...('feed' in speech ? { isReply: true } : {}),
    });
  }

  #isFixedLine(text: string): boolean {
    return [BRIDGE, ...this.#lines.fillers].some((line) => line.startsWith(text.trim()) || text.trim() === line);
  }

  /** In turn, for the whole call. */
  #next(lines: readonly string[]): string {
    return lines.length === 0 ? '' : lines[this.#turns++ % lines.length]!;
  }
}

function lastSentence(text: string): { heard: string; again: string } {
  return splitAtSentence(text, Math.max(0, text.length - 1));
}

function isBeginning(part: string, whole: string): boolean {
  return whole.startsWith(part.trim()) || part.trim().startsWith(whole.trim());
}

function withoutBridge(text: string): string {
  return text.startsWith(BRIDGE) ? text.slice(BRIDGE.length).trimStart() : text;
}
