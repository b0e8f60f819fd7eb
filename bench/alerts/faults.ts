/** For each alert of `deploy/prometheus/alerts.yml` the figures of a service in which that is the matter. */
export interface FaultySeries {
  /** Of a metric that the service has; every series of it that has these labels, else a new one with them. */
  name: string;
  labels: Readonly<Record<string, string>>;
  /** `seconds` since the trial began. Null: not there yet. */
  value(seconds: number): number | null;
}

/** `is_down`: nothing answers. */
export type Fault = readonly FaultySeries[] | 'is_down';

/** A healthy service first, so that what changes is seen. */
const BEGINS_AFTER_SECONDS = 4;

const stands =
  (value: number) =>
  (seconds: number): number =>
    seconds < BEGINS_AFTER_SECONDS ? 0 : value;
const grows =
  (perSecond: number) =>
  (seconds: number): number =>
    Math.max(0, seconds - BEGINS_AFTER_SECONDS) * perSecond;
/** Not there, and then 1 for ever: the first of its kind. */
const appears = (seconds: number): number | null => (seconds < BEGINS_AFTER_SECONDS ? null : 1);

function series(
  name: string,
  value: FaultySeries['value'],
  labels: Readonly<Record<string, string>> = {},
): FaultySeries {
  return { name, labels, value };
}

const MEDIA = { process: 'media-0' };
const CONTROL = { process: 'control' };
const LATE = 'parley_media_frame_clock_lateness_seconds';
const REPLY = 'parley_reply_stage_duration_seconds_bucket';
const OF_REPLY = { ...CONTROL, stage: 'reply', provider: 'slow', model: 'slow' };

export const FAULTS: Readonly<Record<string, Fault>> = {
  ParleyDown: 'is_down',
  ParleyNoMedia: [series('parley_media_processes_connected', () => 0)],
  ParleyCallsLost: [series('parley_calls_ended_total', appears, { ...CONTROL, status: 'failed', reason: 'node_lost' })],
  ParleyCallsFail: [
    series('parley_calls_ended_total', grows(1), { ...CONTROL, status: 'failed', reason: 'carrier_error' }),
  ],
  ParleyPlacementUnknown: [series('parley_placements_total', appears, { ...CONTROL, outcome: 'unknown' })],
  ParleyPlacementsRefused: [
    series('parley_placements_total', grows(1), { ...CONTROL, outcome: 'rejected_carrier_auth' }),
  ],
  ParleyBlockedDestinations: [
    series('parley_placements_total', appears, { ...CONTROL, outcome: 'blocked_blocked_destination' }),
  ],
  ParleyFramesLate: [
    series(`${LATE}_bucket`, grows(200), { ...MEDIA, le: '0.005' }),
    series(`${LATE}_count`, grows(250), MEDIA),
  ],
  ParleyGapsHeard: [
    series('parley_media_underrun_frames_total', grows(1)),
    series('parley_media_played_frames_total', grows(500)),
  ],
  ParleyRingFull: [series('parley_media_ring_dropped_frames_total', grows(1), { ring: 'record' })],
  ParleyThreadDied: [series('parley_media_thread_deaths_total', stands(1), { thread: 'pipeline' })],
  ParleyRepliesSlow: ['2', '3', '5', '+Inf'].map((le) =>
    series(REPLY, grows(le === '2' ? 0.1 : 1), { ...OF_REPLY, le }),
  ),
  ParleyNearlyFull: [series('parley_media_calls', () => 90), series('parley_media_room_calls', () => 10)],
  ParleyNoRoom: [series('parley_media_room_calls', () => 0)],
  ParleyControlSlow: [series('parley_process_event_loop_delay_seconds', stands(0.4), { ...CONTROL, quantile: '0.99' })],
  ParleyPortFull: [series('parley_media_budget_refusals_total', grows(3), { budget: 'room' })],
  ParleyDrainsLong: [series('parley_media_draining', () => 1)],
  ParleyRestarts: [series('parley_process_uptime_seconds', (seconds) => seconds % 3, CONTROL)],
  ParleyDatabaseAway: [series('parley_database_up', stands(0))],
  ParleyDatabaseSlow: [series('parley_database_query_seconds', stands(1.6))],
  ParleySpoolGrows: [series('parley_link_spool_messages', stands(4_000))],
  ParleyMessagesLost: [series('parley_link_dropped_messages_total', grows(10))],
  ParleyWebhooksLate: [series('parley_webhook_oldest_pending_seconds', stands(900))],
  ParleyWebhooksGivenUp: [series('parley_webhook_dead_deliveries', stands(7))],
  ParleyWebhookUrlOff: [series('parley_webhook_endpoints_disabled', stands(1), { reason: 'gone' })],
  ParleyRecordingsWait: [series('parley_recordings_spooled_oldest_seconds', stands(2_000))],
  ParleyRecordingsLost: [series('parley_recordings_lost_total', stands(1))],
  ParleyRetentionFails: [series('parley_retention_failed_total', stands(1))],
  ParleyAnalysesLate: [series('parley_analysis_oldest_pending_seconds', stands(1_200))],
};
