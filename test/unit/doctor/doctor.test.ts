import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../../bench/harness/free-port.ts';
import { PATIENCE_MS } from '../../../bench/harness/patience.ts';
import { runCli } from '../../../src/cli/run-cli.ts';
import { checkCarriers } from '../../../src/doctor/carrier-checks.ts';
import { type CheckResult, runCheck } from '../../../src/doctor/check.ts';
import { checkDatabase, skewResult } from '../../../src/doctor/database-checks.ts';
import { examine } from '../../../src/doctor/doctor.ts';
import { loadDoctorSettings } from '../../../src/doctor/doctor-settings.ts';
import { checkDisk, checkMediaParts, checkNode, checkOpenFiles } from '../../../src/doctor/machine-checks.ts';
import { checkMasterKey } from '../../../src/doctor/master-key-checks.ts';
import { checkPorts, checkPublicUrl, checkService, runningInstance } from '../../../src/doctor/network-checks.ts';
import { createSealer } from '../../../src/sealing/sealer.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { addLine } from '../../../src/workspaces/lines.ts';
import { createWorkspace } from '../../../src/workspaces/workspaces.ts';
import { DOCTOR_PATIENCE } from '../../support/doctor-patience.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';

const KEY = 'ab'.repeat(32);
const folder = mkdtempSync(join(tmpdir(), 'parley-doctor-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Answers by path; anything else is 404. An upgrade is answered with `upgrade`. */
async function serve(
  paths: Record<string, string>,
  options: { socket?: string; upgrade?: number } = {},
): Promise<number> {
  const server = createServer((request, response) => {
    const body = paths[request.url ?? ''];
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  server.on('upgrade', (_request, socket) =>
    socket.end(`HTTP/1.1 ${options.upgrade ?? 404} X\r\ncontent-length: 0\r\n\r\n`),
  );
  servers.push(server);
  await new Promise<void>((done) =>
    options.socket ? server.listen(options.socket, done) : server.listen(0, '127.0.0.1', done),
  );
  return options.socket ? 0 : (server.address() as AddressInfo).port;
}

const livez = (instance: string): Record<string, string> => ({ '/livez': JSON.stringify({ status: 'ok', instance }) });
const levels = (results: CheckResult[]): string[] => results.map(({ name, level }) => `${name}: ${level}`);
const settingsOf = (environment: Record<string, string> = {}) =>
  loadDoctorSettings({ PARLEY_DATA_DIR: join(folder, 'none'), ...environment });

describe('ports and the public address', () => {
  it('are free before a start, or named with the setting that moves them', async () => {
    const free = await freePort();
    const taken = await serve({});
    expect(
      levels(await checkPorts(settingsOf({ HOST: '127.0.0.1', PORT: String(free), PARLEY_METRICS_PORT: '0' }), null)),
    ).toEqual(['port: ok', 'metrics port: ok']);
    const both = settingsOf({ HOST: '127.0.0.1', PORT: String(taken), PARLEY_METRICS_PORT: String(taken) });
    const [port, metrics] = await checkPorts(both, null);
    expect(port).toMatchObject({ level: 'fail', wayOut: expect.stringContaining('PORT') });
    expect(port?.detail).toContain('EADDRINUSE');
    expect(metrics?.wayOut).toContain('PARLEY_METRICS_PORT');
  });

  it('belong to the running service, found by its private socket', async () => {
    const dataDir = join(folder, 'running');
    mkdirSync(dataDir);
    await serve(livez('run-1'), { socket: join(dataDir, 'api.sock') });
    const port = await serve(livez('run-1'), { upgrade: 401 });
    const metricsPort = await serve({ '/metrics': 'parley_process_uptime_seconds 1\n' });
    const runtime = {
      runDir: dataDir,
      publicUrl: `http://127.0.0.1:${port}`,
      host: '0.0.0.0',
      port,
      metricsHost: '127.0.0.1',
      metricsPort,
    };
    writeFileSync(join(dataDir, 'runtime.json'), JSON.stringify(runtime));
    const settings = loadDoctorSettings({ PARLEY_DATA_DIR: dataDir });
    const instance = await runningInstance(settings);
    expect(instance).toBe('run-1');
    expect(levels(await checkService(settings, instance))).toEqual(['service: ok', 'readiness: warn']);
    const checks = { media: { ok: false, detail: 'no media process is connected' } };
    await serve(
      { '/readyz': JSON.stringify({ status: 'unavailable', checks }) },
      { socket: join(dataDir, 'operator.sock') },
    );
    expect((await checkService(settings, instance))[1]).toMatchObject({
      level: 'fail',
      detail: 'media: no media process is connected',
    });
    expect(levels(await checkPorts(settings, instance))).toEqual(['port: ok', 'metrics port: ok']);
    expect(levels(await checkPublicUrl(settings, instance))).toEqual(['public URL: warn', 'media path: ok']);
    expect(levels(await checkService(settings, null))).toEqual(['service: fail']);
    expect(levels(await checkPorts({ ...settings, metricsHost: '0.0.0.0' }, instance))[1]).toBe('metrics port: warn');
  });

  it('are not the service when another program, another Parley or nobody answers', async () => {
    const other = await serve(livez('run-2'), { upgrade: 426 });
    const stranger = await serve({ '/livez': '<html>', '/metrics': 'something_else 1' });
    const at = (port: number) => ({
      ...settingsOf({ PARLEY_METRICS_PORT: String(stranger), HOST: '127.0.0.1' }),
      port,
      publicUrl: `http://127.0.0.1:${port}`,
    });
    expect((await checkPorts(at(other), 'run-1'))[0]?.detail).toContain('another Parley');
    expect(levels(await checkPorts(at(stranger), 'run-1'))).toEqual(['port: fail', 'metrics port: warn']);
    expect(levels(await checkPublicUrl(at(stranger), 'run-1'))).toEqual(['public URL: fail']);
    expect((await checkPublicUrl(at(1), 'run-1'))[0]?.detail).toContain('ECONNREFUSED');
    expect(levels(await checkPublicUrl(at(other), 'run-1'))).toEqual(['public URL: warn']);
    const [, media] = await checkPublicUrl(at(other), 'run-2');
    expect(media).toMatchObject({ level: 'fail', detail: 'an upgrade request was answered 426' });
  });
});

describe('the database', () => {
  let test: OpenTestDatabase;
  let database: Database;
  beforeAll(async () => {
    test = await openTestDatabase();
    database = test.database;
  });
  afterAll(() => test.close());

  it('is new enough, has every migration, and keeps our time', async () => {
    expect(levels(await checkDatabase(database, true))).toEqual([
      'database: ok',
      'migrations: ok',
      'clock against the database: ok',
    ]);
  });

  it('keeps our time although its answer is late, and does not where its clock is off', async () => {
    const ours = Date.now;
    let aheadMs = 0;
    const now = vi.spyOn(Date, 'now').mockImplementation(() => ours() + aheadMs);
    const clockOf = async (lateMs: number) => {
      const late: Database = {
        ...database,
        async query(sql: string, values?: readonly unknown[]) {
          const rows = await database.query(sql, values);
          if (sql.includes('clock_timestamp')) aheadMs += lateMs;
          return rows as never;
        },
      };
      return (await checkDatabase(late, true)).at(-1);
    };
    try {
      expect(await clockOf(5_000)).toMatchObject({ level: 'ok' });
      aheadMs = 60_000;
      expect(await clockOf(0)).toMatchObject({
        level: 'fail',
        detail: expect.stringMatching(/^ours is [3-6]\d\.\d s ahead$/),
      });
    } finally {
      now.mockRestore();
    }
  });

  it('lacks a migration: fail while the service runs, a warning before its start; too new: fail', async () => {
    const [first] = await database.query<{ name: string }>('SELECT name FROM migrations ORDER BY id LIMIT 1');
    const migrations = async (isRunning = true) => (await checkDatabase(database, isRunning))[1];
    const add = (name: string) => database.query('INSERT INTO migrations (name, run_on) VALUES ($1, now())', [name]);
    await add('9998_added');
    expect(await migrations()).toMatchObject({ level: 'warn', detail: expect.stringContaining('newer') });
    await database.query('DELETE FROM migrations WHERE name = $1', [first!.name]);
    expect(await migrations()).toMatchObject({ level: 'fail', detail: expect.stringContaining(first!.name) });
    expect(await migrations(false)).toMatchObject({ level: 'warn', detail: expect.stringContaining(first!.name) });
    await add(first!.name);
    await add('9999_contract_after_9998_gone');
    expect(await migrations(false)).toMatchObject({ level: 'fail', detail: expect.stringContaining('lacks') });
    await database.query(`DELETE FROM migrations WHERE name LIKE '999%'`);
  });

  it('is old, or away', async () => {
    const old = { query: async () => [{ number: '120011', text: '12.11' }] as never };
    expect(await checkDatabase(old, true)).toMatchObject([{ level: 'fail', detail: 'PostgreSQL 12.11' }]);
    const nowhere = openDatabase({
      connectionString: 'postgresql://u:secret-canary@127.0.0.1:1/x',
      onIdleError: () => {},
    });
    const [away] = await checkDatabase(nowhere, true);
    await nowhere.close();
    expect(away).toMatchObject({ level: 'fail', detail: 'does not answer (ECONNREFUSED)' });
  });

  it.each([
    [1_999, 'ok', 'ours is 2.0 s behind'],
    [-150, 'ok', 'ours is 150 ms ahead'],
    [-2_000, 'warn', 'ours is 2.0 s ahead'],
    [30_000, 'fail', 'ours is 30.0 s behind'],
  ])('has a clock that is %d ms ahead of ours: %s', (skewMs, level, detail) => {
    expect(skewResult('clock', skewMs, 2_000, 30_000)).toMatchObject({ level, detail });
  });

  it('has lines whose credentials are missing, sealed under another key, refused, or good; each pair is asked once', async () => {
    const sealer = createSealer(KEY);
    const asked: string[] = [];
    const registry = {
      carrierFor: (_name: string, credentials: Record<string, string>) => {
        const authId = credentials['authId'] ?? '';
        const carrier =
          known[authId] ??
          ({
            name: 'plivo',
            missingCredentials: () => [],
            checkAccess: async () => {
              asked.push(authId);
              const outcome = authId === 'good' ? 'ok' : authId === 'bad' ? 'refused' : 'unreachable';
              return { outcome, detail: 'answered 401', serverEpochMs: authId === 'good' ? Date.now() - 90_000 : null };
            },
          } as never);
        known[authId] = carrier;
        return carrier;
      },
    };
    const known: Record<string, never> = {};
    expect(await checkCarriers({ database, sealer, registry })).toMatchObject([{ name: 'carriers', level: 'warn' }]);
    await createWorkspace(database, { slug: 'acme', name: 'Acme' });
    const add = (number: string, authId: string | null, seal = sealer) =>
      addLine(database, seal, {
        slug: 'acme',
        number,
        carrier: 'plivo',
        ...(authId === null ? {} : { credentials: { authId, authToken: 'token-canary' } }),
      });
    await add('+14155550101', 'good');
    await add('+14155550102', 'good');
    await add('+14155550103', 'bad');
    await add('+14155550104', 'far');
    await add('+14155550105', null);
    await add('+14155550106', 'good', createSealer('cd'.repeat(32)));
    const results = await checkCarriers({ database, sealer, registry });
    expect(levels(results).toSorted()).toEqual([
      'clock against plivo: fail',
      'line …0101 of acme: ok',
      'line …0102 of acme: ok',
      'line …0103 of acme: fail',
      'line …0104 of acme: fail',
      'line …0105 of acme: warn',
      'line …0106 of acme: fail',
    ]);
    expect(asked.toSorted()).toEqual(['bad', 'far', 'good']);
    expect(JSON.stringify(results)).not.toMatch(/canary|4155550/);
    expect(levels(await checkCarriers({ database, sealer: null, registry }))[0]).toBe('line …0101 of acme: warn');
  });
});

describe('the machine', () => {
  it('has a Node that is too old, tested, or only new', () => {
    expect(
      [...checkNode('20.17.0'), ...checkNode('20.18.0'), ...checkNode('23.1.0')].map(({ level }) => level),
    ).toEqual(['fail', 'ok', 'warn']);
  });

  it('tells which native parts load, and survives a part that takes its process down', async () => {
    const good = join(folder, 'good.mjs');
    const report = { socketServer: { kind: 'ws', why: 'it is musl' }, opus: 'opusscript' };
    writeFileSync(good, `console.log(${JSON.stringify(JSON.stringify(report))})`);
    const results = await checkMediaParts(good, PATIENCE_MS);
    expect(levels(results)).toEqual(['socket server: warn', 'Opus: ok']);
    expect(results[0]?.detail).toContain('it is musl');
    const bad = join(folder, 'bad.mjs');
    writeFileSync(bad, "process.kill(process.pid, 'SIGSEGV'); setTimeout(() => {}, 1e4);");
    const [died] = await runCheck('socket server', () => checkMediaParts(bad, PATIENCE_MS), PATIENCE_MS);
    expect(died).toMatchObject({ name: 'socket server', level: 'fail', detail: expect.stringContaining('SIGSEGV') });
  });

  it('has room on the disk of a folder that is not there yet', async () => {
    expect((await checkDisk(join(folder, 'not', 'yet')))[0]?.detail).toMatch(/^\d+\.\d GiB free/);
  });

  it('may open too few files', () => {
    const limits = join(folder, 'limits');
    writeFileSync(
      limits,
      'Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 4096                 files\n',
    );
    expect(checkOpenFiles(limits)).toMatchObject([{ level: 'warn', wayOut: expect.stringContaining('ulimit') }]);
    expect(checkOpenFiles(join(folder, 'no-such-file'))).toEqual([]);
  });

  it('keeps the master key to its owner, or says chmod', () => {
    const dataDir = join(folder, 'keys');
    mkdirSync(dataDir);
    const settings = () => loadDoctorSettings({ PARLEY_DATA_DIR: dataDir });
    expect(checkMasterKey(settings(), {})).toMatchObject([
      { level: 'warn', detail: expect.stringContaining('none yet') },
    ]);
    const file = join(dataDir, 'master.key');
    writeFileSync(file, `${KEY}\n`, { mode: 0o600 });
    expect(checkMasterKey(settings(), {})).toMatchObject([
      { level: 'warn', detail: expect.stringContaining('mode 600') },
    ]);
    expect(settings().masterKeys).toEqual([KEY]);
    chmodSync(file, 0o640);
    expect(checkMasterKey(settings(), {})).toMatchObject([{ level: 'fail', wayOut: `chmod 600 ${file}` }]);
    writeFileSync(file, 'short');
    expect(checkMasterKey(settings(), {})).toMatchObject([
      { level: 'fail', wayOut: expect.stringContaining('backup') },
    ]);
    expect(checkMasterKey(settings(), { PARLEY_MASTER_KEY: KEY })).toMatchObject([{ level: 'ok' }]);
    expect(JSON.stringify(checkMasterKey(settings(), {}))).not.toContain(KEY);
    writeFileSync(join(dataDir, 'runtime.json'), JSON.stringify({ masterKeyFile: null }));
    expect(checkMasterKey(settings(), {})).toMatchObject([
      { level: 'warn', detail: expect.stringContaining('running') },
    ]);
    // Which the running service was given, as systemd gives it.
    const masterKeyFile = join(folder, 'credential');
    writeFileSync(masterKeyFile, KEY, { mode: 0o400 });
    writeFileSync(join(dataDir, 'runtime.json'), JSON.stringify({ masterKeyFile }));
    expect(checkMasterKey(settings(), {})).toMatchObject([
      { level: 'ok', name: 'master key', detail: `in ${masterKeyFile} (mode 400)` },
    ]);
  });
});

describe('parley doctor', () => {
  it('goes on with what can be checked when settings are at fault', async () => {
    const results = await examine({
      environment: { PORT: 'many', PARLEY_DATA_DIR: folder },
      selfCheckEntry: () => {
        throw new Error('not built');
      },
      engineSpeedEntry: () => '',
    });
    expect(results[0]).toMatchObject({ name: 'settings', level: 'fail', detail: expect.stringContaining('PORT') });
    expect(levels(results)).toContain('socket server: fail');
    expect(levels(results)).toContain('Node: ok');
  });

  it('ends with 1 when a line fails, and says every way out; --json gives the same', async () => {
    const environment = {
      DATABASE_URL: 'postgresql://u:secret-canary@127.0.0.1:1/x',
      PARLEY_DATA_DIR: join(folder, 'cli'),
    };
    const run = async (words: string[]): Promise<{ code: number; out: string }> => {
      let out = '';
      const write = (text: string): void => {
        out += text;
      };
      const code = await runCli(words, { environment, write, writeError: write, readInput: async () => '' });
      return { code, out };
    };
    const plain = await run(['doctor', ...DOCTOR_PATIENCE]);
    expect(plain.code).toBe(1);
    expect(plain.out).toMatch(/FAIL.*database: does not answer \(ECONNREFUSED\)\n +Check DATABASE_URL/);
    expect(plain.out).toMatch(/\d+ ok, \d+ to look at, [1-9] failed\n$/);
    const { ok, checks } = JSON.parse((await run(['doctor', '--json', ...DOCTOR_PATIENCE])).out);
    expect(ok).toBe(false);
    expect(checks.find((check: CheckResult) => check.name === 'database')).toMatchObject({ level: 'fail' });
    expect(plain.out).not.toContain('canary');
  });
});
