/**
 * Sends the trace of each call that is over to the operator's collector: OTLP over HTTP, in JSON. One call at a time,
 * after the fact and out of the call log, so that no call waits for it. Calls wait in a queue that is bounded; what
 * finds no room, and what the collector would not take, is counted and forgotten. Made by `control.ts` where the
 * operator has set an endpoint.
 *
 * It does not take the guarded way out: the endpoint is the operator's own setting, like the database's, and mostly
 * lies on a private address.
 */
import type { Logger } from 'pino';
import { pauseAfter } from '../../media/contract/backoff.ts';
import { type Clock, pause } from '../../media/contract/clock.ts';
import { counter, gauge, type MetricFamily } from '../../media/contract/metrics.ts';
import type { TraceSettings } from '../config/trace-settings.ts';
import { type CallFacts, spansOf } from './call-spans.ts';
import { otlpTraces } from './otlp-json.ts';

export interface TraceExporterDeps {
  settings: TraceSettings;
  version: string;
  clock: Clock;
  log: Logger;
  /** Undefined: there is no such call any more. */
  read(callUuid: string): Promise<CallFacts | undefined>;
  fetch?: typeof fetch;
}

export interface TraceExporter {
  /** Returns at once. */
  callEnded(callUuid: string): void;
  families(): MetricFamily[];
  /** What waits is forgotten. */
  close(): Promise<void>;
}

const MOST_WAITING = 1_000;
/** The last words about a call, its usage say, come a moment after its end. */
const SETTLE_MS = 2_000;
const ANSWER_WITHIN_MS = 10_000;
const MOST_TRIES = 5;
const PAUSES = { firstMs: 1_000, longestMs: 30_000 };

export function createTraceExporter(deps: TraceExporterDeps): TraceExporter {
  const { settings, version, clock, log, read, fetch: send = fetch } = deps;
  const waiting: { callUuid: string; dueAtMs: number }[] = [];
  const closing = new AbortController();
  let sent = 0;
  let dropped = 0;
  let isAway = false;
  let working: Promise<void> | null = null;

  /** True: the collector has it, or will never take it. */
  async function post(body: string): Promise<'taken' | 'refused' | 'away'> {
    try {
      const answer = await send(settings.url, {
        method: 'POST',
        headers: { ...settings.headers, 'content-type': 'application/json' },
        body,
        redirect: 'error',
        signal: AbortSignal.any([closing.signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
      });
      await answer.body?.cancel();
      if (answer.ok) return 'taken';
      return [408, 429, 502, 503, 504].includes(answer.status) ? 'away' : 'refused';
    } catch {
      return 'away';
    }
  }

  function drop(why: string): void {
    dropped++;
    if (!isAway) log.warn({ why }, 'traces do not reach the collector (OTEL_EXPORTER_OTLP_ENDPOINT); they are dropped');
    isAway = true;
  }

  async function exportCall(callUuid: string): Promise<void> {
    const facts = await read(callUuid);
    if (facts === undefined) return;
    const body = otlpTraces(spansOf(facts, settings.withContent), { serviceName: settings.serviceName, version });
    for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
      const answer = await post(body);
      if (closing.signal.aborted) return;
      if (answer === 'taken') {
        sent++;
        isAway = false;
        return;
      }
      if (answer === 'refused') return drop('it refuses them');
      await pause(clock, pauseAfter(attempt, PAUSES), closing.signal);
    }
    drop('it does not answer');
  }

  async function work(): Promise<void> {
    for (let next = waiting[0]; next !== undefined && !closing.signal.aborted; next = waiting[0]) {
      await pause(clock, next.dueAtMs - clock.nowMs(), closing.signal);
      if (closing.signal.aborted) return;
      waiting.shift();
      await exportCall(next.callUuid).catch((error: unknown) => {
        dropped++;
        log.warn({ err: error, callUuid: next.callUuid }, 'the trace of a call could not be made');
      });
    }
  }

  return {
    callEnded(callUuid) {
      if (closing.signal.aborted) return;
      if (waiting.length >= MOST_WAITING) {
        drop('too many wait');
        return;
      }
      waiting.push({ callUuid, dueAtMs: clock.nowMs() + SETTLE_MS });
      working ??= work().finally(() => {
        working = null;
      });
    },
    families: () => [
      counter('parley_traces_sent_total', 'Calls whose trace the collector took', sent),
      counter('parley_traces_dropped_total', 'Calls whose trace was given up: no room, refused, no answer', dropped),
      gauge('parley_traces_waiting', 'Calls whose trace is still to be sent', waiting.length),
    ],
    async close() {
      closing.abort();
      await working;
    },
  };
}
