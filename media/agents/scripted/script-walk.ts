/**
 * How a script moves: from step to step, through those that neither speak nor wait, to what is said, asked of a tool,
 * or the end. It holds the machine's phase; `script-machine.ts` decides where to go and when.
 */
import type { ScriptedAgent, ScriptedStep, ScriptedToolUse } from '../../contract/agent-definition.ts';
import { type EndedReason, isEndedReason } from '../../contract/call-outcome.ts';
import type { QuietTime } from '../words/quiet-time.ts';
import { ScriptLines } from './script-lines.ts';
import { ScriptPlace } from './script-place.ts';
import type { SayPurpose, ScriptAction } from './script-types.ts';
import { expectationOf, joinedLines, type SaidLine, variantOf } from './step-reading.ts';
import { ToolWait } from './tool-wait.ts';

/** Steps that say nothing and wait for nothing, in a row, before the script counts as going round in circles. */
const MOST_SILENT_STEPS = 100;

/** Said before what the first step says; `resumes`: its visit is not over, after another thread's death or a wait. */
interface Lead {
  text: string;
  resumes?: { misses: number; again: boolean };
}

export class ScriptWalk {
  phase: 'new' | 'saying' | 'listening' | 'ended' = 'new';
  /** A tool is at work; the script stands at its step until the result is told. */
  wait: ToolWait | null = null;
  /** Somebody asked to wait: what fits no phrase then is the word to go on. */
  isHeld = false;
  readonly place: ScriptPlace;
  readonly lines: ScriptLines;
  readonly #quiet: QuietTime;

  constructor(agent: ScriptedAgent, placeholders: Readonly<Record<string, string>>, quiet: QuietTime) {
    this.place = new ScriptPlace(agent, placeholders);
    this.lines = new ScriptLines(this.place);
    this.#quiet = quiet;
  }

  /**
   * Goes to a step, and on through steps that neither speak nor wait. `lead` is said before what the first of them
   * says.
   */
  enter(firstId: string, atMs: number, out: ScriptAction[], lead: Lead = { text: '' }): void {
    let stepId = firstId;
    for (let hops = 0; hops < MOST_SILENT_STEPS; hops++) {
      const step = this.place.step(stepId);
      if (step === undefined) {
        out.push({ type: 'warning', code: 'script_unknown_step', message: `The script has no step '${stepId}'.` });
        this.end('internal_error', null, `script goes to the unknown step '${stepId}'`, out);
        return;
      }
      const resumes = hops === 0 ? lead.resumes : undefined;
      this.place.stepId = stepId;
      this.phase = 'listening';
      this.isHeld = false;
      this.place.misses = resumes?.misses ?? 0;
      const visit = this.place.visit(stepId, resumes?.again);
      out.push({ type: 'step', stepId });
      const expect = expectationOf(step);
      // While a tool works, words of the step after it are understood, and written down.
      const bookId = step.tool === undefined ? stepId : step.tool.goto;
      out.push({ type: 'listen', stepId, book: this.place.bookOf(bookId), expect, asked: true });
      if (step.tool !== undefined) this.#ask(step, step.tool, atMs, out);
      const own = this.lines.spoken(variantOf(step.say, visit), out);
      const saying = step.tool?.saying === undefined ? '' : this.lines.fill(step.tool.saying, out);
      const lines = joinedLines([{ text: hops === 0 ? lead.text : '' }, own, { text: saying }]);
      if (lines.length > 0) {
        this.say('step', lines, step.end === undefined && (step.interruptible ?? true), out);
        return;
      }
      if (step.tool !== undefined) return;
      if (step.end === undefined && expect !== 'none') return;
      const next = this.leave(step, out);
      if (next === null) return;
      stepId = next;
    }
    out.push({
      type: 'warning',
      code: 'script_loop',
      message: `The script goes round in circles at step '${stepId}'.`,
    });
    this.end('internal_error', null, `script goes round in circles at step '${stepId}'`, out);
  }

  /** Where a step that waits for no answer goes on; null after ending the call. */
  leave(step: ScriptedStep, out: ScriptAction[]): string | null {
    if (step.end !== undefined) {
      const reason = isEndedReason(step.end.reason) ? step.end.reason : 'agent_hangup';
      this.end(reason, step.end.disposition ?? null, null, out);
      return null;
    }
    if (step.goto !== undefined) return step.goto;
    const message = `Step '${step.id}' expects nothing and leads nowhere; the call ends.`;
    out.push({ type: 'warning', code: 'script_dead_end', message });
    this.end('agent_hangup', null, null, out);
    return null;
  }

  #ask(step: ScriptedStep, use: ScriptedToolUse, atMs: number, out: ScriptAction[]): void {
    this.wait = new ToolWait(step, use, this.place.tool(use.name), atMs);
    const filled = Object.entries(use.arguments ?? {}).map(([name, value]) => [name, this.lines.fill(value, out)]);
    out.push({ type: 'tool', name: use.name, arguments: Object.fromEntries(filled) });
  }

  say(purpose: SayPurpose, lines: readonly SaidLine[], interruptible: boolean, out: ScriptAction[]): void {
    this.phase = 'saying';
    this.lines.say(purpose, lines, interruptible, out);
  }

  sayNext(lines: readonly SaidLine[], out: ScriptAction[]): void {
    this.phase = 'saying';
    this.lines.sayNext(lines, out);
  }

  end(reason: EndedReason, disposition: string | null, error: string | null, out: ScriptAction[]): void {
    this.phase = 'ended';
    this.wait = null;
    out.push({ type: 'end', reason, disposition, error });
  }

  listenSince(atMs: number): void {
    this.phase = 'listening';
    this.lines.unsaid = [];
    this.#quiet.beginsAnew(atMs);
  }
}
