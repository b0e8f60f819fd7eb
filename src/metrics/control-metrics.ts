/**
 * What control counts itself: requests by route and answer, placements by outcome, ends of calls, webhook attempts. The one file
 * that makes instruments; composed in `control.ts`, which hands the methods to the parts as observers. Labels are closed
 * sets (routes, codes, reasons), never an id, an address or a number.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { eventLoopDelayOf, type MetricFamily, processFamilies } from '../../media/contract/metrics.ts';
import { createCounter, createHistogram } from './instruments.ts';

export interface AnsweredRequest {
  method: string;
  /** The pattern, `/api/developer/calls/:callUuid`; null for a path that nobody serves. */
  route: string | null;
  status: number;
  /** `X-Error-Code` of the answer. */
  errorCode: string | null;
  seconds: number;
}

export interface WebhookAttempt {
  outcome: 'delivered' | 'retry' | 'dead';
  seconds: number;
  /** From the event to its delivery; null when it was not delivered. */
  sinceEventSeconds: number | null;
}

export interface ControlMetrics {
  requestAnswered(request: AnsweredRequest): void;
  /** `outcome`: the placement's kind, with its code where it has one. */
  placementAnswered(outcome: string, seconds: number): void;
  callEnded(status: string, endedReason: string): void;
  webhookAttempted(attempt: WebhookAttempt): void;
  /** `by`: who read the call; `none`: the analysis failed. */
  callAnalysed(by: 'heuristic' | 'model' | 'none', secondsAfterEnd: number): void;
  /** One question to a language model: `ok`, or the kind of fault. */
  modelAsked(outcome: string, seconds: number): void;
  /** `outcome`: ok, or the failure's code. */
  toolUsed(outcome: string, seconds: number): void;
  families(): MetricFamily[];
  close(): void;
}

const REQUEST_BOUNDS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const WEBHOOK_BOUNDS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 3, 10, 60, 600, 3_600, 43_200];
const ANALYSIS_BOUNDS_SECONDS = [0.1, 0.5, 1, 2, 5, 10, 20, 40, 60, 90, 120, 300];
const LOOP_DELAY_RESOLUTION_MS = 10;

export function createControlMetrics(): ControlMetrics {
  const requests = createCounter('parley_http_requests_total', 'Requests to control by route, status and error code');
  const requestSeconds = createHistogram(
    'parley_http_request_duration_seconds',
    'From a request to its answer',
    REQUEST_BOUNDS_SECONDS,
    true,
  );
  const placements = createCounter('parley_placements_total', 'Calls offered to a carrier, by what became of it');
  const placementSeconds = createHistogram(
    'parley_placement_duration_seconds',
    'From the limits check to the answer of the carrier',
    REQUEST_BOUNDS_SECONDS,
    false,
  );
  const calls = createCounter('parley_calls_ended_total', 'Calls that reached a terminal state here');
  const attempts = createCounter('parley_webhook_attempts_total', 'Attempts to deliver a webhook, by outcome');
  const attemptSeconds = createHistogram(
    'parley_webhook_attempt_duration_seconds',
    'One attempt, from the connection to the answer',
    REQUEST_BOUNDS_SECONDS,
    false,
  );
  const deliverySeconds = createHistogram(
    'parley_webhook_delivery_latency_seconds',
    'From the event to the attempt that delivered it',
    WEBHOOK_BOUNDS_SECONDS,
    false,
  );
  const analyses = createCounter('parley_analyses_total', 'Calls analysed, by who read them');
  const analysisSeconds = createHistogram(
    'parley_analysis_latency_seconds',
    'From the end of a call to its analysis',
    ANALYSIS_BOUNDS_SECONDS,
    false,
  );
  const modelQuestions = createCounter(
    'parley_analysis_model_requests_total',
    'Questions to chat endpoints, by outcome',
  );
  const modelSeconds = createHistogram(
    'parley_analysis_model_duration_seconds',
    'One question to a chat endpoint',
    ANALYSIS_BOUNDS_SECONDS,
    false,
  );
  const toolUses = createCounter(
    'parley_tool_calls_total',
    'Uses of custom tools that control carried out, by outcome',
  );
  const toolSeconds = createHistogram(
    'parley_tool_call_duration_seconds',
    'From the request of a tool to its answer',
    REQUEST_BOUNDS_SECONDS,
    false,
  );
  const instruments = [
    requests,
    requestSeconds,
    placements,
    placementSeconds,
    calls,
    attempts,
    attemptSeconds,
    deliverySeconds,
    analyses,
    analysisSeconds,
    modelQuestions,
    modelSeconds,
    toolUses,
    toolSeconds,
  ];
  const loopDelay = monitorEventLoopDelay({ resolution: LOOP_DELAY_RESOLUTION_MS });
  loopDelay.enable();

  return {
    requestAnswered({ method, route, status, errorCode, seconds }) {
      requests.inc({ method, route: route ?? 'none', status, code: errorCode ?? '' });
      requestSeconds.observe(seconds, { route: route ?? 'none' });
    },
    placementAnswered(outcome, seconds) {
      placements.inc({ outcome });
      placementSeconds.observe(seconds);
    },
    callEnded: (status, reason) => calls.inc({ status, reason }),
    webhookAttempted({ outcome, seconds, sinceEventSeconds }) {
      attempts.inc({ outcome });
      attemptSeconds.observe(seconds);
      if (sinceEventSeconds !== null) deliverySeconds.observe(Math.max(0, sinceEventSeconds));
    },
    callAnalysed(by, secondsAfterEnd) {
      analyses.inc({ by });
      analysisSeconds.observe(secondsAfterEnd);
    },
    modelAsked(outcome, seconds) {
      modelQuestions.inc({ outcome });
      modelSeconds.observe(seconds);
    },
    toolUsed(outcome, seconds) {
      toolUses.inc({ outcome });
      toolSeconds.observe(seconds);
    },
    families() {
      const own = processFamilies({
        memory: process.memoryUsage(),
        cpu: process.cpuUsage(),
        eventLoopDelayMs: eventLoopDelayOf(loopDelay, LOOP_DELAY_RESOLUTION_MS),
        uptimeSeconds: process.uptime(),
      });
      loopDelay.reset();
      return [...instruments.map((instrument) => instrument.family()), ...own];
    },
    close: () => loopDelay.disable(),
  };
}
