/** A measured call of which there is nothing to tell but its fate: made by whoever did not begin it. */
import type { CallFate, MeasuredCall } from '../contract/measured-call.ts';
import type { PlannedCall } from '../contract/planned-call.ts';

/** `begunAtMs`: the planned instant where it was never begun. */
export function notBegun(
  planned: PlannedCall,
  fate: CallFate,
  code: string | null,
  why: string | null,
  begunAtMs = planned.atMs,
): MeasuredCall {
  return {
    index: planned.index,
    caller: planned.caller,
    by: planned.by,
    fate,
    code,
    why,
    plannedAtMs: planned.atMs,
    begunAtMs,
    placementMs: null,
    dialledMs: null,
    answeredAtMs: null,
    endedAtMs: null,
    endedBy: null,
    firstWordMs: null,
    replies: [],
    unanswered: 0,
    bargeIns: [],
    sound: null,
    webhookMs: null,
    resumes: [],
    recordingPath: null,
  };
}
