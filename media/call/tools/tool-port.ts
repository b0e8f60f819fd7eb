/** The way out of the pipeline to whoever carries tools out: control, or the page of a web session. */
import type { ToolAsk } from '../../contract/tools.ts';

export interface ToolPort {
  /** Once for each id, and once more after a thread's death. The answer comes by `ToolUses.answered`, or never. */
  ask(ask: ToolAsk, where: { atPage: boolean; timeoutMs: number }): void;
  cancel(toolCallId: string): void;
}
