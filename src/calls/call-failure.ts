/**
 * What a failed call says of its fault, to a receiver of `call.failed` and in the call log: whose it was by name, and
 * whether the same call may be placed again. Both follow from why the call ended and how far it came; the words are
 * those of whoever reported the fault, else these.
 */
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { ENDED_REASONS, type EndedReason } from '../../media/contract/call-outcome.ts';
import { DEFAULT_MODEL_ENGINE } from '../../media/contract/engine-list.ts';
import type { CallRecord } from './call-record.ts';

export interface CallFailure {
  code: EndedReason;
  message: string;
  /** The carrier or the engine at fault; null: nobody but the client or this service. */
  provider: string | null;
  /**
   * A new attempt, with nothing changed, may succeed; never true of a call that rang or was
   * answered: a person would be rung twice.
   */
  retryable: boolean;
}

type FailedReason = {
  [Reason in EndedReason]: (typeof ENDED_REASONS)[Reason]['status'] extends 'failed' ? Reason : never;
}[EndedReason];

const FACTS: Readonly<Record<FailedReason, { retryable: boolean; message: string }>> = {
  queue_expired: { retryable: true, message: 'The call waited too long for its turn.' },
  blocked_suppressed: { retryable: false, message: 'The number is on the suppression list.' },
  blocked_time_window: { retryable: true, message: 'It was outside the calling hours of the called person.' },
  blocked_country: { retryable: false, message: 'The workspace does not call this country.' },
  agent_unavailable: { retryable: true, message: 'No agent could take the call.' },
  draining: { retryable: true, message: 'The service was being stopped.' },
  invalid_number: { retryable: false, message: 'The carrier knows no such number.' },
  carrier_rejected: { retryable: false, message: 'The carrier refused the call.' },
  carrier_auth: { retryable: false, message: "The carrier refused the line's credentials." },
  carrier_throttled: { retryable: true, message: 'The carrier was asked for too many calls at once.' },
  carrier_timeout: { retryable: true, message: 'The carrier neither rang nor answered in time.' },
  carrier_error: { retryable: true, message: 'The carrier had a fault.' },
  media_incompatible: { retryable: false, message: 'The carrier offered no audio format that is spoken here.' },
  no_media: { retryable: true, message: 'No sound came from the carrier.' },
  stt_error: { retryable: true, message: 'Speech could not be recognised any more.' },
  llm_error: { retryable: true, message: 'The language model failed.' },
  tts_error: { retryable: true, message: 'The agent could not speak any more.' },
  realtime_error: { retryable: true, message: 'The realtime model failed.' },
  tool_error_fatal: { retryable: true, message: 'A tool without which the agent cannot go on failed.' },
  node_lost: { retryable: true, message: 'The process that carried the call was lost.' },
  internal_error: { retryable: true, message: 'The service had a fault.' },
  // It may have rung, so nothing but a person decides about another attempt.
  submission_unknown: { retryable: false, message: 'Nobody knows whether the carrier placed the call.' },
};

/** The local engines that speak and listen: of agents that name no other. */
const LOCAL: Partial<Record<FailedReason, string>> = { stt_error: 'soundswallower', tts_error: 'flite' };

/** The engine of a call that ended for this: the agent's own, the preferred of several. Null: a local one, or none. */
export function engineAtFault(reason: EndedReason, agent: AgentDefinition | null): string | null {
  if (agent?.kind !== 'cascade') return null;
  const engine =
    reason === 'stt_error'
      ? agent.listen.engine
      : reason === 'tts_error'
        ? agent.speak[0]!.engine
        : reason === 'llm_error'
          ? (agent.think[0]!.engine ?? DEFAULT_MODEL_ENGINE)
          : 'local';
  return engine === 'local' ? null : engine;
}

/** Null for a call that has not failed. */
export function failureOf(
  call: Pick<CallRecord, 'status' | 'endedReason' | 'carrier' | 'error' | 'ringingAt' | 'answeredAt'>,
): CallFailure | null {
  if (call.status !== 'failed' || call.endedReason === null) return null;
  const code = call.endedReason as FailedReason;
  const { message } = FACTS[code];
  const retryable = FACTS[code].retryable && call.ringingAt === null && call.answeredAt === null;
  const provider =
    ENDED_REASONS[code].fault === 'carrier' ? call.carrier : (call.error?.provider ?? LOCAL[code] ?? null);
  return { code, message: call.error?.message ?? message, provider, retryable };
}
