/**
 * What a run of the density bench found, as it is stored beside the card, and all that the card is made of. Version 1.
 * Milliseconds of processor are for one second of one call, unless the name says otherwise.
 */
import { z } from 'zod';
import { runResultSchema } from '../load/contract/run-result.ts';

const count = z.number().int().min(0);

/** One run of one row by the load tester. */
const rowRun = z.strictObject({
  repetition: count,
  /** Why it says nothing of the service: the load tester was late itself, or calls went wrong. Null: it does. */
  voidBecause: z.string().nullable(),
  /** Where the machine itself disturbed it; null: it was quiet. */
  noise: z.string().nullable(),
  talked: count,
  mostAtOnce: count,
  /** By process; `tool…` is what stands beside the service. */
  processes: z.array(z.strictObject({ name: z.string(), cpuMs: z.number() })),
  /** Of the service. */
  threads: z.array(z.strictObject({ process: z.string(), thread: z.string(), cpuMs: z.number() })),
  residentBytesPerCall: z.number().nullable(),
  commitsPerCall: z.number().nullable(),
  walBytesPerCall: z.number().nullable(),
  frameLateP99Ms: z.number().nullable(),
  realTimeShareMean: z.number().nullable(),
  replyP95Ms: z.number().nullable(),
});

const serviceKnee = z.strictObject({
  /** What a step had to keep to be carried. */
  limits: z.strictObject({ maxFrameLateP99Ms: z.number(), minRealTimeShare: z.number() }),
  carried: z.number().nullable(),
  notCarried: z.number().nullable(),
  low: z.number().nullable(),
  high: z.number().nullable(),
  /** What was wrong at the least load that was not carried, a sentence each. */
  brokeBy: z.array(z.string()),
  /** The tool, not the service, was what broke: the knee lies higher. */
  isOfTool: z.boolean(),
});

const row = z.strictObject({
  id: z.string(),
  agent: z.string(),
  codec: z.string(),
  calls: count,
  callSeconds: z.number().positive(),
  /** Null: it was measured. */
  missingBecause: z.string().nullable(),
  runs: z.array(rowRun),
  /** What a further call holds in media after a collection of its garbage; null: not measured. */
  held: z.strictObject({ liveBytesPerCall: z.number(), residentBytesPerCall: z.number() }).nullable(),
  knee: serviceKnee.nullable(),
  noKneeBecause: z.string().nullable(),
});

/** One run of a bare media process, or of uWebSockets.js alone, under the raw load of `bench -- calls`. */
const socketRun = z.strictObject({
  repetition: count,
  subject: z.string(),
  voidBecause: z.string().nullable(),
  calls: count,
  cpuMs: z.number(),
  ioMs: z.number(),
  pipelineMs: z.number(),
  arrivalP99Ms: z.number(),
  sampleRatioMean: z.number(),
  residentBytesPerCall: z.number(),
});

const socketKnee = z.strictObject({
  subject: z.string(),
  calls: count,
  brokeBy: z.string(),
  bytesPerCall: z.number(),
});

export const densitySchema = z.strictObject({
  format: z.literal('parley-density'),
  version: z.literal(1),
  startedAt: z.iso.datetime(),
  tookMs: z.number(),
  repetitions: z.number().int().positive(),
  isQuick: z.boolean(),
  tool: runResultSchema.shape.tool,
  machine: runResultSchema.shape.machine,
  rows: z.array(row),
  sockets: z.strictObject({ runs: z.array(socketRun), knees: z.array(socketKnee) }),
});

export type DensityResult = z.output<typeof densitySchema>;
export type DensityRow = DensityResult['rows'][number];
export type RowRun = DensityRow['runs'][number];
export type ServiceKnee = NonNullable<DensityRow['knee']>;
export type SocketRun = DensityResult['sockets']['runs'][number];
export type SocketKnee = DensityResult['sockets']['knees'][number];
