/**
 * The states of a call and the only ways between them (contract §1), pure. `src/lifecycle/observe.ts` asks it for every
 * observation; nothing else decides a status. A state is never left for an earlier one, and a
 * terminal one is never left.
 *
 *   queued 0 ─► dialing 1 ─► ringing 2 ─► in_progress 3 ─► completed 4
 *      │           ├───────────┼──────────────►│ (ringing may be skipped)
 *      │           ├──► no_answer 4 ◄──┘        │
 *      └──► failed 4 ◄───┴─────────────────────┘
 */
import {
  type CallStatus,
  ENDED_REASONS,
  type EndedReason,
  type TerminalStatus,
} from '../../media/contract/call-outcome.ts';

const RANKS: Record<CallStatus, number> = {
  queued: 0,
  dialing: 1,
  ringing: 2,
  in_progress: 3,
  completed: 4,
  no_answer: 4,
  failed: 4,
};

export const LEGAL_TRANSITIONS: Record<CallStatus, readonly CallStatus[]> = {
  queued: ['dialing', 'failed'],
  dialing: ['ringing', 'in_progress', 'no_answer', 'failed'],
  ringing: ['in_progress', 'no_answer', 'failed'],
  in_progress: ['completed', 'failed'],
  completed: [],
  no_answer: [],
  failed: [],
};

/** 0 for `queued` to 4 for the three terminal states. */
export function rankOf(status: CallStatus): number {
  return RANKS[status];
}

export function isTerminal(status: CallStatus): status is TerminalStatus {
  return RANKS[status] === 4;
}

export function mayMove(from: CallStatus, to: CallStatus): boolean {
  return LEGAL_TRANSITIONS[from].includes(to);
}

/**
 * The reason that a call in a non-terminal `status` really ends with when somebody reports `reason`. Reports come late,
 * doubled and in the wrong order, so a reason may not fit the state; it is then read as the nearest one that does:
 * - not answered, but said to have ended as a talk does (`user_hangup`, `agent_hangup`, …): nobody took the call, or,
 *   when it was the client's or our own doing, it was canceled;
 * - answered, but said never to have been: our own cancel that came too late is a hang-up,
 *   anything else a carrier's fault;
 * - queued, and not a failure: it never left the queue.
 */
export function fittingReason(status: Exclude<CallStatus, TerminalStatus>, reason: EndedReason): EndedReason {
  const ends = ENDED_REASONS[reason].status;
  if (mayMove(status, ends)) return reason;
  if (status === 'queued') return 'queue_expired';
  if (status === 'in_progress') return reason === 'canceled' ? 'api_hangup' : 'carrier_error';
  return reason === 'api_hangup' || reason === 'operator_hangup' ? 'canceled' : 'no_answer';
}
