/**
 * The scripted agent (contract §18) as a state machine: events in, actions out, no clock, no engines, no input or
 * output. `scripted-agent.ts` tells it what was heard and what was played, in ms of stream time, and hands on what it
 * answers.
 *
 *   saying ──said──► (next step | listening | end)        interrupted ──► listening
 *   listening ──heard──► reply's step │ ──unclear──► fallback │ ──tick──► idle prompt, then inactivity
 *   a step that expects nothing, cut by "wait": ──heard│unclear│idle prompt said──► the same step again
 *   a step with a tool: asks for it at once ──► saying · waiting ──tick──► filler ──tool──► goto │ onError
 *
 * It ends at most once, says nothing after that, and never throws on any order of events: a definition that has passed
 * the import check cannot reach the `internal_error` endings, which stand for one that has not.
 */

import { BRIDGE } from '../../contract/agent.ts';
import type { ScriptedAgent, ScriptedStep } from '../../contract/agent-definition.ts';
import { toolValues } from '../../contract/tool-values.ts';
import { SORRY, type ToolAnswer } from '../../contract/tools.ts';
import { QuietTime } from '../words/quiet-time.ts';
import type { ReplyMatch } from './phrase-match.ts';
import type { ScriptAction, ScriptEvent, ScriptState } from './script-types.ts';
import { ScriptWalk } from './script-walk.ts';
import { caughtValue, expectationOf, isStatement, saysNothing } from './step-reading.ts';
import type { ToolWait } from './tool-wait.ts';

const FALLBACK_COUNTER = '#fallback';
const IDLE_COUNTER = '#idle';
const SORRY_COUNTER = '#sorry';

const NOTHING: readonly ScriptAction[] = Object.freeze([]);

export interface ScriptMachineOptions {
  agent: ScriptedAgent;
  placeholders: Readonly<Record<string, string>>;
  /** Longest time of the call, ms of stream. */
  maxDurationMs: number;
}

export class ScriptMachine {
  readonly #agent: ScriptedAgent;
  readonly #walk: ScriptWalk;
  readonly #quiet: QuietTime;

  constructor({ agent, placeholders, maxDurationMs }: ScriptMachineOptions) {
    this.#agent = agent;
    this.#quiet = new QuietTime(agent.idle, maxDurationMs);
    this.#walk = new ScriptWalk(agent, placeholders, this.#quiet);
  }

  get ended(): boolean {
    return this.#walk.phase === 'ended';
  }

  get stepId(): string | null {
    return this.#walk.place.stepId;
  }

  get firstStepId(): string {
    return this.#walk.place.firstStepId;
  }

  get variables(): Readonly<Record<string, string>> {
    return this.#walk.place.variables;
  }

  /** The reply that the caller's words would choose now; null when they fit none. */
  match(text: string): ReplyMatch | null {
    return this.#walk.place.match(text);
  }

  snapshot(): ScriptState {
    return this.#walk.place.snapshot();
  }

  /**
   * Somebody else says where to go on; what is being said is said to its end. Empty: there is no such step, it has not
   * begun or is over, or the answer of a tool comes first.
   */
  goTo(stepId: string, atMs: number): readonly ScriptAction[] {
    const { phase, wait, place } = this.#walk;
    if (phase === 'new' || phase === 'ended' || wait !== null || place.step(stepId) === undefined) return NOTHING;
    const out: ScriptAction[] = [];
    this.#walk.listenSince(atMs);
    this.#walk.enter(stepId, atMs, out);
    return out;
  }

  handle(event: ScriptEvent): readonly ScriptAction[] {
    if (this.#walk.phase === 'ended') return NOTHING;
    if (event.type === 'tick') return this.#tick(event.atMs);
    if (event.type === 'caller') {
      this.#quiet.caller(event.speaking, event.atMs);
      return NOTHING;
    }
    if (event.type === 'said' || event.type === 'interrupted' || event.type === 'hold')
      this.#quiet.agentEndMs = event.atMs;
    const out: ScriptAction[] = [];
    if (event.type === 'start') {
      this.#start(event.atMs, event.checkpoint, out);
      return out;
    }
    if (this.#walk.phase === 'new') return NOTHING;
    switch (event.type) {
      case 'said':
        if (this.#walk.phase === 'saying') this.#said(event.atMs, out);
        break;
      case 'interrupted':
        if (this.#walk.phase === 'saying') this.#walk.listenSince(event.atMs);
        break;
      case 'hold':
        this.#walk.listenSince(event.atMs);
        this.#walk.isHeld = true;
        break;
      case 'heard':
        // Written down, and no answer: the tool's comes first.
        if (this.#walk.wait !== null) this.#walk.listenSince(event.atMs);
        else this.#heard(event.atMs, event.text, out);
        break;
      case 'unclear':
        if (this.#walk.wait !== null) this.#walk.listenSince(event.atMs);
        else this.#missed(event.atMs, out);
        break;
      case 'tool':
        this.#toolDone(event.atMs, event.answer, out);
        break;
    }
    return out;
  }

  #start(atMs: number, checkpoint: ScriptState | null, out: ScriptAction[]): void {
    if (this.#walk.phase !== 'new') return;
    this.#walk.listenSince(atMs);
    if (checkpoint !== null) {
      this.#walk.place.restore(checkpoint);
      const stepId = checkpoint.stepId ?? this.#walk.place.firstStepId;
      const again = checkpoint.stepId !== null;
      this.#walk.enter(stepId, atMs, out, { text: BRIDGE, resumes: { misses: checkpoint.misses, again } });
      return;
    }
    const greeting = this.#walk.lines.spoken(this.#agent.greeting, out);
    if (saysNothing(greeting)) {
      this.#walk.enter(this.#walk.place.firstStepId, atMs, out);
      return;
    }
    const first = this.#walk.place.step(this.#walk.place.firstStepId);
    out.push({
      type: 'listen',
      stepId: null,
      book: this.#walk.place.bookOfNow(),
      expect: first === undefined ? 'open' : expectationOf(first),
      asked: first?.say === undefined,
    });
    this.#walk.say('greeting', [greeting], true, out);
  }

  #said(atMs: number, out: ScriptAction[]): void {
    const { purpose } = this.#walk.lines;
    this.#walk.phase = 'listening';
    this.#quiet.playedUntilMs = atMs;
    const { unsaid } = this.#walk.lines;
    if (unsaid.length > 0 && !this.#quiet.isTooLong(atMs)) {
      this.#walk.sayNext(unsaid, out);
      return;
    }
    if (purpose !== 'idle') this.#quiet.silentSinceMs = atMs;
    if (this.#quiet.isTooLong(atMs)) {
      this.#walk.end('max_duration_reached', null, null, out);
      return;
    }
    if (this.#walk.place.stepId === null) {
      this.#walk.enter(this.#walk.place.firstStepId, atMs, out);
      return;
    }
    if (this.#walk.wait !== null) return;
    const step = this.#walk.place.step(this.#walk.place.stepId)!;
    if (purpose === 'idle' && isStatement(step)) {
      this.#sayAgain(step, atMs, out);
      // Whoever answers the prompt speaks into it.
      this.#walk.isHeld = true;
    } else if (step.end !== undefined || isStatement(step)) {
      const next = this.#walk.leave(step, out);
      if (next !== null) this.#walk.enter(next, atMs, out);
    }
  }

  /** A statement behind whose words somebody asked to wait, as a rule by cutting them. */
  #sayAgain({ id }: ScriptedStep, atMs: number, out: ScriptAction[]): void {
    this.#walk.enter(id, atMs, out, { text: '', resumes: { misses: 0, again: true } });
  }

  #heard(atMs: number, text: string, out: ScriptAction[]): void {
    const match = this.match(text);
    if (match === null) {
      this.#missed(atMs, out);
      return;
    }
    this.#walk.listenSince(atMs);
    for (const [name, value] of Object.entries(match.reply.set ?? {})) {
      this.#walk.place.set(name, caughtValue(value, text, match));
    }
    this.#walk.enter(match.reply.goto ?? this.#walk.place.stepId ?? this.#walk.place.firstStepId, atMs, out);
  }

  /**
   * Nothing in the grammar fits: the next fallback line, or its step after too many. Behind a wish to wait it is the
   * word to go on, where no answer was asked for.
   */
  #missed(atMs: number, out: ScriptAction[]): void {
    this.#walk.listenSince(atMs);
    if (this.#walk.place.stepId === null) {
      const firstStepId = this.#walk.place.firstStepId;
      const first = this.#walk.place.step(firstStepId);
      if (first === undefined || first.say !== undefined) {
        this.#walk.enter(firstStepId, atMs, out);
        return;
      }
      this.#walk.place.stepId = firstStepId;
    }
    const step = this.#walk.place.step(this.#walk.place.stepId)!;
    if (this.#walk.isHeld && isStatement(step)) {
      this.#sayAgain(step, atMs, out);
      return;
    }
    this.#walk.place.misses++;
    const { say, after, goto } = this.#agent.fallback;
    const line =
      this.#walk.place.misses >= after
        ? { text: '' }
        : this.#walk.lines.spoken(this.#walk.lines.pick(say, FALLBACK_COUNTER), out);
    if (saysNothing(line)) this.#walk.enter(goto, atMs, out);
    else this.#walk.say('fallback', [line], true, out);
  }

  #tick(atMs: number): readonly ScriptAction[] {
    if (this.#walk.phase === 'new') return NOTHING;
    const quiet = this.#quiet;
    if (this.#walk.phase === 'listening' ? quiet.isTooLong(atMs) : quiet.isFarTooLong(atMs)) {
      const out: ScriptAction[] = [];
      this.#walk.end('max_duration_reached', null, null, out);
      return out;
    }
    if (this.#walk.phase !== 'listening') return NOTHING;
    if (quiet.callerSpeaks(atMs)) return NOTHING;
    if (this.#walk.wait !== null) return this.#tickWaiting(this.#walk.wait, atMs);
    if (quiet.isInactive(atMs)) {
      const out: ScriptAction[] = [];
      this.#walk.end('inactivity', null, null, out);
      return out;
    }
    if (!quiet.wantsPrompt(atMs)) return NOTHING;
    const out: ScriptAction[] = [];
    const line = this.#walk.lines.spoken(this.#walk.lines.pick(this.#agent.idle.say, IDLE_COUNTER), out);
    this.#quiet.playedUntilMs = atMs;
    if (!saysNothing(line)) this.#walk.say('idle', [line], true, out);
    return out;
  }

  #tickWaiting(wait: ToolWait, atMs: number): readonly ScriptAction[] {
    const filler = wait.fillerAt(atMs, this.#quiet);
    if (filler === null) return NOTHING;
    const out: ScriptAction[] = [];
    const line = this.#walk.lines.fill(filler, out);
    this.#quiet.agentEndMs = atMs;
    if (line !== '') this.#walk.say('filler', [{ text: line }], true, out);
    return out;
  }

  #toolDone(atMs: number, answer: ToolAnswer, out: ScriptAction[]): void {
    const wait = this.#walk.wait;
    if (wait === null) return;
    this.#walk.wait = null;
    const { name, goto, onError = this.#agent.fallback.goto } = wait.use;
    const definition = this.#walk.place.tool(name) ?? { name };
    for (const [key, value] of Object.entries(toolValues(definition, answer))) this.#walk.place.set(key, value);
    if (answer.ok) {
      this.#walk.enter(goto, atMs, out);
      return;
    }
    const isSilent = this.#walk.place.step(onError)?.say === undefined || wait.use.onError === undefined;
    const sorry = definition.speakOnError ?? (isSilent ? [SORRY] : []);
    this.#walk.enter(onError, atMs, out, {
      text: this.#walk.lines.fill(this.#walk.lines.pick(sorry, SORRY_COUNTER), out),
    });
  }
}
