/** What a web client may ask of its conversation while it runs, on its way from the I/O thread to the pipeline. */
export type SessionCommand =
  /** Typed in place of spoken. `interrupt`: the agent stops for it; else it is heard when the agent has finished. */
  | { type: 'text'; text: string; interrupt: boolean }
  /** The agent stops and listens. */
  | { type: 'interrupt' }
  /** The line is dead (true): everything stands still. Or it is back. */
  | { type: 'hold'; held: boolean };
