/**
 * The scripted agent (contract §18) as a state machine: events in, actions out, no clock, no engines, no input or output.
 * The call session tells it what was heard and what was played, in ms of stream time, and carries out what it answers.
 *
 *   saying ──said──► (next step | listening | end)        interrupted ──► listening
 *   listening ──heard──► reply's step │ ──unclear──► fallback │ ──tick──► idle prompt, then inactivity
 *   a step with a tool: asks for it at once ──► saying · waiting ──tick──► filler ──tool──► goto │ onError
 *
 * It ends at most once, says nothing after that, and never throws on any order of events: a definition that has passed the
 * import check cannot reach the `internal_error` endings, which stand for one that has not.
 */
import type { Expectation, ScriptedAgent, ScriptedStep, ScriptedToolUse } from '../../contract/agent-definition.ts';
import { type EndedReason, isEndedReason } from '../../contract/call-outcome.ts';
import type { ScriptedLine } from '../../contract/clip.ts';
import type { Checkpoint } from '../../contract/conversation.ts';
import { fillPlaceholders } from '../../contract/placeholders.ts';
import { toolValues } from '../../contract/tool-values.ts';
import { SORRY, type ToolAnswer, type ToolDefinition } from '../../contract/tools.ts';
import { PhraseBook, type ReplyMatch } from './phrase-match.ts';
import {
  caughtValue,
  expectationOf,
  joinedLines,
  type SaidLine,
  saysNothing,
  valueIn,
  variantOf,
} from './step-reading.ts';
import { ToolWait } from './tool-wait.ts';

export type SayPurpose = 'greeting' | 'step' | 'fallback' | 'idle' | 'filler';

export type ScriptEvent =
  | { type: 'start'; atMs: number; checkpoint: Checkpoint | null }
  /** All that was to be said has been played to its end. */
  | { type: 'said'; atMs: number }
  /** The caller cut the agent off: what was not yet played never will be. */
  | { type: 'interrupted'; atMs: number }
  | { type: 'heard'; atMs: number; text: string }
  /** The caller spoke, but nothing that can be understood. */
  | { type: 'unclear'; atMs: number }
  /** The caller asked for a moment: wait, and let the idle prompts run. */
  | { type: 'hold'; atMs: number }
  | { type: 'caller'; atMs: number; speaking: boolean }
  /** The result of the tool that was asked for, told when nothing is being said. */
  | { type: 'tool'; atMs: number; answer: ToolAnswer }
  | { type: 'tick'; atMs: number };

export type ScriptAction =
  | { type: 'step'; stepId: string }
  /** Holds from now on, while the agent speaks too. `asked` is false while the greeting goes before the question. */
  | { type: 'listen'; stepId: string | null; book: PhraseBook; expect: Expectation; asked: boolean }
  /** `clip`: what sounds is a clip that says the text. `isFixed`: no placeholder stood in it. */
  | {
      type: 'say';
      stepId: string | null;
      purpose: SayPurpose;
      text: string;
      clip?: string;
      interruptible: boolean;
      isFixed: boolean;
    }
  /** Before what the step says: the tool works meanwhile. One at a time. */
  | { type: 'tool'; name: string; arguments: Record<string, string> }
  /** `key`: what it is about, met `count` times just now. */
  | { type: 'warning'; code: string; message: string; key?: string; count?: number }
  | { type: 'end'; reason: EndedReason; disposition: string | null; error: string | null };

/** Steps that say nothing and wait for nothing, in a row, before the script counts as going round in circles. */
const MOST_SILENT_STEPS = 100;
/** After the longest time of a call, the sentence that is being said may end, but no longer than this. */
const LAST_SENTENCE_MS = 5_000;
/** Idle time stands still while the caller speaks, for so long at most: a gate that never closes holds no call open. */
const LONGEST_CALLER_SPEECH_MS = 60_000;
/** After the caller's sound ends, the turn may still be undecided: no prompt within this. */
const PROMPT_AFTER_SOUND_MS = 1_500;
/** Said when the line was dead and is back. */
export const BRIDGE = 'Sorry, I lost you for a moment.';
const FALLBACK_COUNTER = '#fallback';
const IDLE_COUNTER = '#idle';
const SORRY_COUNTER = '#sorry';

const NOTHING: readonly ScriptAction[] = Object.freeze([]);
const NO_PHRASES = new PhraseBook([]);

export interface ScriptMachineOptions {
  agent: ScriptedAgent;
  placeholders: Readonly<Record<string, string>>;
  /** Longest time of the call, ms of stream. */
  maxDurationMs: number;
}

export class ScriptMachine {
  readonly #agent: ScriptedAgent;
  readonly #placeholders: Readonly<Record<string, string>>;
  readonly #maxDurationMs: number;
  readonly #steps = new Map<string, ScriptedStep>();
  readonly #books = new Map<string, PhraseBook>();
  readonly #tools = new Map<string, ToolDefinition>();

  #phase: 'new' | 'saying' | 'listening' | 'ended' = 'new';
  /** A tool is at work; the script stands at its step until the result is told. */
  #wait: ToolWait | null = null;
  #purpose: SayPurpose = 'greeting';
  /** To be said after what is being said, a clip before or after a text. */
  #unsaid: SaidLine[] = [];
  /** Of all that is said at once. */
  #interruptible = true;
  #isFixed = false;
  /** Null until the greeting has been said. */
  #stepId: string | null = null;
  #variables: Record<string, string> = {};
  #visits: Record<string, number> = {};
  #misses = 0;
  /** Since when the caller has owed an answer. */
  #silentSinceMs = 0;
  /** End of what was last played, prompts too. */
  #playedUntilMs = 0;
  /** End of the agent's last sound; unlike the two above it knows nothing of what the caller says. */
  #agentSoundAtMs = 0;
  #callerSpeaking = false;
  /** A placeholder was filled in what is about to be said. */
  #filledAny = false;
  #callerSoundAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: ScriptMachineOptions) {
    this.#agent = options.agent;
    this.#placeholders = options.placeholders;
    this.#maxDurationMs = options.maxDurationMs;
    for (const tool of options.agent.tools ?? []) this.#tools.set(tool.name, tool);
    for (const step of options.agent.steps) {
      this.#steps.set(step.id, step);
      this.#books.set(step.id, new PhraseBook(step.replies ?? []));
    }
  }

  get ended(): boolean {
    return this.#phase === 'ended';
  }

  get stepId(): string | null {
    return this.#stepId;
  }

  /** The greeting with its placeholders filled: what `prepare` renders while the phone rings. */
  static greetingOf(agent: ScriptedAgent, placeholders: Readonly<Record<string, string>>): SaidLine {
    return lineOf(agent.greeting, (text) =>
      fillPlaceholders(text, (key) => valueIn(key, placeholders, agent.defaults)).text.trim(),
    );
  }

  /** The reply that the caller's words would choose now; null when they fit none. */
  match(text: string): ReplyMatch | null {
    return this.#bookOfNow().match(text);
  }

  /** What another thread needs to go on from here. */
  snapshot(): Pick<Checkpoint, 'stepId' | 'variables' | 'misses' | 'visits'> {
    return {
      stepId: this.#stepId,
      variables: { ...this.#variables },
      misses: this.#misses,
      visits: { ...this.#visits },
    };
  }

  handle(event: ScriptEvent): readonly ScriptAction[] {
    if (this.#phase === 'ended') return NOTHING;
    if (event.type === 'tick') return this.#tick(event.atMs);
    if (event.type === 'caller') {
      this.#callerSpeaking = event.speaking;
      this.#callerSoundAtMs = event.atMs;
      return NOTHING;
    }
    if (event.type === 'said' || event.type === 'interrupted' || event.type === 'hold')
      this.#agentSoundAtMs = event.atMs;
    const out: ScriptAction[] = [];
    if (event.type === 'start') {
      this.#start(event.atMs, event.checkpoint, out);
      return out;
    }
    if (this.#phase === 'new') return NOTHING;
    switch (event.type) {
      case 'said':
        if (this.#phase === 'saying') this.#said(event.atMs, out);
        break;
      case 'interrupted':
        if (this.#phase === 'saying') this.#listenSince(event.atMs);
        break;
      case 'hold':
        this.#listenSince(event.atMs);
        break;
      case 'heard':
        // Written down, and no answer: the tool's comes first.
        if (this.#wait !== null) this.#listenSince(event.atMs);
        else this.#heard(event.atMs, event.text, out);
        break;
      case 'unclear':
        if (this.#wait !== null) this.#listenSince(event.atMs);
        else this.#missed(event.atMs, out);
        break;
      case 'tool':
        this.#toolDone(event.atMs, event.answer, out);
        break;
    }
    return out;
  }

  #start(atMs: number, checkpoint: Checkpoint | null, out: ScriptAction[]): void {
    if (this.#phase !== 'new') return;
    this.#listenSince(atMs);
    if (checkpoint !== null) {
      this.#variables = { ...checkpoint.variables };
      this.#visits = { ...checkpoint.visits };
      const stepId = checkpoint.stepId ?? this.#firstStepId();
      const again = checkpoint.stepId !== null;
      this.#enter(stepId, atMs, out, { text: BRIDGE, resumes: { misses: checkpoint.misses, again } });
      return;
    }
    const greeting = this.#spoken(this.#agent.greeting, out);
    if (saysNothing(greeting)) {
      this.#enter(this.#firstStepId(), atMs, out);
      return;
    }
    const first = this.#steps.get(this.#firstStepId());
    out.push({
      type: 'listen',
      stepId: null,
      book: this.#bookOfNow(),
      expect: first === undefined ? 'open' : expectationOf(first),
      asked: first?.say === undefined,
    });
    this.#say('greeting', [greeting], true, out);
  }

  #said(atMs: number, out: ScriptAction[]): void {
    const purpose = this.#purpose;
    this.#phase = 'listening';
    this.#playedUntilMs = atMs;
    const next = this.#unsaid;
    if (next.length > 0 && atMs < this.#maxDurationMs) {
      this.#sayNext(next, out);
      return;
    }
    if (purpose !== 'idle') this.#silentSinceMs = atMs;
    if (atMs >= this.#maxDurationMs) {
      this.#end('max_duration_reached', null, null, out);
      return;
    }
    if (this.#stepId === null) {
      this.#enter(this.#firstStepId(), atMs, out);
      return;
    }
    if (this.#wait !== null) return;
    const step = this.#steps.get(this.#stepId)!;
    if (step.end !== undefined || expectationOf(step) === 'none') {
      const next = this.#leave(step, out);
      if (next !== null) this.#enter(next, atMs, out);
    }
  }

  #heard(atMs: number, text: string, out: ScriptAction[]): void {
    const match = this.match(text);
    if (match === null) {
      this.#missed(atMs, out);
      return;
    }
    this.#listenSince(atMs);
    for (const [name, value] of Object.entries(match.reply.set ?? {})) {
      this.#variables[name] = caughtValue(value, text, match);
    }
    this.#enter(match.reply.goto ?? this.#stepId ?? this.#firstStepId(), atMs, out);
  }

  /** Nothing in the grammar fits: the next fallback line, or its step after too many. */
  #missed(atMs: number, out: ScriptAction[]): void {
    this.#listenSince(atMs);
    if (this.#stepId === null) {
      const firstStepId = this.#firstStepId();
      const first = this.#steps.get(firstStepId);
      if (first === undefined || first.say !== undefined) {
        this.#enter(firstStepId, atMs, out);
        return;
      }
      this.#stepId = firstStepId;
    }
    this.#misses++;
    const { say, after, goto } = this.#agent.fallback;
    const line = this.#misses >= after ? { text: '' } : this.#spoken(this.#pick(say, FALLBACK_COUNTER), out);
    if (saysNothing(line)) this.#enter(goto, atMs, out);
    else this.#say('fallback', [line], true, out);
  }

  #tick(atMs: number): readonly ScriptAction[] {
    if (this.#phase === 'new') return NOTHING;
    if (
      atMs >= this.#maxDurationMs &&
      (this.#phase === 'listening' || atMs >= this.#maxDurationMs + LAST_SENTENCE_MS)
    ) {
      const out: ScriptAction[] = [];
      this.#end('max_duration_reached', null, null, out);
      return out;
    }
    if (this.#phase !== 'listening') return NOTHING;
    if (this.#callerSpeaking && atMs - this.#callerSoundAtMs < LONGEST_CALLER_SPEECH_MS) return NOTHING;
    if (this.#wait !== null) return this.#tickWaiting(this.#wait, atMs);
    const { promptAfterMs, say, endAfterMs } = this.#agent.idle;
    if (atMs - this.#silentSinceMs >= endAfterMs) {
      const out: ScriptAction[] = [];
      this.#end('inactivity', null, null, out);
      return out;
    }
    if (say.length === 0 || atMs - Math.max(this.#playedUntilMs, this.#silentSinceMs) < promptAfterMs) return NOTHING;
    if (atMs - this.#callerSoundAtMs < PROMPT_AFTER_SOUND_MS) return NOTHING;
    const out: ScriptAction[] = [];
    const line = this.#spoken(this.#pick(say, IDLE_COUNTER), out);
    this.#playedUntilMs = atMs;
    if (!saysNothing(line)) this.#say('idle', [line], true, out);
    return out;
  }

  #tickWaiting(wait: ToolWait, atMs: number): readonly ScriptAction[] {
    const filler = wait.fillerAt(atMs, { agentEndMs: this.#agentSoundAtMs, callerEndMs: this.#callerSoundAtMs });
    if (filler === null) return NOTHING;
    const out: ScriptAction[] = [];
    const line = this.#fill(filler, out);
    this.#agentSoundAtMs = atMs;
    if (line !== '') this.#say('filler', [{ text: line }], true, out);
    return out;
  }

  #toolDone(atMs: number, answer: ToolAnswer, out: ScriptAction[]): void {
    const wait = this.#wait;
    if (wait === null) return;
    this.#wait = null;
    const { name, goto, onError = this.#agent.fallback.goto } = wait.use;
    const definition = this.#tools.get(name) ?? { name };
    for (const [key, value] of Object.entries(toolValues(definition, answer))) {
      if (value === null) delete this.#variables[key];
      else this.#variables[key] = value;
    }
    if (answer.ok) {
      this.#enter(goto, atMs, out);
      return;
    }
    const isSilent = this.#steps.get(onError)?.say === undefined || wait.use.onError === undefined;
    const sorry = definition.speakOnError ?? (isSilent ? [SORRY] : []);
    this.#enter(onError, atMs, out, { text: this.#fill(this.#pick(sorry, SORRY_COUNTER), out) });
  }

  /** Goes to a step, and on through steps that neither speak nor wait. `lead` is said before what the first of them says. */
  #enter(
    firstId: string,
    atMs: number,
    out: ScriptAction[],
    lead: { text: string; resumes?: { misses: number; again: boolean } } = { text: '' },
  ): void {
    let stepId = firstId;
    for (let hops = 0; hops < MOST_SILENT_STEPS; hops++) {
      const step = this.#steps.get(stepId);
      if (step === undefined) {
        out.push({ type: 'warning', code: 'script_unknown_step', message: `The script has no step '${stepId}'.` });
        this.#end('internal_error', null, `script goes to the unknown step '${stepId}'`, out);
        return;
      }
      const resumes = hops === 0 ? lead.resumes : undefined;
      this.#stepId = stepId;
      this.#phase = 'listening';
      this.#misses = resumes?.misses ?? 0;
      const visit = (this.#visits[stepId] ?? 0) + (resumes?.again === true ? 0 : 1);
      this.#visits[stepId] = visit;
      out.push({ type: 'step', stepId });
      const expect = expectationOf(step);
      // While a tool works, words of the step after it are understood, and written down.
      const bookId = step.tool === undefined ? stepId : step.tool.goto;
      out.push({ type: 'listen', stepId, book: this.#books.get(bookId) ?? NO_PHRASES, expect, asked: true });
      if (step.tool !== undefined) this.#ask(step, step.tool, atMs, out);
      const own = this.#spoken(variantOf(step.say, visit), out);
      const saying = step.tool?.saying === undefined ? '' : this.#fill(step.tool.saying, out);
      const lines = joinedLines([{ text: hops === 0 ? lead.text : '' }, own, { text: saying }]);
      if (lines.length > 0) {
        this.#say('step', lines, step.end === undefined && (step.interruptible ?? true), out);
        return;
      }
      if (step.tool !== undefined) return;
      if (step.end === undefined && expect !== 'none') return;
      const next = this.#leave(step, out);
      if (next === null) return;
      stepId = next;
    }
    out.push({
      type: 'warning',
      code: 'script_loop',
      message: `The script goes round in circles at step '${stepId}'.`,
    });
    this.#end('internal_error', null, `script goes round in circles at step '${stepId}'`, out);
  }

  /** Where a step that waits for no answer goes on; null after ending the call. */
  #leave(step: ScriptedStep, out: ScriptAction[]): string | null {
    if (step.end !== undefined) {
      const reason = isEndedReason(step.end.reason) ? step.end.reason : 'agent_hangup';
      this.#end(reason, step.end.disposition ?? null, null, out);
      return null;
    }
    if (step.goto !== undefined) return step.goto;
    const message = `Step '${step.id}' expects nothing and leads nowhere; the call ends.`;
    out.push({ type: 'warning', code: 'script_dead_end', message });
    this.#end('agent_hangup', null, null, out);
    return null;
  }

  #ask(step: ScriptedStep, use: ScriptedToolUse, atMs: number, out: ScriptAction[]): void {
    this.#wait = new ToolWait(step, use, this.#tools.get(use.name), atMs);
    const filled = Object.entries(use.arguments ?? {}).map(([name, value]) => [name, this.#fill(value, out)]);
    out.push({ type: 'tool', name: use.name, arguments: Object.fromEntries(filled) });
  }

  /** The first of the lines now, the others as each is said. At least one. */
  #say(purpose: SayPurpose, lines: readonly SaidLine[], interruptible: boolean, out: ScriptAction[]): void {
    this.#purpose = purpose;
    this.#interruptible = interruptible;
    this.#isFixed = !this.#filledAny;
    this.#filledAny = false;
    this.#sayNext(lines, out);
  }

  #sayNext(lines: readonly SaidLine[], out: ScriptAction[]): void {
    this.#phase = 'saying';
    this.#unsaid = lines.slice(1);
    const [interruptible, isFixed] = [this.#interruptible, this.#isFixed];
    out.push({ type: 'say', stepId: this.#stepId, purpose: this.#purpose, ...lines[0]!, interruptible, isFixed });
  }

  #end(reason: EndedReason, disposition: string | null, error: string | null, out: ScriptAction[]): void {
    this.#phase = 'ended';
    this.#wait = null;
    out.push({ type: 'end', reason, disposition, error });
  }

  #listenSince(atMs: number): void {
    this.#phase = 'listening';
    this.#unsaid = [];
    this.#silentSinceMs = atMs;
    this.#playedUntilMs = atMs;
  }

  #firstStepId(): string {
    return this.#agent.steps[0]?.id ?? '';
  }

  #bookOfNow(): PhraseBook {
    return this.#books.get(this.#stepId ?? this.#firstStepId()) ?? NO_PHRASES;
  }

  /** The next of a list, in turn, counted for the whole call. */
  #pick<Line extends ScriptedLine>(lines: readonly Line[], counter: string): Line | '' {
    const turn = (this.#visits[counter] ?? 0) + 1;
    this.#visits[counter] = turn;
    return lines.length === 0 ? '' : lines[(turn - 1) % lines.length]!;
  }

  #spoken(line: ScriptedLine, out: ScriptAction[]): SaidLine {
    return lineOf(line, (text) => this.#fill(text, out));
  }

  #fill(text: string, out: ScriptAction[]): string {
    const filled = fillPlaceholders(text, (key) => {
      this.#filledAny = true;
      return this.#valueOf(key);
    });
    for (const key of new Set(filled.unresolved)) {
      const count = filled.unresolved.filter((one) => one === key).length;
      const message = `The placeholder '${key}' has no value; nothing is said in its place.`;
      out.push({ type: 'warning', code: 'placeholder_unresolved', message, key, count });
    }
    return filled.text.trim();
  }

  #valueOf(key: string): string | undefined {
    return valueIn(key, this.#variables, this.#placeholders, this.#agent.defaults);
  }
}

/** A clip sounds as it does: its text has no placeholders. */
function lineOf(line: ScriptedLine, fill: (text: string) => string): SaidLine {
  return typeof line === 'string' ? { text: fill(line) } : { text: line.text ?? '', clip: line.clip };
}
