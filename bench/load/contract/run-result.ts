/**
 * The result of a run as machines read it (`load-….json`), and all that the report, `compare` and `--fail-if` know.
 * Version 1; a field is added without a new version, and never changes its meaning. Times are milliseconds, instants of
 * the run's beginning.
 */
import { z } from 'zod';
import { distributionSchema } from './distribution.ts';
import { workloadSchema } from './workload.ts';

const atMs = z.number();
const count = z.number().int().min(0);
const byCode = z.record(z.string(), count);

/** Where a call stood out: worst first. */
const worstCall = z.strictObject({
  index: count,
  caller: z.string(),
  /** One sentence each. */
  why: z.array(z.string()),
  fate: z.string(),
  answeredAtMs: atMs.nullable(),
  endedAtMs: atMs.nullable(),
  marks: z.array(
    z.strictObject({
      /** Of the recording. */
      atMs,
      lengthMs: z.number().min(0),
      kind: z.enum(['reply', 'barge_in', 'gap', 'lost', 'repeated', 'resume', 'error']),
      text: z.string(),
    }),
  ),
  /** A peak of each side every `stepMs`, 0 to 1. Left the far end, right the target. */
  waveform: z.strictObject({ stepMs: z.number(), left: z.array(z.number()), right: z.array(z.number()) }).nullable(),
  /** Stereo WAV, mu-law, 8 kHz, base64; null where none was kept. */
  soundBase64: z.string().nullable(),
});

const process = z.strictObject({
  /** `media`, `control`, `postgres`, `tool: far end 1`… */
  name: z.string(),
  cpuMeanCores: z.number().nullable(),
  cpuMaxCores: z.number().nullable(),
  residentMaxBytes: z.number().nullable(),
});

/** A second of the run. Null: not known, or nothing of it in that second. */
const second = z.strictObject({
  atMs,
  begun: count,
  /** Calls that talked. */
  live: count,
  refused: count,
  failed: count,
  replyP95Ms: z.number().nullable(),
  firstWordP95Ms: z.number().nullable(),
  frameLateP99Ms: z.number().nullable(),
  gaps: count,
  /** By process. */
  cpuCores: z.record(z.string(), z.number()),
  eventLoopDelayP99Ms: z.number().nullable(),
});

const kneeStep = z.strictObject({
  /** Calls at once, or new ones a second. */
  load: z.number(),
  good: z.boolean(),
  /** What was not. */
  why: z.array(z.string()),
  replyP95Ms: z.number().nullable(),
  frameLateP99Ms: z.number().nullable(),
  gapsPerCallMinute: z.number().nullable(),
  errorShare: z.number(),
  cpuCores: z.number().nullable(),
});

export const runResultSchema = z.strictObject({
  format: z.literal('parley-load'),
  version: z.literal(1),
  /** False: it was stopped or broke; `incompleteBecause` says why. */
  complete: z.boolean(),
  incompleteBecause: z.string().nullable(),
  startedAt: z.iso.datetime(),
  tookMs: z.number(),
  tool: z.strictObject({ version: z.string(), commit: z.string().nullable(), node: z.string() }),
  machine: z.strictObject({
    cpu: z.string(),
    cores: count,
    memoryBytes: count,
    system: z.string(),
    /** Of one minute, before the run. */
    loadBefore: z.number(),
    /** How late a thread that does nothing is woken, p99: the machine's own noise. */
    noiseP99Ms: z.number().nullable(),
    stealShare: z.number().nullable(),
  }),
  target: z.strictObject({
    kind: z.enum(['own', 'parley', 'browser', 'stream', 'answer-url', 'naive', 'ws']),
    /** No secret, no query. */
    address: z.string(),
    protocol: z.string().nullable(),
    onThisMachine: z.boolean(),
    /** As it says of itself, where it does. */
    version: z.string().nullable(),
  }),
  workload: workloadSchema,
  /** Whether the tool was able to judge: it was neither late itself nor short of processor. */
  generator: z.strictObject({
    judged: z.boolean(),
    why: z.string().nullable(),
    limitMs: z.number(),
    /** Calls begun, frames sent: behind their planned instants. */
    callLatenessMs: distributionSchema,
    frameLatenessMs: distributionSchema,
    /** The busiest of its processes, 0 to 1. */
    cpuShare: z.number(),
  }),
  calls: z.strictObject({
    planned: count,
    talked: count,
    unanswered: count,
    refused: count,
    failed: count,
    lost: count,
    heldBack: count,
    cut: count,
    mostAtOnce: count,
    /** Of all calls together, from the answer to the end. */
    talkMs: z.number().min(0),
    refusedBy: byCode,
    failedBy: byCode,
  }),
  measures: z.strictObject({
    placementMs: distributionSchema,
    dialledMs: distributionSchema,
    firstWordMs: distributionSchema,
    frameLatenessMs: distributionSchema,
    gapMs: distributionSchema,
    replyMs: distributionSchema,
    /** Barge-ins that stopped the target. */
    bargeInStopMs: distributionSchema,
    webhookDelayMs: distributionSchema,
    resumeMs: distributionSchema,
    gapsPerCallMinute: z.number().nullable(),
    /** Of one call: audio that came, of what the time asks for. */
    realTimeShareWorst: z.number().nullable(),
    realTimeShareMean: z.number().nullable(),
    bargeIns: count,
    bargeInsThatStopped: count,
    turnsUnanswered: count,
    lostShare: z.number().nullable(),
    repeatedShare: z.number().nullable(),
    /** Failed, refused without a planned reason, and lost, of all begun. */
    errorShare: z.number(),
  }),
  timeline: z.array(second),
  usage: z.strictObject({
    processes: z.array(process),
    /** CPU of the whole target for one second of one call. */
    cpuMsPerCallSecond: z.number().nullable(),
    residentBytesPerCall: z.number().nullable(),
    garbageBytesPerFramePair: z.number().nullable(),
    commitsPerCall: z.number().nullable(),
    walBytesPerCall: z.number().nullable(),
  }),
  knee: z
    .strictObject({
      of: z.enum(['calls', 'perSecond']),
      steps: z.array(kneeStep),
      /** The greatest load that was carried well, and the least that was not; with the spread of its repetitions. */
      carried: z.number().nullable(),
      notCarried: z.number().nullable(),
      low: z.number().nullable(),
      high: z.number().nullable(),
    })
    .nullable(),
  worst: z.array(worstCall),
  /** For a person: a noisy machine, file descriptors near their limit, messages that no protocol knows. */
  warnings: z.array(z.string()),
});

export type RunResult = z.output<typeof runResultSchema>;
export type WorstCall = RunResult['worst'][number];
export type TimelineSecond = RunResult['timeline'][number];
