/** What the supervisor needs to know before anything runs; control and media get theirs from it. */
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import type { CarrierName, FramesPerMessage } from '../../media/contract/carriers.ts';
import { carrierFrames } from './carrier-frames.ts';
import { faultsOfControl } from './load.ts';
import { type MasterKeySetting, masterKeySetting } from './master-key-setting.ts';
import { faultOfMetrics } from './metrics-setting.ts';
import { readNodeSettings } from './node-settings.ts';
import { settingFault } from './setting-fault.ts';
import { readTrustedProxies } from './trusted-proxies.ts';

const whole = (from: number, to: number, preset: number) =>
  z.coerce
    .number({ error: `must be a whole number from ${from} to ${to}` })
    .int(`must be a whole number from ${from} to ${to}`)
    .min(from, `must be at least ${from}`)
    .max(to, `must be at most ${to}`)
    .default(preset);

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

const schema = z.object({
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\/./, 'must begin with postgresql:// (leave it out for the embedded database)')
    .optional(),
  HOST: z.string().min(1).default('0.0.0.0'),
  PORT: whole(1, 65_535, 8080),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'must be the http(s) address that carriers and browsers dial' })
    .refine((url) => !/[?#]/.test(url), 'must not have a query or a fragment')
    .optional(),
  PARLEY_DATA_DIR: z.string().min(1).default('data'),
  PARLEY_MEDIA_PROCESSES: whole(1, 64, 1),
  PARLEY_PIPELINE_THREADS: whole(1, 64, Math.max(1, availableParallelism() - 1)),
  PARLEY_SPEECH_THREADS: whole(0, 16, 1),
  PARLEY_LISTEN_THREADS: whole(0, 16, 1),
  PARLEY_PROVIDER_THREADS: whole(0, 16, 1),
  PARLEY_MEDIA_CAPACITY: whole(1, 100_000, 500),
  ...carrierFrames.fields,
  PARLEY_ADDRESS_REQUESTS: whole(1, 1_024, 512),
  PARLEY_ADDRESS_BODIES: whole(1, 512, 128),
  PARLEY_KEY_REQUESTS: whole(1, 1_024, 512),
  PARLEY_BODY_SECONDS: whole(1, 10, 5),
  PARLEY_DRAIN_SECONDS: whole(0, 86_400, 1_860),
  PARLEY_SOCKET_SERVER: z.enum(['auto', 'uws', 'ws'], 'must be auto (the default), uws or ws').default('auto'),
  TRUSTED_PROXIES: z
    .string()
    .default('')
    .transform((list, context) => {
      const read = readTrustedProxies(list);
      if (read.ok) return read.cidrs;
      context.addIssue({ code: 'custom', message: read.fault });
      return z.NEVER;
    }),
  TRUSTED_PROXY_HEADER: z
    .enum(['auto', 'x-forwarded-for', 'forwarded'], 'must be auto (the default), x-forwarded-for or forwarded')
    .default('auto'),
  PARLEY_METRICS_HOST: z.string().min(1).default('127.0.0.1'),
  PARLEY_METRICS_PORT: whole(0, 65_535, 9464),
  PARLEY_METRICS_TOKEN: z.string().optional(),
  PARLEY_LOG_LEVEL: z
    .enum(LOG_LEVELS, `must be ${LOG_LEVELS.slice(0, -1).join(', ')} or ${LOG_LEVELS.at(-1)}`)
    .default('info'),
});

export interface ServiceSettings {
  /** Null: the embedded database. */
  databaseUrl: string | null;
  host: string;
  port: number;
  publicUrl: string;
  /** Path below which streams of this node come besides `/media/`, like `/n/a`; null: none. */
  streamPath: string | null;
  dataDir: string;
  /** Null: a generated file in the data folder. */
  masterKey: MasterKeySetting | null;
  mediaProcesses: number;
  pipelineThreads: number;
  ttsThreads: number;
  sttThreads: number;
  /** Started when the first call has a connection. */
  providerThreads: number;
  /** Calls that one media process takes at once. */
  mediaCapacityCalls: number;
  /** By carrier: 20 ms frames in one message to it. 3 costs less CPU and adds up to 10 ms of lead. */
  framesPerMessage: Record<CarrierName, FramesPerMessage>;
  /** Of clients' addresses and keys, in each media process. */
  budgets: { addressRequests: number; addressBodies: number; keyRequests: number; bodyMs: number };
  /** How long active calls may go on after SIGTERM. */
  drainLimitMs: number;
  socketServer: 'auto' | 'uws' | 'ws';
  /** Ranges of the proxies in front whose word about the client's address is taken. */
  trustedProxies: readonly string[];
  /** `auto`: X-Forwarded-For, or Forwarded where that is alone. */
  trustedProxyHeader: 'auto' | 'x-forwarded-for' | 'forwarded';
  metricsHost: string;
  /** 0: no metrics. */
  metricsPort: number;
  /** Null: none. */
  metricsToken: string | null;
  logLevel: string;
}

/** Throws one error that lists every setting at fault, those of control too. Empty values count as absent. */
export function loadServiceSettings(env: Record<string, string | undefined>): ServiceSettings {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = schema.safeParse(given);
  const masterKey = masterKeySetting(given);
  const others = masterKey.faults.map((fault) => `  ${fault}`);
  const node = readNodeSettings(given);
  others.push(...node.faults, ...faultsOfControl(given));
  const metricsFault = faultOfMetrics(given);
  if (metricsFault !== null) others.push(`  ${metricsFault}`);
  if (!parsed.success || others.length > 0) {
    const faults = (parsed.error?.issues ?? []).map((issue) => settingFault(issue, given));
    throw new Error(`Settings at fault:\n${[...faults, ...others].join('\n')}`);
  }
  const value = parsed.data;
  return {
    databaseUrl: value.DATABASE_URL ?? null,
    host: value.HOST,
    port: value.PORT,
    publicUrl: (value.PUBLIC_URL ?? `http://127.0.0.1:${value.PORT}`).replace(/\/+$/, ''),
    streamPath: node.settings.streamUrl === null ? null : new URL(node.settings.streamUrl).pathname.replace(/\/+$/, ''),
    dataDir: value.PARLEY_DATA_DIR,
    masterKey: masterKey.setting,
    mediaProcesses: value.PARLEY_MEDIA_PROCESSES,
    pipelineThreads: value.PARLEY_PIPELINE_THREADS,
    ttsThreads: value.PARLEY_SPEECH_THREADS,
    sttThreads: value.PARLEY_LISTEN_THREADS,
    providerThreads: value.PARLEY_PROVIDER_THREADS,
    mediaCapacityCalls: value.PARLEY_MEDIA_CAPACITY,
    framesPerMessage: carrierFrames.read(value),
    budgets: {
      addressRequests: value.PARLEY_ADDRESS_REQUESTS,
      addressBodies: value.PARLEY_ADDRESS_BODIES,
      keyRequests: value.PARLEY_KEY_REQUESTS,
      bodyMs: value.PARLEY_BODY_SECONDS * 1000,
    },
    drainLimitMs: value.PARLEY_DRAIN_SECONDS * 1000,
    socketServer: value.PARLEY_SOCKET_SERVER,
    trustedProxies: value.TRUSTED_PROXIES,
    trustedProxyHeader: value.TRUSTED_PROXY_HEADER,
    metricsHost: value.PARLEY_METRICS_HOST,
    metricsPort: value.PARLEY_METRICS_PORT,
    metricsToken: value.PARLEY_METRICS_TOKEN ?? null,
    logLevel: value.PARLEY_LOG_LEVEL,
  };
}
