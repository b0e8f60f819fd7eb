/**
 * The load tester of an installed package against a Parley of another one that was started elsewhere: another folder,
 * another port, behind a proxy with TLS, known by its address and keys alone; and against voice bots that have nothing
 * of Parley.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endChild } from '../../../bench/harness/end-child.ts';
import { freePort } from '../../../bench/harness/free-port.ts';
import { startBotProcess } from '../../support/bots/bot-process.ts';
import { eventually } from '../../support/eventually.ts';
import { type BenchEnd, runBench, writeBurst } from '../../support/load-tester.ts';
import { hasNginx, type Nginx, startNginx } from '../../support/nginx.ts';
import { installPacked } from '../../support/packed-package.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-load-installed-'));
const [home, elsewhere] = [join(folder, 'home'), join(folder, 'elsewhere')];
const ORIGIN = 'https://shop.example.com';
const PHONE = { name: 'phone', ringSeconds: 0.1, lengthSeconds: 8 };
const STOP_LIMIT_MS = 5_000;
let installed: string;

beforeAll(() => {
  ({ installed } = installPacked(join(folder, 'app')));
  for (const one of [home, elsewhere]) mkdirSync(one);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function bench(args: readonly string[], environment: Record<string, string> = {}): Promise<BenchEnd> {
  const program = [join(installed, 'bin', 'parley.mjs'), 'bench'];
  // How late the tool is on a busy machine is not what this is about.
  return runBench(home, [...args, '--limit-ms', '10000'], { program, workFolder: home, environment });
}

const workload = (name: string, callers: object[]): string =>
  writeBurst(home, name, { calls: 3, overSeconds: 1.5, callers });

test('writes the known signal, and shows what it takes', async () => {
  const signal = join(home, 'known-signal.wav');
  const program = join(installed, 'bin', 'parley.mjs');
  const written = await promisify(execFile)(process.execPath, [program, 'bench', 'signal', signal]);
  expect(written.stdout).toBe(`written: ${signal} (10.24 s; play it over and over without a pause)\n`);
  const help = await promisify(execFile)(process.execPath, [program, 'bench', '--help']);
  expect(help.stdout).toContain('--i-may-load-this-target');
});

describe('a bot of somebody else, on', () => {
  test.each([
    ['twilio', '--stream'],
    ['plivo', '--answer-url'],
  ] as const)('%s', async (carrier, option) => {
    const target = await startBotProcess(carrier);
    try {
      const talk = { kind: 'turns', turns: 1, afterMs: 300 };
      const path = workload(carrier, [{ ...PHONE, lengthSeconds: 12, talk }]);
      const { code, result } = await bench([option, target.address, '--protocol', carrier, '--workload', path]);
      expect(result?.calls).toMatchObject({ planned: 3, talked: 3 });
      expect(result?.target).toMatchObject({ protocol: carrier, onThisMachine: true, version: null });
      expect(result?.measures.firstWordMs.count).toBe(3);
      expect(result?.measures.replyMs.count).toBe(3);
      expect(result?.measures.placementMs.count).toBe(carrier === 'plivo' ? 3 : 0);
      expect(code).toBe(0);
      await eventually('the ends of all streams', () => target.closed === 3);
      expect([target.opened, target.stopped]).toEqual([3, carrier === 'twilio' ? 3 : 0]);
    } finally {
      await target.end();
    }
  });
});

describe.skipIf(!hasNginx)('a Parley that was started elsewhere, behind a proxy with TLS', () => {
  let nginx: Nginx;
  let stored: TestDatabase;
  let service: ChildProcess;
  let options: string[];
  let output = '';
  const ca = join(folder, 'ca.pem');

  beforeAll(async () => {
    stored = await createTestDatabase();
    const [port, metricsPort, proxyPort, carrierPort] = await Promise.all([
      freePort(),
      freePort(),
      freePort(),
      freePort(),
    ]);
    nginx = await startNginx(join(folder, 'nginx'), [
      { port: proxyPort, connectsFrom: '127.0.0.1', upstreamPort: port },
    ]);
    writeFileSync(ca, nginx.ca);
    const url = `https://localhost:${proxyPort}`;
    const environment = {
      ...process.env,
      PORT: String(port),
      HOST: '127.0.0.1',
      PUBLIC_URL: url,
      PARLEY_METRICS_PORT: String(metricsPort),
      PARLEY_DATA_DIR: join(elsewhere, 'data'),
      DATABASE_URL: stored.connectionString,
      CARRIER_API_BASE_PLIVO: `http://127.0.0.1:${carrierPort}`,
      TRUSTED_PROXIES: '127.0.0.1/32',
      // What else runs on the machine is not what this is about.
      PARLEY_ADMISSION: 'counted',
    };
    const start = { cwd: elsewhere, env: environment };
    const started = spawn(process.execPath, [join(installed, 'bin', 'parley-start.mjs')], {
      ...start,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    service = started;
    for (const stream of [started.stdout, started.stderr]) {
      stream.on('data', (text: Buffer) => {
        output += text.toString();
      });
    }
    await eventually('the service', () => output.includes(`serving at ${url}`), { story: () => output });
    const parley = async (...words: string[]): Promise<Record<string, unknown>> => {
      const all = [join(installed, 'bin', 'parley.mjs'), '--json', ...words];
      const { stdout } = await promisify(execFile)(process.execPath, all, start);
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    const made = await parley('quickstart');
    const { publicKey } = await parley('widget', 'create', 'acme', '--name', 'shop', '--allow', ORIGIN);
    options = [
      ...['--url', url, '--enterprise', 'acme', '--agent', String(made['agentId']), '--from', String(made['lineId'])],
      ...['--api-key', String(made['key']), '--public-key', String(publicKey), '--origin', ORIGIN],
      ...['--carrier-listen', `127.0.0.1:${carrierPort}`],
    ];
  });
  afterAll(async () => {
    if (service !== undefined) await endChild(service, STOP_LIMIT_MS);
    await nginx?.stop();
    await stored?.close();
  });

  test('is called by phones and by browsers', async () => {
    const path = workload('both', [
      { ...PHONE, talk: { kind: 'silent' } },
      {
        ...PHONE,
        name: 'web',
        by: 'browser',
        codec: 'opus',
        lengthSeconds: 12,
        resumeShare: 1,
        talk: { kind: 'silent' },
      },
    ]);
    const { code, said, result } = await bench([...options, '--workload', path, '--seed', '3'], {
      NODE_EXTRA_CA_CERTS: ca,
    });
    expect(result?.calls, said).toMatchObject({ planned: 3, talked: 3 });
    expect(result?.target).toMatchObject({ kind: 'parley', onThisMachine: true, version: 'API 1' });
    expect(result?.measures.firstWordMs.count).toBe(3);
    // Of the three at least one is of either kind; each browser loses its socket once.
    expect([1, 2]).toContain(result?.measures.resumeMs.count);
    expect(code).toBe(0);
  });

  test('whose certificate is not trusted: it is said how to trust it', async () => {
    const { code, said, result } = await bench([...options, '--workload', workload('untrusted', [PHONE])]);
    expect(said).toMatch(/--url https:.*the certificate of .* is not trusted .*NODE_EXTRA_CA_CERTS=<file>/);
    expect([code, result]).toEqual([2, null]);
  });
});
