/** Is the service there, are its ports its own, and does the public address lead to it, WebSockets included? */
import { createServer } from 'node:net';
import { join } from 'node:path';
import { CARRIER_NAMES } from '../../media/contract/carriers.ts';
import { isPrivateAddress } from '../config/metrics-setting.ts';
import { type CheckResult, fail, ok, warn } from './check.ts';
import type { DoctorSettings } from './doctor-settings.ts';
import { instanceAt, probe } from './http-probe.ts';

/** The run of control that answers on its private socket; null when none does. */
export async function runningInstance(settings: DoctorSettings): Promise<string | null> {
  if (settings.runDir === null) return null;
  return (await instanceAt('http://localhost', join(settings.runDir, 'api.sock'))).instance;
}

export async function checkService(settings: DoctorSettings, instance: string | null): Promise<CheckResult[]> {
  const { dataDir, claimsToRun } = settings;
  if (instance !== null) return [ok('service', `runs on ${dataDir}`), await checkReadiness(settings)];
  if (!claimsToRun) return [ok('service', `does not run on ${dataDir}; what follows is as before a start`)];
  return [
    fail(
      'service',
      `was not stopped in order, or control is down: ${join(dataDir, 'runtime.json')} is there, but control does not answer`,
      'See its log; if no such process runs any more, start it again with npm start.',
    ),
  ];
}

/** Each check by name, as only the private socket tells it. */
async function checkReadiness({ runDir }: DoctorSettings): Promise<CheckResult> {
  const found = await probe('http://localhost/readyz', { socketPath: join(runDir ?? '', 'operator.sock') });
  const { status, checks } = found.ok ? readinessIn(found.body) : { status: null, checks: {} };
  const failing = Object.entries(checks).filter(([, check]) => !check.ok);
  if (status === 'ok') return ok('readiness', Object.entries(checks).map(textOf).join(', '));
  if (status === null) return warn('readiness', 'it does not say whether it can take calls', 'See the log of control.');
  return fail('readiness', failing.map(textOf).join(', '), 'New calls are refused until then; the log says more.');
}

type Checks = Record<string, { ok: boolean; detail: string }>;

const textOf = ([name, { detail }]: [string, Checks[string]]): string => `${name}: ${detail}`;

function readinessIn(body: string): { status: string | null; checks: Checks } {
  try {
    const { status, checks } = JSON.parse(body) as { status?: string; checks?: Checks };
    return { status: status ?? null, checks: checks ?? {} };
  } catch {
    return { status: null, checks: {} };
  }
}

export async function checkPorts(settings: DoctorSettings, instance: string | null): Promise<CheckResult[]> {
  const { host, port, metricsHost, metricsPort } = settings;
  const main = instance === null ? await checkFree('port', host, port, 'PORT') : await checkOwn(host, port, instance);
  if (metricsPort === 0) return [main, ok('metrics port', 'off (PARLEY_METRICS_PORT is 0)')];
  const metrics =
    instance === null
      ? await checkFree('metrics port', metricsHost, metricsPort, 'PARLEY_METRICS_PORT')
      : await checkMetrics(settings);
  if (instance !== null && metrics.level === 'ok' && settings.metricsToken === null && !isPrivateAddress(metricsHost)) {
    const detail = `${metrics.detail}; whoever reaches ${metricsHost} can read it`;
    return [main, warn('metrics port', detail, 'Set PARLEY_METRICS_TOKEN, or use 127.0.0.1.')];
  }
  return [main, metrics];
}

async function checkOwn(host: string, port: number, instance: string): Promise<CheckResult> {
  const found = await instanceAt(`http://${dialable(host)}:${port}`);
  if (found.instance === instance) return ok('port', `${port} on ${host} leads to this service`);
  const what = found.instance === null ? found.why : 'another Parley answers there';
  return fail(
    'port',
    `${port} on ${host}: ${what}`,
    'See the log of media: it opens this port. Or set PORT to a free one.',
  );
}

async function checkMetrics({
  metricsHost: host,
  metricsPort: port,
  metricsToken,
}: DoctorSettings): Promise<CheckResult> {
  const headers: Record<string, string> = metricsToken === null ? {} : { authorization: `Bearer ${metricsToken}` };
  const answer = await probe(`http://${dialable(host)}:${port}/metrics`, { headers });
  if (answer.ok && answer.status === 401 && answer.body.includes('PARLEY_METRICS_TOKEN')) {
    return metricsToken === null
      ? ok('metrics port', `${port} on ${host} asks for its token`)
      : warn('metrics port', `${port} on ${host} refuses this PARLEY_METRICS_TOKEN`, 'Use the one of the service.');
  }
  if (answer.ok && answer.body.includes('parley_process_uptime_seconds')) {
    return ok('metrics port', `${port} on ${host} serves /metrics`);
  }
  const detail = answer.ok
    ? `something else answers on ${port} (${answer.status})`
    : `${port} on ${host}: ${answer.why}`;
  return warn(
    'metrics port',
    detail,
    'Calls go on, but nothing is measured: set PARLEY_METRICS_PORT to a free port, or 0.',
  );
}

async function checkFree(name: string, host: string, port: number, setting: string): Promise<CheckResult> {
  const fault = await new Promise<string | null>((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
  if (fault === null) return ok(name, `${port} on ${host} is free`);
  return fail(
    name,
    `${port} on ${host} cannot be opened (${fault})`,
    `End what uses it, or set ${setting} to another.`,
  );
}

export async function checkPublicUrl(settings: DoctorSettings, instance: string | null): Promise<CheckResult[]> {
  const { publicUrl } = settings;
  const { protocol, hostname } = new URL(publicUrl);
  const local = isLoopback(hostname);
  if (instance === null) {
    const detail = `${publicUrl}; whether it leads here shows when the service runs`;
    return [local ? localWarning(publicUrl) : ok('public URL', detail)];
  }
  const found = await instanceAt(publicUrl);
  if (found.instance === null) {
    const way = 'Set PUBLIC_URL to the address that carriers dial, and let DNS, firewall and proxy lead it to PORT.';
    return [fail('public URL', `${publicUrl}: ${found.why}`, way)];
  }
  if (found.instance !== instance) {
    const way = 'Fine behind a load balancer with several nodes on one database; else PUBLIC_URL is not this one.';
    return [warn('public URL', `${publicUrl} leads to another Parley`, way)];
  }
  const socket = await checkUpgrade(publicUrl);
  if (local) return [localWarning(publicUrl), socket];
  if (protocol === 'http:') {
    const way = 'Put TLS in front of PORT and set PUBLIC_URL to https://…: carriers send audio and signatures over it.';
    return [warn('public URL', `${publicUrl} leads to this service, without TLS`, way), socket];
  }
  return [ok('public URL', `${publicUrl} leads to this service`), socket];
}

function localWarning(publicUrl: string): CheckResult {
  const way = 'Enough for the emulator on this machine. For a carrier set PUBLIC_URL to an address that it can dial.';
  return warn('public URL', `${publicUrl} is only on this machine`, way);
}

/** A stream without a token: our own refusal is 401, a proxy that does not pass upgrades on gets something else. */
async function checkUpgrade(publicUrl: string): Promise<CheckResult> {
  const answer = await probe(`${publicUrl}/media/${CARRIER_NAMES[0]}/doctor`, {
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'cGFybGV5LWRvY3Rvci0wMQ==',
    },
  });
  if (answer.ok && answer.status === 401) return ok('media path', 'WebSocket requests reach the media process');
  if (answer.ok && answer.status === 503) {
    return warn('media path', 'the media process takes no streams now (503)', 'It drains or is full; see its log.');
  }
  const detail = answer.ok ? `an upgrade request was answered ${answer.status}` : answer.why;
  return fail(
    'media path',
    detail,
    'Let the proxy in front pass WebSocket upgrades on (Connection and Upgrade headers).',
  );
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host === '::1' || /^127\./.test(host);
}

function dialable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
