/**
 * What a user installs: the files that `npm pack` packs and nothing else, beside run-time packages only, in an empty
 * folder. As root on Linux it runs as a user without rights, and with a root that cannot be written but for its data.
 * It holds the demo's call.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../bench/harness/free-port.ts';
import { DOCTOR_PATIENCE } from '../support/doctor-patience.ts';
import { installPacked } from '../support/packed-package.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'parley-packed-'));
const app = join(folder, 'app');
const dataDir = join(folder, 'data');
const UID = 10_001;
let installed: string;
let files: string[];

beforeAll(() => {
  ({ installed, files } = installPacked(app));
  mkdirSync(dataDir);
  execFileSync('chmod', ['-R', 'a+rX', folder]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function canIsolate(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    execFileSync('unshare', ['-m', 'setpriv', '--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A mount namespace of its own: the data folder in memory, everything else read-only, `/tmp` too. */
function isolated(command: string[]): string[] {
  const passwd = join(folder, 'passwd');
  writeFileSync(passwd, `${readFileSync('/etc/passwd', 'utf8')}parley:x:${UID}:${UID}::/nonexistent:/bin/sh\n`);
  const script = `
    set -e
    mount --make-rprivate /
    mount -t tmpfs -o mode=0700,uid=${UID},gid=${UID} tmpfs ${dataDir}
    mount --bind ${passwd} /etc/passwd
    for mounted in $(awk '$2 ~ "^/(tmp|work|home|root|var)" { print $2 }' /proc/mounts); do
      case $mounted in ${dataDir}) ;; *) mount -o remount,bind,ro $mounted 2>/dev/null || true ;; esac
    done
    mount -o remount,bind,ro /
    cd ${dataDir}
    if touch /tmp/parley-writable 2>/dev/null; then echo "the root can be written"; exit 9; fi
    exec setpriv --reuid=${UID} --regid=${UID} --clear-groups --inh-caps=-all --bounding-set=-all "$@"`;
  return ['unshare', '-m', 'bash', '-c', script, 'bash', ...command];
}

async function run(words: string[], environment: Record<string, string>): Promise<{ code: number; out: string }> {
  const plain = [process.execPath, ...words];
  const [command = '', ...rest] = canIsolate() ? isolated(plain) : plain;
  const child = spawn(command, rest, {
    cwd: dataDir,
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out: out + err };
}

describe('the packed package', () => {
  test('has what runs and its licences, and neither sources nor tests', () => {
    for (const needed of [
      'LICENSE',
      'NOTICE',
      'README.md',
      'bin/parley.mjs',
      'docs/operations.md',
      'bench/demo/agent.json',
      'bench/demo/restaurant/agent.json',
      'bench/load/report/page/plots.mjs',
      'bench/load/report/page/report.css',
      'bench/emulators/personas/demo.json',
      'bench/load/workload/scenarios/quick.json',
      'src/store/migrations/0001_first_call.sql',
      'dist/media/self-check.js',
      'dist/reference/reference.js.gz',
      'dist/reference/reference.css.gz',
      'dist/reference/LICENSE',
      'dist/reference/NOTICE',
    ]) {
      expect(files).toContain(needed);
    }
    expect(files.filter((path) => /\.ts$|\.map$|^test\/|^dist\/test\/|\.built$/.test(path))).toEqual([]);
    const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { bin: Record<string, string> };
    for (const path of Object.values(bin)) expect(files).toContain(path);
    for (const ofTheBuild of ['typescript', 'swagger-ui-dist', 'esbuild', 'es-module-lexer']) {
      expect(existsSync(join(app, 'node_modules', ofTheBuild))).toBe(false);
    }
  });

  test('runs its load tester, with the scenarios that are ready', async () => {
    const { code, out } = await run([join(installed, 'bin', 'parley.mjs'), 'bench', '--dry-run'], {});
    expect(out).toContain('begin a second');
    expect(code).toBe(0);
  });

  test('runs its command line and starts its media parts', async () => {
    const { code, out } = await run([join(installed, 'bin', 'parley.mjs'), 'doctor', '--json', ...DOCTOR_PATIENCE], {
      PORT: String(await freePort()),
      PARLEY_METRICS_PORT: String(await freePort()),
    });
    const { checks } = JSON.parse(out) as { checks: { name: string; level: string; detail: string }[] };
    expect(checks.filter(({ level }) => level === 'fail')).toEqual([]);
    expect(checks.find(({ name }) => name === 'socket server')).toBeDefined();
    expect(code).toBe(0);
  });

  test("holds the demo's call", async () => {
    const environment = { TMPDIR: dataDir, PARLEY_ADMISSION: 'counted' };
    const { code, out } = await run([join(installed, 'bin', 'parley-demo.mjs'), '--once'], environment);
    expect(out).toContain('The conversation really happened.');
    expect(out).toContain('signature verified');
    expect(code).toBe(0);
  });
});
