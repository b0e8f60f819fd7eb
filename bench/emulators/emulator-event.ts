/**
 * What the emulator tells while it runs: one JSON line each on stdout, or a listener's call. No token, no media URL.
 */

type Detail =
  | { event: 'placed'; from: string; to: string; persona: string; answerUrl: string }
  | { event: 'ringing' }
  | { event: 'answered' }
  | { event: 'stream_open' }
  | { event: 'agent_first_sample'; sinceAnsweredMs: number }
  /** The callee's recogniser understood this of the agent, or heard speech without a cue in it. */
  | { event: 'heard'; text: string; understood: boolean }
  | { event: 'said'; text: string; interrupting: boolean }
  | { event: 'clear'; droppedMs: number; sinceCalleeSpokeMs: number | null }
  | { event: 'dtmf'; digits: string }
  | { event: 'stream_closed'; closeCode: number }
  | { event: 'hangup'; code: number; name: string; source: string; durationMs: number }
  | { event: 'warning'; message: string };

export type EmulatorEvent = Detail & { callUuid: string; atEpochMs: number };
export type EmulatorEventDetail = Detail;
