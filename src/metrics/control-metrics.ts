/**
 * What control counts itself: requests by route and answer, placements by outcome, ends of calls, webhook attempts. The
 * one file that makes prom-client metrics; composed in `control.ts`, which hands the methods to the parts as observers.
 * Labels are closed sets (routes, codes, reasons), never an id, an address or a number.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Histogram, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client';
import type { ReplyStages } from '../../media/contract/conversation.ts';
import { eventLoopDelayOf, type MetricFamily, processFamilies } from '../../media/contract/metrics.ts';
import { BoundedLabels } from './bounded-labels.ts';
import { replySteps } from './reply-steps.ts';

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
  /** A reply of an agent began to be heard. */
  replied(stages: ReplyStages): void;
  families(): Promise<MetricFamily[]>;
  close(): void;
}

const REQUEST_BOUNDS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const WEBHOOK_BOUNDS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 3, 10, 60, 600, 3_600, 43_200];
const ANALYSIS_BOUNDS_SECONDS = [0.1, 0.5, 1, 2, 5, 10, 20, 40, 60, 90, 120, 300];
const REPLY_BOUNDS_SECONDS = [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1, 1.25, 1.5, 2, 3, 5];
/** Of providers and their models; 4 stages and 18 series each. */
const MOST_MODELS = 40;
const LOOP_DELAY_RESOLUTION_MS = 10;

export function createControlMetrics(): ControlMetrics {
  const registers = [new Registry()];
  const requests = new Counter({
    name: 'parley_http_requests_total',
    help: 'Requests to control by route, status and error code',
    labelNames: ['method', 'route', 'status', 'code'],
    registers,
  });
  const requestSeconds = new Histogram({
    name: 'parley_http_request_duration_seconds',
    help: 'From a request to its answer',
    labelNames: ['route'],
    buckets: REQUEST_BOUNDS_SECONDS,
    registers,
  });
  const placements = new Counter({
    name: 'parley_placements_total',
    help: 'Calls offered to a carrier, by what became of it',
    labelNames: ['outcome'],
    registers,
  });
  const placementSeconds = new Histogram({
    name: 'parley_placement_duration_seconds',
    help: 'From the limits check to the answer of the carrier',
    buckets: REQUEST_BOUNDS_SECONDS,
    registers,
  });
  const calls = new Counter({
    name: 'parley_calls_ended_total',
    help: 'Calls that reached a terminal state here',
    labelNames: ['status', 'reason'],
    registers,
  });
  const attempts = new Counter({
    name: 'parley_webhook_attempts_total',
    help: 'Attempts to deliver a webhook, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  const attemptSeconds = new Histogram({
    name: 'parley_webhook_attempt_duration_seconds',
    help: 'One attempt, from the connection to the answer',
    buckets: REQUEST_BOUNDS_SECONDS,
    registers,
  });
  const deliverySeconds = new Histogram({
    name: 'parley_webhook_delivery_latency_seconds',
    help: 'From the event to the attempt that delivered it',
    buckets: WEBHOOK_BOUNDS_SECONDS,
    registers,
  });
  const analyses = new Counter({
    name: 'parley_analyses_total',
    help: 'Calls analysed, by who read them',
    labelNames: ['by'],
    registers,
  });
  const analysisSeconds = new Histogram({
    name: 'parley_analysis_latency_seconds',
    help: 'From the end of a call to its analysis',
    buckets: ANALYSIS_BOUNDS_SECONDS,
    registers,
  });
  const modelQuestions = new Counter({
    name: 'parley_analysis_model_requests_total',
    help: 'Questions to chat endpoints, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  const modelSeconds = new Histogram({
    name: 'parley_analysis_model_duration_seconds',
    help: 'One question to a chat endpoint',
    buckets: ANALYSIS_BOUNDS_SECONDS,
    registers,
  });
  const toolUses = new Counter({
    name: 'parley_tool_calls_total',
    help: 'Uses of custom tools that control carried out, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  const toolSeconds = new Histogram({
    name: 'parley_tool_call_duration_seconds',
    help: 'From the request of a tool to its answer',
    buckets: REQUEST_BOUNDS_SECONDS,
    registers,
  });
  const replySeconds = new Histogram({
    name: 'parley_reply_stage_duration_seconds',
    help: 'Final words from the last sound, first token from the question, first audio from the text, the whole reply',
    labelNames: ['stage', 'provider', 'model'],
    buckets: REPLY_BOUNDS_SECONDS,
    registers,
  });
  const models = new BoundedLabels(MOST_MODELS);
  const loopDelay = monitorEventLoopDelay({ resolution: LOOP_DELAY_RESOLUTION_MS });
  loopDelay.enable();

  return {
    requestAnswered({ method, route, status, errorCode, seconds }) {
      requests.inc({ method, route: route ?? 'none', status, code: errorCode ?? '' });
      requestSeconds.observe({ route: route ?? 'none' }, seconds);
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
    replied(stages) {
      for (const { stage, provider, model, seconds } of replySteps(stages)) {
        replySeconds.observe({ stage, provider, model: models.of(provider, model) }, seconds);
      }
    },
    async families() {
      const json = (await registers[0]!.getMetricsAsJSON()) as MetricObjectWithValues<MetricValue<string>>[];
      const own = processFamilies({
        memory: process.memoryUsage(),
        cpu: process.cpuUsage(),
        eventLoopDelayMs: eventLoopDelayOf(loopDelay, LOOP_DELAY_RESOLUTION_MS),
        uptimeSeconds: process.uptime(),
      });
      loopDelay.reset();
      return [...(json as unknown as MetricFamily[]), ...own];
    },
    close: () => loopDelay.disable(),
  };
}
