/**
 * Whatever is asked of a call while it runs, by whom ever: a carrier's keys, a web page, an operator, whoever carries
 * tools out. One way from the I/O thread to the session, in order; what comes while a session starts waits for it. Over
 * the link from control the two kinds that it sends keep messages of their own (`link-messages.ts`), which media of an
 * earlier version understand.
 */
import type { ControlAction } from './operator-control.ts';
import type { ToolAnswer } from './tools.ts';

export type CallCommand =
  /** A key of the caller's telephone: 0-9 * # A-D. */
  | { type: 'key'; key: string }
  /** Somebody steers the call from outside; answered by `controlled` with the same id. */
  | { type: 'control'; controlId: string; action: ControlAction }
  /** To a tool that was asked for; may come twice, or too late. */
  | { type: 'tool.answer'; toolCallId: string; answer: ToolAnswer }
  /** Typed in place of spoken. `interrupt`: the agent stops for it; else it is heard when the agent has finished. */
  | { type: 'text'; text: string; interrupt: boolean }
  /** The agent stops and listens. */
  | { type: 'interrupt' }
  /** Of who has taken the call over: some frames of 20 ms, mono, 16 kHz, silence too. */
  | { type: 'person.sound'; samples: Int16Array }
  /** Their line is gone. */
  | { type: 'person.gone' }
  /** The line is dead (true): everything stands still. Or it is back. */
  | { type: 'hold'; held: boolean };
