import type { CallCommand } from '../contract/call-command.ts';
import type { ControlOutcome } from '../contract/operator-control.ts';

/**
 * What the pipeline thread asks of a call, whatever its agent is. A throw out of any of these ends the call with
 * `internal_error`, not the thread.
 */
export interface Session {
  readonly callUuid: string;
  /** Called once, before anything else. */
  start(): void;
  /** False: nobody waits for what comes up the line. */
  readonly listens: boolean;
  /** When audio has come, if it listens, and at least every 20 ms. */
  tick(): void;
  /** The answer to `control`; null to all else. */
  command(command: CallCommand): ControlOutcome | null;
  /**
   * The leg is over: sends the open turn and the last checkpoint. Idempotent; nothing else is called after it but
   * `stop`.
   */
  stop(): void;
}
