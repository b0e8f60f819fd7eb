/**
 * The names of webhook events (contract §6): those that every receiver gets, and those that a workspace asks for. Read
 * by the outbox, by what sets a subscription and by the API. Pure.
 */

/** Always sent. */
export const WEBHOOK_EVENTS = [
  'call.completed',
  'call.no_answer',
  'call.failed',
  'recording.ready',
  'analysis.completed',
] as const;

/** Sent to those who asked, so that an exhaustive `switch` in an old receiver stays safe. */
export const OPT_IN_EVENTS = [
  'call.ringing',
  'call.answered',
  'tool.failed',
  'lead.updated',
  'workspace.limit_reached',
] as const;

/** Sent when somebody asks for one, subscribed or not; tried once. */
export const TEST_EVENT = 'webhook.test';

export const ALL_EVENTS = [...WEBHOOK_EVENTS, ...OPT_IN_EVENTS, TEST_EVENT] as const;

export type OptInEvent = (typeof OPT_IN_EVENTS)[number];
/** Of one call: in its order, with its fields. */
export type CallEventName = (typeof WEBHOOK_EVENTS)[number] | Extract<OptInEvent, `call.${string}` | 'tool.failed'>;
/** Of a workspace, outside any call. */
export type WorkspaceEventName = Exclude<OptInEvent, CallEventName> | typeof TEST_EVENT;

export function isOptIn(event: string): event is OptInEvent {
  return (OPT_IN_EVENTS as readonly string[]).includes(event);
}
