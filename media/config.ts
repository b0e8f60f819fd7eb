/**
 * Settings of a media process: JSON in the environment variable PARLEY_MEDIA_CONFIG, written by the supervisor. Read
 * once, frozen. The only file of the media plane that reads `process.env`.
 */
import { z } from 'zod';
import { CARRIER_NAMES } from './contract/carriers.ts';

const VARIABLE = 'PARLEY_MEDIA_CONFIG';

const mediaConfigSchema = z.strictObject({
  mediaId: z.string().min(1),
  host: z.string().min(1),
  /** 0 takes any free port, which the log names. */
  port: z.int().min(0).max(65_535),
  /** How many media processes share the port, this one among them. */
  processes: z.int().min(1).max(64).default(1),
  /** Below it carriers' streams come too, under the address of this node alone: `/n/a`. Null: nowhere else. */
  streamPath: z
    .string()
    .regex(/^\/[a-z0-9/-]*$/)
    .nullable()
    .default(null),
  runDir: z.string().min(1),
  dataDir: z.string().min(1),
  pipelineThreads: z.int().min(1).max(64),
  ttsThreads: z.int().min(0).max(16),
  sttThreads: z.int().min(0).max(64),
  providerThreads: z.int().min(0).max(16).default(1),
  /** Ranges to which connections of workspaces may lead beside public addresses. */
  providerAllowCidrs: z.array(z.string()).default([]),
  socketServer: z.enum(['auto', 'uws', 'ws']),
  logLevel: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
  /** Streams at once; more are answered 503. */
  capacityCalls: z.int().min(1).max(100_000).default(500),
  /**
   * By carrier, frames in one message to it; the carrier's preset where it is not named. 3 costs a third less CPU, and
   * up to 100 ms of lead in place of 80.
   */
  framesPerMessage: z.partialRecord(z.enum(CARRIER_NAMES), z.union([z.literal(1), z.literal(3)])).default({}),
  /**
   * Ranges of the proxies before us whose word about the client's address is taken, and in which header they give it.
   */
  trustedProxies: z.array(z.string()).default([]),
  trustedProxyHeader: z.enum(['auto', 'x-forwarded-for', 'forwarded']).default('auto'),
  /** How often figures go to control. */
  metricsEveryMs: z.int().min(100).default(5000),
  /** Active calls get so long to finish after SIGTERM. */
  drainLimitMs: z.int().min(0).default(3_600_000),
  /** Of clients' addresses and keys, at the public port (`io/request-room`). */
  budgets: z
    .strictObject({
      addressRequests: z.int().min(1).max(1024),
      addressBodies: z.int().min(1).max(512),
      keyRequests: z.int().min(1).max(1024),
      bodyMs: z.int().min(100),
    })
    .default({ addressRequests: 512, addressBodies: 128, keyRequests: 512, bodyMs: 5000 }),
  /** Where the built thread entries lie, for tests with stubs; null: beside this file. */
  threadsDir: z.string().nullable().default(null),
});

export type MediaConfig = Readonly<z.infer<typeof mediaConfigSchema>>;

/** Throws an error that names every wrong field and what it should be. */
export function loadMediaConfig(environment: Record<string, string | undefined> = process.env): MediaConfig {
  const text = environment[VARIABLE];
  if (text === undefined) {
    throw new Error(`${VARIABLE} is not set: the supervisor starts this process (npm start), it is not run by hand`);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error(`${VARIABLE} is no JSON`);
  }
  const parsed = mediaConfigSchema.safeParse(json);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${issue.path.join('.') || '(whole)'}: ${issue.message}`);
    throw new Error(`${VARIABLE}: ${faults.join('; ')}`);
  }
  return Object.freeze(parsed.data);
}
