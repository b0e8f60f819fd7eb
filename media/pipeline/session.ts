import type { ControlAction, ControlOutcome } from '../contract/live-control.ts';
import type { SessionCommand } from '../contract/session-command.ts';
import type { ToolAnswer } from '../contract/tools.ts';

/** What the pipeline thread asks of a call, whatever its agent is. A throw out of any of these ends the call with `internal_error`, not the thread. */
export interface Session {
  readonly callUuid: string;
  /** Called once, before anything else. */
  start(): void;
  /** Audio has come that `tick` would take. */
  readonly hasInput: boolean;
  /** When there is input, and at least every 20 ms. */
  tick(): void;
  pressed(key: string): void;
  /** Somebody steers the call from outside. */
  control(action: ControlAction): ControlOutcome;
  command(command: SessionCommand): void;
  /** To a tool that it asked for; may come twice, or too late. */
  toolAnswered(toolCallId: string, answer: ToolAnswer): void;
  /** The leg is over: sends the open turn and the last checkpoint. Idempotent; nothing else is called after it but `stop`. */
  stop(): void;
}
