/**
 * A call without sound: the agent behind its port (`media/contract/agent.ts`), told what a call would tell it, on a
 * clock of its own that goes as fast as the machine. It stands still while a real model or tool is waited for. Driven
 * by `hold-text-call.ts`.
 */
import { AgentLine } from '../../media/call/agent-line.ts';
import { AgentModels } from '../../media/call/models/agent-models.ts';
import type { AgentAction, AgentKind, WordSense } from '../../media/contract/agent.ts';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import type { LanguageModel } from '../../media/contract/model.ts';
import type { ToolAnswer } from '../../media/contract/tools.ts';
import type { VirtualClock } from '../harness/virtual-clock.ts';
import { emptyCall, endlessOf, type HeldCall } from './held-call.ts';
import { type Said, TextMouth } from './text-mouth.ts';
import { TextToolUses } from './text-tool-uses.ts';

const TICK_MS = 20;
const MS_A_CHARACTER = 60;
const LEG_RATE_HZ = 8_000;
const DEFAULT_LONGEST_S = 1_800;

export interface TextCallDeps {
  kind: AgentKind;
  definition: AgentDefinition;
  placeholders: Readonly<Record<string, string>>;
  /** In the order of the agent's own. */
  models: readonly LanguageModel[];
  clock: VirtualClock;
  useTool(name: string, args: Record<string, unknown>): Promise<ToolAnswer>;
  /** Something outside this process is waited for: time stands still. */
  waitsForOthers(): boolean;
  /** Throws when the call has lasted too long; asked at each step. */
  checkTime(): void;
}

export class TextCall {
  readonly held: HeldCall = emptyCall();
  readonly mouth = new TextMouth();
  exchange = 0;
  readonly #deps: TextCallDeps;
  readonly #line: AgentLine;
  readonly #models: AgentModels;
  readonly #tools: TextToolUses;
  readonly #isAsked = new Set<string>();
  #isHeld = false;

  constructor(deps: TextCallDeps) {
    this.#deps = deps;
    const { kind, definition, placeholders, clock, models, useTool } = deps;
    const names = definition.kind === 'tone' ? [] : (definition.tools ?? []).map(({ name }) => name);
    this.#tools = new TextToolUses({ names, clock, useTool });
    this.#models = new AgentModels({
      models,
      nowMs: () => clock.nowMs(),
      asked: () => {},
      tell: (ref, chunk) => {
        if (chunk.type === 'done' || chunk.type === 'failed') this.#isAsked.delete(ref);
        if (chunk.type === 'failed') this.held.warnings.push(`a model failed (${chunk.fault}): ${chunk.message}`);
        this.#line.tell({ type: 'model', atMs: clock.nowMs(), ref, chunk });
      },
      failed: (error) => this.#fail(error),
    });
    const { maxDurationSeconds = DEFAULT_LONGEST_S } = definition;
    const context = { definition, placeholders, maxDurationMs: maxDurationSeconds * 1_000, legRateHz: LEG_RATE_HZ };
    this.#line = new AgentLine({
      kind,
      context,
      clock,
      act: (action) => this.#act(action),
      failed: (error) => this.#fail(error),
    });
  }

  get isOver(): boolean {
    return this.held.end !== null;
  }

  /** It says nothing, and nothing that it wants is under way. */
  get isIdle(): boolean {
    return this.mouth.isSilent && this.#isAsked.size === 0 && !this.#tools.isAtWork && !this.#isHeld;
  }

  /** What it is about, for whoever waited in vain. */
  get doing(): string {
    if (!this.mouth.isSilent) return 'the agent was still speaking';
    if (this.#isAsked.size > 0) return 'a model had not answered';
    if (this.#tools.isAtWork) return 'a tool had not answered';
    return this.#isHeld ? 'the agent did not listen' : endlessOf(this.held, this.exchange);
  }

  start(): void {
    const { clock } = this.#deps;
    this.#line.tell({ type: 'start', atMs: clock.nowMs(), isResumed: false, state: null, variables: {} });
  }

  /** 20 ms of the call pass, or a moment of the world outside. */
  async step(): Promise<void> {
    const { clock, waitsForOthers, checkTime } = this.#deps;
    checkTime();
    if (waitsForOthers()) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      return;
    }
    clock.advanceMs(TICK_MS);
    // Answers that are promises come between two ticks.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.isOver) return;
    const atMs = clock.nowMs();
    const said = this.mouth.step(TICK_MS, atMs);
    if (said !== null) {
      this.#keep(said, false);
      if (this.mouth.isSilent) {
        this.mouth.saidBefore = 0;
        this.#line.tell({ type: 'said', atMs });
      }
    }
    while (this.mouth.isSilent && !this.isOver) {
      const done = this.#tools.takeResult();
      if (done === null) break;
      this.#line.tell({ type: 'tool', atMs, ...done });
    }
    if (!this.isOver) this.#line.tell({ type: 'tick', atMs });
  }

  /** Words of the caller, as a recogniser would tell them: the whole turn at once. */
  async says(text: string): Promise<void> {
    const { clock } = this.#deps;
    const isInto = this.mouth.spokenForMs(clock.nowMs()) !== null;
    const into = isInto ? { into: this.mouth.heardText } : {};
    const sense = this.#line.sense({ text, rejected: false, isOver: true, how: 'spoken', ...into });
    this.#caller(text);
    if (isInto && this.mouth.mayBeInterrupted && sense !== 'acknowledge') this.#cut();
    else if (isInto && sense === 'acknowledge') return;
    // Who may not be interrupted is heard out.
    while (!this.mouth.isSilent && !this.isOver) await this.step();
    this.#line.tell({ type: 'caller', atMs: clock.nowMs(), speaking: true });
    await this.#pass(text.length * MS_A_CHARACTER);
    this.#line.tell({ type: 'caller', atMs: clock.nowMs(), speaking: false });
    const { minMs, maxMs } = this.#line.agent.patience;
    await this.#pass(sense === 'answer' ? minMs : maxMs);
    if (!this.isOver) this.#mean(text, sense);
  }

  async presses(keys: string): Promise<void> {
    const { clock } = this.#deps;
    this.#caller(`[keys] ${keys}`);
    for (const key of keys) this.#line.tell({ type: 'key', atMs: clock.nowMs(), key });
    while (!this.mouth.isSilent && !this.isOver) await this.step();
    if (!this.isOver) this.#line.tell({ type: 'heard', atMs: clock.nowMs(), text: keys, how: 'keys' });
  }

  hangUp(): void {
    this.#end('user_hangup', null, null);
  }

  /** Where it stands now. */
  noteState(): void {
    const { stepId } = this.#line.agent;
    this.held.states[this.exchange] = { step: stepId, variables: { ...this.#line.agent.variables() } };
  }

  close(fault: string | null): HeldCall {
    if (!this.isOver) this.noteState();
    this.held.fault ??= fault;
    this.held.durationMs = Math.round(this.#deps.clock.nowMs());
    this.#models.close();
    this.#line.close(this.#deps.clock.nowMs());
    return this.held;
  }

  // ── Inside ────────────────────────────────────────────────────────────────────────────────────────────

  async #pass(ms: number): Promise<void> {
    const { clock } = this.#deps;
    for (const untilMs = clock.nowMs() + ms; clock.nowMs() < untilMs && !this.isOver; ) await this.step();
  }

  #caller(text: string): void {
    const atMs = this.#deps.clock.nowMs();
    this.held.turns.push({ who: 'caller', text, exchange: this.exchange, atMs });
  }

  #mean(text: string, sense: WordSense): void {
    const atMs = this.#deps.clock.nowMs();
    if (sense === 'hold') this.#line.tell({ type: 'wait', atMs, why: 'caller' });
    else if (sense === 'answer' || sense === 'other' || sense === 'interrupt')
      this.#line.tell({ type: 'heard', atMs, text, how: 'spoken' });
    else this.#line.tell({ type: 'unclear', atMs });
  }

  #cut(): void {
    const { saidBefore } = this.mouth;
    const said = this.mouth.silence();
    this.mouth.saidBefore = 0;
    // What it was cut in answers the caller before.
    if (said !== null) this.#keep(said, true, this.exchange - 1);
    const heardText = said?.heardText ?? '';
    this.#line.tell({ type: 'cut', atMs: this.#deps.clock.nowMs(), heardText, saidBefore });
  }

  #keep({ text, heardText, beganAtMs }: Said, isCut: boolean, exchange = this.exchange): void {
    if (heardText === '') return;
    const turn = { who: 'agent' as const, text: heardText, exchange, atMs: Math.round(beganAtMs) };
    const own = isCut ? { ...turn, cutOf: text.trim() } : turn;
    const after = this.held.turns.findIndex((one) => one.exchange > exchange);
    if (after < 0) this.held.turns.push(own);
    else this.held.turns.splice(after, 0, own);
  }

  #act(action: AgentAction): void {
    if (this.isOver) return;
    switch (action.type) {
      case 'say':
        this.mouth.say(action);
        break;
      case 'hush': {
        const said = this.mouth.silence();
        this.mouth.saidBefore = 0;
        if (said !== null) this.#keep(said, true);
        break;
      }
      case 'tool':
        this.held.tools.push(this.#tools.use(action, this.exchange));
        break;
      case 'ask':
        this.#isAsked.add(action.ref);
        this.#models.ask(action);
        break;
      case 'unask':
        this.#isAsked.delete(action.ref);
        this.#models.unask(action.ref);
        break;
      case 'hold':
        this.#isHeld = action.isHeld;
        break;
      case 'warning':
        this.held.warnings.push(`${action.code}: ${action.message}`);
        break;
      case 'recovery':
        this.held.warnings.push(`${action.what}: ${action.message}`);
        break;
      case 'end':
        this.#end(action.reason, action.disposition, action.error);
        break;
      // Sound that is to be ready, hints for an ear, checkpoints: a text call has none of them.
      case 'ready':
      case 'listen':
      case 'keep':
      case 'step':
        break;
    }
  }

  #fail(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#end('internal_error', null, message);
  }

  #end(reason: string, disposition: string | null, error: string | null): void {
    if (this.isOver) return;
    this.noteState();
    const said = this.mouth.silence();
    if (said !== null) this.#keep(said, true);
    this.held.end = { reason, disposition, error };
  }
}
