/**
 * What a scripted agent does while a tool is at work: it waits, and says something into the silence. Pure: the script
 * machine asks it at each tick. Nobody hears more than 2 s of nothing: fillers come after `speakAfterMs` of silence at
 * first, and after 1.3 s of it from then on, and the voice needs its time to begin.
 */
import type { ScriptedStep, ScriptedToolUse } from '../../contract/agent-definition.ts';
import { FILLERS, TOOL_DEFAULTS, type ToolDefinition } from '../../contract/tools.ts';

const NEXT_FILLER_AFTER_MS = 1_300;
/** An answer that comes at once is not kept waiting by a filler, however long the caller has been silent already. */
const FIRST_FILLER_NOT_BEFORE_MS = 300;

export interface Quiet {
  /** End of what the agent has last said. */
  agentEndMs: number;
  /** End of the caller's last sound. */
  callerEndMs: number;
}

export class ToolWait {
  readonly step: ScriptedStep;
  readonly use: ScriptedToolUse;
  readonly #fillers: readonly string[];
  readonly #firstAfterMs: number;
  readonly #begunAtMs: number;
  #said = 0;

  constructor(step: ScriptedStep, use: ScriptedToolUse, definition: ToolDefinition | undefined, atMs: number) {
    this.step = step;
    this.use = use;
    this.#fillers = definition?.speakDuring ?? FILLERS;
    this.#firstAfterMs = definition?.speakAfterMs ?? TOOL_DEFAULTS.speakAfterMs;
    this.#begunAtMs = atMs;
  }

  /** What to say now; null while it is not time. */
  fillerAt(atMs: number, { agentEndMs, callerEndMs }: Quiet): string | null {
    const isFirst = this.#said === 0;
    const quietSinceMs = Math.max(agentEndMs, callerEndMs);
    const dueMs = quietSinceMs + (isFirst ? this.#firstAfterMs : NEXT_FILLER_AFTER_MS);
    if (atMs < Math.max(dueMs, isFirst ? this.#begunAtMs + FIRST_FILLER_NOT_BEFORE_MS : 0)) return null;
    const { length } = this.#fillers;
    return length === 0 ? null : this.#fillers[this.#said++ % length]!;
  }
}
