/**
 * A media process in figures: reads the counters of its parts and makes metric families of them, every few seconds and
 * never per frame. `self-reports.ts` sends them to control, which serves them. It counts nothing itself but refused
 * upgrades.
 */
import { counter, counters, gauge, gauges, histogram, type MetricFamily } from '../contract/metrics.ts';
import type { CallRegistry } from './call-registry.ts';
import type { CallRoom } from './call-room.ts';
import type { ControlLink } from './control-link.ts';
import type { FrameClock } from './frame-clock.ts';
import { LATENESS_BOUNDS_MS, type LatenessHistogram } from './lateness-histogram.ts';

export interface MediaMetricsSources {
  registry: Pick<CallRegistry, 'activeCalls' | 'capacityCalls' | 'isDraining' | 'legTotals'>;
  frameClock: Pick<FrameClock, 'clients' | 'lateness' | 'sendLateness' | 'skippedTicks'>;
  link: Pick<ControlLink, 'unackedCount' | 'droppedMessages'>;
  /** By the thread's kind. */
  threadDeaths(): Record<string, number>;
  openRecordings(): number;
  socketServer: 'uws' | 'ws';
  room(): Pick<CallRoom, 'moreCalls' | 'carries'>;
  /** Plain requests, by lane, and how often each budget refused one. */
  requests(): { inUse: Record<string, number>; bodies: number; refused: Record<string, number> };
  /** Without a call's socket. */
  connections(): number;
}

export interface MediaMetrics {
  upgradeRefused(httpStatus: number): void;
  families(): MetricFamily[];
}

export function createMediaMetrics(sources: MediaMetricsSources): MediaMetrics {
  const refused: Record<string, number> = {};
  return {
    upgradeRefused(httpStatus) {
      refused[httpStatus] = (refused[httpStatus] ?? 0) + 1;
    },
    families: () => [
      ...stateOf(sources),
      ...legsOf(sources, refused),
      ...clockOf(sources),
      ...partsOf(sources),
      ...requestsOf(sources),
    ],
  };
}

function stateOf({ registry, frameClock, socketServer, room }: MediaMetricsSources): MetricFamily[] {
  const { moreCalls, carries } = room();
  return [
    gauge('parley_socket_server_info', 'Which socket server runs; always 1', 1, { kind: socketServer }),
    gauge('parley_media_calls', 'Calls that this process carries', registry.activeCalls),
    gauge('parley_media_live_legs', 'Streams that the frame clock serves', frameClock.clients),
    gauge('parley_media_capacity_calls', 'Calls that it may carry at once', registry.capacityCalls),
    gauge('parley_media_room_calls', 'More calls that it can talk to now, by what it measures', moreCalls),
    gauge('parley_media_carries_calls', 'Calls at once that it can talk to, by what calls have cost so far', carries),
    gauge('parley_media_draining', '1 while it takes no new calls', registry.isDraining ? 1 : 0),
  ];
}

function legsOf({ registry }: MediaMetricsSources, refused: Readonly<Record<string, number>>): MetricFamily[] {
  const { sums, ends } = registry.legTotals();
  return [
    counters('parley_media_streams_ended_total', 'Streams that are over, by what ended them', 'why', ends),
    counters(
      'parley_media_upgrades_refused_total',
      'Streams refused before they began, by HTTP status',
      'status',
      refused,
    ),
    counter('parley_media_received_frames_total', 'Frames of 20 ms received from carriers', sums.receivedFrames),
    counter('parley_media_played_frames_total', 'Frames of 20 ms that far ends have played', sums.playedFrames),
    counter(
      'parley_media_underrun_frames_total',
      'Frames that were due in an utterance and not there',
      sums.underrunFrames,
    ),
    counter('parley_media_voided_frames_total', 'Frames taken back by an interruption or an end', sums.droppedFrames),
    counters('parley_media_ring_dropped_frames_total', 'Frames that a full ring refused', 'ring', {
      uplink: sums.uplinkRefusedFrames,
      downlink: sums.downlinkRefusedFrames,
      record: sums.recordRefusedFrames,
    }),
    counter('parley_media_gaps_total', 'Gaps in what carriers sent', sums.gaps),
    counter('parley_media_gap_seconds_total', 'Audio that never came from carriers', sums.gapMs / 1000),
    counter('parley_media_bad_messages_total', 'Messages of carriers that made no sense', sums.badMessages),
    counter('parley_media_sends_dropped_total', 'Messages lost because a reader was too slow', sums.sendsDropped),
  ];
}

function clockOf({ frameClock }: MediaMetricsSources): MetricFamily[] {
  return [
    latenessFamily('parley_media_frame_clock_lateness_seconds', 'How late ticks of 4 ms began', frameClock.lateness),
    latenessFamily(
      'parley_media_frame_send_lateness_seconds',
      'How late each stream was served in each 20 ms, by the end of its slot',
      frameClock.sendLateness,
    ),
    counter('parley_media_frame_clock_skipped_ticks_total', 'Ticks given up after a stall', frameClock.skippedTicks),
  ];
}

function latenessFamily(name: string, help: string, lateness: LatenessHistogram): MetricFamily {
  const { counts, sumMs } = lateness.sinceStart();
  return histogram(name, help, {
    bounds: LATENESS_BOUNDS_MS.map((boundMs) => boundMs / 1000),
    counts,
    sum: sumMs / 1000,
  });
}

function partsOf({ link, threadDeaths, openRecordings }: MediaMetricsSources): MetricFamily[] {
  return [
    counters('parley_media_thread_deaths_total', 'Threads that died and were replaced', 'thread', threadDeaths()),
    gauge('parley_media_open_recordings', 'Recordings that are not finished', openRecordings()),
    gauge('parley_link_spool_messages', 'Messages that control has not acknowledged', link.unackedCount),
    counter('parley_link_dropped_messages_total', 'Messages lost because the spool was full', link.droppedMessages),
  ];
}

function requestsOf({ requests, connections }: MediaMetricsSources): MetricFamily[] {
  const { inUse, bodies, refused } = requests();
  return [
    gauges('parley_media_requests', 'Requests that are worked on, and event streams', 'lane', inUse),
    gauge('parley_media_request_bodies', 'Requests whose body is on its way', bodies),
    gauge('parley_media_connections', 'Connections that carry no socket of a call', connections()),
    counters(
      'parley_media_budget_refusals_total',
      'Requests and connections refused, by the budget that was used up',
      'budget',
      refused,
    ),
  ];
}
