/**
 * The control process's settings, from the environment, once, frozen. `src/main.ts` calls it and passes values on; the
 * supervisor has its own (`service-settings.ts`) and fills what is required here. Nothing else reads `process.env`.
 */
import { isAbsolute, resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { masterKeySetting, readMasterKeys } from './master-key-setting.ts';
import { faultOfMetrics } from './metrics-setting.ts';
import { type NodeSettings, readNodeSettings } from './node-settings.ts';
import { type OpenIdSettings, readOpenIdSettings } from './openid-settings.ts';
import { readRecordingSettings, type StoreSettings } from './recording-settings.ts';
import { settingFault } from './setting-fault.ts';
import { readTraceSettings, type TraceSettings } from './trace-settings.ts';
import { WEBHOOK_SCHEMA, type WebhookSettings } from './webhook-settings.ts';

export interface Config {
  databaseUrl: string;
  /** Null: PostgreSQL serves the queue, limits and commands. */
  redisUrl: string | null;
  /** What carriers dial; no slash at its end. */
  publicUrl: string;
  /** 64 hexadecimal digits each, the newest first; two while a rotation is under way. */
  masterKeys: readonly string[];
  /** Where they are read from again when they change; null: they were given as they are. */
  masterKeyFile: string | null;
  /** Absolute. */
  dataDir: string;
  /** This one among several. */
  node: NodeSettings;
  /** Absolute; holds `api.sock` and `link.sock`. */
  runDir: string;
  /** Carrier name in lower case to the base of its REST API, where it is not the carrier's own (emulators). */
  carrierApiBase: Readonly<Record<string, string>>;
  /** Ranges in which webhook receivers may lie although they are private, and may speak plain http. */
  webhookAllowCidrs: readonly string[];
  /** The same for the language models of workspaces, beside those of `webhookAllowCidrs`. */
  modelAllowCidrs: readonly string[];
  /** Of each URL. */
  webhooks: WebhookSettings;
  /** Stretches the pauses between webhook attempts: 1, or less in fault runs that cannot wait three days. */
  webhookRetryScale: number;
  /** Stretches how long a call waits for its carrier's word: 1, or less in fault runs, where many words are lost. */
  callTimerScale: number;
  /** `counted`: calls are admitted up to each media process' capacity, whatever it measures. */
  admission: 'measured' | 'counted';
  /** Where `/metrics` is served; port 0: nowhere. */
  metricsHost: string;
  metricsPort: number;
  /** Wanted by the metrics port; null: none. */
  metricsToken: string | null;
  /** Where traces of calls go; null: nowhere. */
  traces: TraceSettings | null;
  /** By which people may sign in; null: none. */
  openId: OpenIdSettings | null;
  /** Where recordings are stored. */
  recordings: StoreSettings;
  /** Where programs lie that are looked for by name (FFmpeg). */
  commandPath: string;
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
}

type Environment = Readonly<Record<string, string | undefined>>;

const httpUrl = (hint: string) => z.url({ protocol: /^https?$/, error: hint });

const ranges = () =>
  z
    .string()
    .default('')
    .transform((list) =>
      list
        .split(',')
        .map((cidr) => cidr.trim())
        .filter((cidr) => cidr !== ''),
    )
    .refine(
      (cidrs) => cidrs.every((cidr) => ipaddr.isValidCIDR(cidr)),
      'must be ranges separated by commas, like 10.0.0.0/8,fd00::/8',
    );

const SCALE = 'must be a number from 0.00001 to 1 (leave it out in service)';
const scale = () => z.coerce.number({ error: SCALE }).min(0.00001, SCALE).max(1, SCALE).default(1);
const METRICS_PORT = 'must be a port, or 0 for no metrics';

const schema = z.object({
  DATABASE_URL: z
    .string({ error: 'is missing: set it to postgresql://user:password@host:5432/name, or use `npm start`' })
    .regex(/^postgres(ql)?:\/\/./, 'must look like postgresql://user:password@host:5432/name'),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\/./, 'must look like redis://host:6379 (leave it out to use PostgreSQL alone)')
    .optional(),
  PUBLIC_URL: httpUrl('must be the http(s) address that carriers dial, like https://voice.example.com')
    .transform((url) => url.replace(/\/+$/, ''))
    .refine((url) => !/[?#]/.test(url), 'must not have a query or a fragment'),
  PARLEY_DATA_DIR: z.string().default('data'),
  PARLEY_RUN_DIR: z
    .string({ error: 'is missing: set it to a private folder for the local sockets, or use `npm start`' })
    .refine(isAbsolute, 'must be an absolute path'),
  WEBHOOK_ALLOW_CIDRS: ranges(),
  MODEL_ALLOW_CIDRS: ranges(),
  ...WEBHOOK_SCHEMA,
  PARLEY_WEBHOOK_RETRY_SCALE: scale(),
  PARLEY_CALL_TIMER_SCALE: scale(),
  PARLEY_ADMISSION: z
    .enum(['measured', 'counted'], { error: 'must be measured (the default) or counted' })
    .default('measured'),
  PARLEY_METRICS_HOST: z.string().min(1).default('127.0.0.1'),
  PARLEY_METRICS_PORT: z.coerce
    .number({ error: METRICS_PORT })
    .int(METRICS_PORT)
    .min(0, METRICS_PORT)
    .max(65_535, METRICS_PORT)
    .default(9464),
  PARLEY_METRICS_TOKEN: z.string().optional(),
  PARLEY_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'], {
      error: 'must be trace, debug, info, warn, error or silent',
    })
    .default('info'),
});

/** What the supervisor reads too, or fills in, and tells of itself. */
const OF_SUPERVISOR = {
  DATABASE_URL: true,
  PUBLIC_URL: true,
  PARLEY_DATA_DIR: true,
  PARLEY_RUN_DIR: true,
  PARLEY_METRICS_HOST: true,
  PARLEY_METRICS_PORT: true,
  PARLEY_METRICS_TOKEN: true,
  PARLEY_LOG_LEVEL: true,
} as const;

/** What is wrong with the settings that control alone reads, a line each: known before anything is started. */
export function faultsOfControl(environment: Environment): string[] {
  const given = withoutEmpty(environment);
  const issues = schema.omit(OF_SUPERVISOR).safeParse(given).error?.issues ?? [];
  return [
    ...issues.map((issue) => settingFault(issue, given)),
    ...[
      readCarrierBases(given),
      readRecordingSettings(given),
      readTraceSettings(given),
      readOpenIdSettings(given),
    ].flatMap(({ faults }) => faults),
  ];
}

function withoutEmpty(environment: Environment): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''));
}

/** Throws one error that names every variable at fault and the way out; never shows a value. Empty counts as absent. */
export function loadConfig(environment: Environment = process.env): Readonly<Config> {
  const given = withoutEmpty(environment);
  const parsed = schema.safeParse(given);
  const carriers = readCarrierBases(given);
  const recordings = readRecordingSettings(given);
  const traces = readTraceSettings(given);
  const openId = readOpenIdSettings(given);
  const node = readNodeSettings(given);
  const masterKey = readMasterKey(given);
  const metricsFault = faultOfMetrics(given);
  const others = [
    ...masterKey.faults,
    ...(metricsFault ? [`  ${metricsFault}`] : []),
    ...carriers.faults,
    ...recordings.faults,
    ...traces.faults,
    ...openId.faults,
    ...node.faults,
  ];
  if (!parsed.success || others.length > 0) {
    const faults = (parsed.error?.issues ?? []).map((issue) => `  ${issue.path.join('.')} ${issue.message}`);
    throw new Error(`Settings at fault:\n${[...faults, ...others].join('\n')}`);
  }
  const value = parsed.data;
  return Object.freeze({
    databaseUrl: value.DATABASE_URL,
    redisUrl: value.REDIS_URL ?? null,
    publicUrl: value.PUBLIC_URL,
    masterKeys: masterKey.keys,
    masterKeyFile: masterKey.file,
    dataDir: resolve(value.PARLEY_DATA_DIR),
    node: Object.freeze(node.settings),
    runDir: value.PARLEY_RUN_DIR,
    carrierApiBase: Object.freeze(carriers.bases),
    webhooks: Object.freeze({
      perSecond: value.WEBHOOK_PER_SECOND,
      atOnce: value.WEBHOOK_AT_ONCE,
      mostWaiting: value.WEBHOOK_MOST_WAITING,
    }),
    webhookRetryScale: value.PARLEY_WEBHOOK_RETRY_SCALE,
    callTimerScale: value.PARLEY_CALL_TIMER_SCALE,
    admission: value.PARLEY_ADMISSION,
    webhookAllowCidrs: Object.freeze(value.WEBHOOK_ALLOW_CIDRS),
    modelAllowCidrs: Object.freeze(value.MODEL_ALLOW_CIDRS),
    metricsHost: value.PARLEY_METRICS_HOST,
    metricsPort: value.PARLEY_METRICS_PORT,
    metricsToken: value.PARLEY_METRICS_TOKEN ?? null,
    traces: traces.settings,
    openId: openId.settings,
    recordings: Object.freeze(recordings.settings),
    commandPath: environment['PATH'] ?? '',
    logLevel: value.PARLEY_LOG_LEVEL,
  });
}

function readMasterKey(given: Environment): { keys: readonly string[]; file: string | null; faults: string[] } {
  const { setting, faults } = masterKeySetting(given);
  const none = { keys: [], file: null };
  if (faults.length > 0) return { ...none, faults: faults.map((fault) => `  ${fault}`) };
  if (setting === null) {
    const fault =
      '  PARLEY_MASTER_KEY is missing: set it to 64 hexadecimal digits (openssl rand -hex 32), or use `npm start`';
    return { ...none, faults: [fault] };
  }
  try {
    return { keys: readMasterKeys(setting, given), file: setting.from === 'file' ? setting.path : null, faults };
  } catch (error) {
    return { ...none, faults: [`  ${(error as Error).message}`] };
  }
}

/** `CARRIER_API_BASE_PLIVO=http://127.0.0.1:4010` becomes `{ plivo: 'http://127.0.0.1:4010' }`. */
export function readCarrierBases(given: Environment): {
  bases: Record<string, string>;
  faults: string[];
} {
  const bases: Record<string, string> = {};
  const faults: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    const carrier = /^CARRIER_API_BASE_([A-Z0-9_]+)$/.exec(name)?.[1];
    if (carrier === undefined || value === undefined) continue;
    if (URL.canParse(value) && /^https?:/.test(value)) bases[carrier.toLowerCase()] = value.replace(/\/+$/, '');
    else faults.push(`  ${name} must be an http(s) address (leave it out for the carrier's own)`);
  }
  return { bases, faults };
}
