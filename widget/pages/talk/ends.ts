/** Why a call was over, for whoever talked, where it was not the agent's doing. Called by the page. Pure. */

const ENDS: Record<string, string> = {
  user_hangup: 'You hung up.',
  inactivity: 'Nobody had spoken for a while.',
  max_duration_reached: 'It had lasted as long as a call may.',
  api_hangup: 'The service ended it.',
  operator_hangup: 'The service ended it.',
};

/** Faults of what the agent is made of: whoever runs it finds more in the call log. */
const FAULTS: Record<string, string> = {
  stt_error: 'The agent could not hear you any more: its speech recogniser failed.',
  llm_error: 'The agent could not think of an answer any more: no language model answered.',
  tts_error: 'The agent lost its voice: no speech could be made.',
  internal_error: 'The service had a fault.',
  node_lost: 'The service had a fault.',
};

/** `callUuid`: of the call log; null: it is not known here. */
export function whyEnded(reason: string | undefined, callUuid: string | null): string {
  const fault = FAULTS[reason ?? ''];
  if (fault === undefined) return ENDS[reason ?? ''] ?? 'The agent hung up.';
  const where = callUuid === null ? ` as ${reason}` : `, call ${callUuid}`;
  return `${fault} The operator finds why in the call log${where}.`;
}
