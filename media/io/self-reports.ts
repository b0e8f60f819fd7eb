/**
 * What a media process says of itself, each at its own pace: its load and its room to control, which places calls by
 * them; its figures to control, which serves them; and how late its frames were, to the log. Made by `media/main.ts`.
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Logger } from 'pino';
import { type Clock, every } from '../contract/clock.ts';
import type { ToControl } from '../contract/link-messages.ts';
import { eventLoopDelayOf, type MetricFamily, processFamilies } from '../contract/metrics.ts';
import type { CallRegistry } from './call-registry.ts';
import { type CallRoom, CallRoomGauge, type Worker, type WorkLoad } from './call-room.ts';
import type { FrameClock } from './frame-clock.ts';

export interface SelfReportsDeps {
  mediaId: string;
  capacityCalls: number;
  metricsEveryMs: number;
  clock: Clock;
  log: Logger;
  registry: Pick<CallRegistry, 'activeCalls' | 'isDraining' | 'carriedCalls' | 'talkingCalls'>;
  frameClock: Pick<FrameClock, 'lateness' | 'skippedTicks'>;
  toControl(message: ToControl): void;
  /** Of its parts; the process's own are added. */
  families(): MetricFamily[];
  /** Of its threads; that of the sockets, on this one, is measured here. */
  loads(): Record<Exclude<Worker, 'sockets'>, WorkLoad>;
}

export interface SelfReports {
  /** As it was measured last. */
  room(): CallRoom;
  /** Now, beside its own pace: something has changed that control should not wait for. */
  tellLoad(): void;
  start(): void;
}

const LOAD_EVERY_MS = 1000;
const ROOM_EVERY_MS = 250;
const LOOP_DELAY_RESOLUTION_MS = 10;
const LATENESS_LOG_EVERY_MS = 60_000;

export function createSelfReports(deps: SelfReportsDeps): SelfReports {
  const { mediaId, capacityCalls, clock, log, registry, frameClock, toControl } = deps;
  const loopDelay = monitorEventLoopDelay({ resolution: LOOP_DELAY_RESOLUTION_MS });
  loopDelay.enable();
  const gauge = new CallRoomGauge(clock);
  let room = measureRoom(performance.eventLoopUtilization().utilization, 0, []);

  function measureRoom(busyRatio: number, lateMs: number, talking: Iterable<string>): CallRoom {
    return gauge.measure({ ...deps.loads(), sockets: { busyRatio, lateMs } }, talking);
  }

  function tellLoad(): void {
    const { activeCalls, isDraining: draining } = registry;
    toControl({ type: 'load', mediaId, activeCalls, capacityCalls, draining, calls: registry.carriedCalls() });
  }

  function tellRoom(): void {
    const before = performance.eventLoopUtilization();
    const dueAtMs = clock.nowMs() + ROOM_EVERY_MS;
    clock.after(ROOM_EVERY_MS, () => {
      const { utilization } = performance.eventLoopUtilization(before);
      room = measureRoom(utilization, Math.max(0, clock.nowMs() - dueAtMs), registry.talkingCalls());
      const { moreCalls, always, carries, scarce } = room;
      toControl({ type: 'room', mediaId, moreCalls, alwaysCalls: always, carriesCalls: carries, scarce });
      tellRoom();
    });
  }

  function tellFigures(): void {
    const readings = {
      memory: process.memoryUsage(),
      cpu: process.cpuUsage(),
      eventLoopDelayMs: eventLoopDelayOf(loopDelay, LOOP_DELAY_RESOLUTION_MS),
      uptimeSeconds: process.uptime(),
    };
    loopDelay.reset();
    toControl({ type: 'metrics', families: [...deps.families(), ...processFamilies(readings)] });
  }

  function logLateness(): void {
    const { lateness, skippedTicks } = frameClock;
    if (lateness.total === 0) return;
    log.info(
      {
        ticks: lateness.total,
        p50Ms: lateness.percentileMs(0.5),
        p99Ms: lateness.percentileMs(0.99),
        maxMs: lateness.maxMs,
        skippedTicks,
      },
      'frame clock lateness',
    );
    lateness.reset();
  }

  return {
    room: () => room,
    tellLoad,
    start() {
      tellLoad();
      every(clock, LOAD_EVERY_MS, tellLoad);
      tellRoom();
      tellFigures();
      every(clock, deps.metricsEveryMs, tellFigures);
      every(clock, LATENESS_LOG_EVERY_MS, logLateness);
    },
  };
}
