/**
 * What control and media tell each other of people who listen in to a call that runs and of what they do with it, and
 * how a listener's socket ends.
 * The messages on the socket itself are in `docs/live-listening.md`.
 */
import type { Turn } from './conversation.ts';
import type { ControlAction, ControlRefusal } from './operator-control.ts';

/** Why a listener's socket is refused or closed by us; its last message says it too. */
export type MonitorEnd =
  /** The call is over. */
  | 'call_over'
  /** The call goes on, in another process: ask for a token again. */
  | 'call_moved'
  | 'bad_message'
  /** Unknown, used, or past its time. */
  | 'token_invalid'
  /** Signed out, or the session or the right was taken away. */
  | 'session_over'
  /** Not answered yet, or over already. */
  | 'call_not_live'
  /** It reads too slowly, and would be ever further behind. */
  | 'slow_listener'
  /** Another process has the port and the call: come again with the same token. */
  | 'elsewhere'
  | 'too_many_listeners'
  | 'server'
  /** Control is away or new: nobody could take the right away. Ask for a token again. */
  | 'service_away';

export const MONITOR_CLOSE_CODES: Readonly<Record<MonitorEnd, number>> = {
  call_over: 1000,
  bad_message: 4400,
  token_invalid: 4401,
  session_over: 4403,
  call_not_live: 4404,
  slow_listener: 4408,
  call_moved: 4409,
  elsewhere: 4421,
  too_many_listeners: 4429,
  server: 4500,
  service_away: 4503,
};

/** `left`: the page closed it, or its connection broke; `media_lost`: the process that carried the call is gone. */
export type MonitorEnded = MonitorEnd | 'left' | 'media_lost';

export type MonitorAnswer =
  /** `turns`: what was said so far. */
  { ok: true; monitorId: string; callUuid: string; turns: Turn[] } | { ok: false; code: MonitorEnd };

/** What a listener may ask of the call, if the person may steer it. */
export type MonitorAction = Extract<ControlAction, { type: 'say' | 'whisper' | 'takeover' | 'handback' }>;

/** `not_allowed`: the person may listen, and no more. `unanswered`: it may have happened. */
export type MonitorResult =
  | 'done'
  | 'not_allowed'
  | 'not_in_progress'
  | 'unanswered'
  | Exclude<ControlRefusal, 'not_here'>;

/** What one listener got, told once, when it is over. */
export interface MonitorReport {
  monitorId: string;
  why: MonitorEnded;
  /** For how long it had sound. */
  soundMs: number;
  /** Frames that were left out for it, because it read too slowly. */
  droppedFrames: number;
  /** The person had the call, which went back to the agent with this end. */
  hadCall?: true;
}
