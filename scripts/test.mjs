/**
 * `npm test`: everything. Installs what tests need, builds, checks, runs unit and integration tests, and ends with
 * `N passed, N failed, N skipped`; a test that passed only the second time is named before that. Arguments are passed
 * on to vitest (`npm test -- test/unit/media`): then only those run. `PARLEY_TEST_COSTS=1`: with what each file cost.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ensurePackages, hasCommand } from './bootstrap.mjs';
import { leaksIn } from './suite-log.mjs';
import { costTable } from './test-costs.mjs';
import { notesFolder, runEverything, runOnly } from './test-lanes.mjs';

/**
 * Debian packages that tests need: a recogniser with a model for free dictation and a judge of Opus files, both not
 * ours, a browser, a Redis to stop, FFmpeg for clips, and a proxy with its certificate to stand behind.
 */
const DEBIAN_PACKAGES = [
  { command: 'pocketsphinx_continuous', packages: ['pocketsphinx', 'pocketsphinx-en-us'] },
  { command: 'opusinfo', packages: ['opus-tools'] },
  { command: 'chromium', packages: ['chromium'] },
  { command: 'redis-server', packages: ['redis-server'] },
  { command: 'ffmpeg', packages: ['ffmpeg'] },
  { command: 'nginx', packages: ['nginx-light'] },
  { command: 'openssl', packages: ['openssl'] },
];

/** Resolves when there is nothing more to install; begun at once, and on its way while npm installs. */
async function ensureDebianPackages() {
  const missing = DEBIAN_PACKAGES.filter(({ command }) => !hasCommand(command)).flatMap(({ packages }) => packages);
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || !hasCommand('apt-get')) {
    console.log(
      `Tests that need ${missing.join(', ')} will be skipped; install: sudo apt-get install ${missing.join(' ')}`,
    );
    return;
  }
  console.log(`installing ${missing.join(', ')}`);
  // A shell goes on by itself while this process waits for npm, and where npm failed: the next run waits for its lock.
  const install = 'apt-get install -y -q -o DPkg::Lock::Timeout=120 --no-install-recommends "$@"';
  const child = spawn('sh', ['-c', `${install} || { apt-get update -q && ${install}; }`, 'sh', ...missing], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const isInstalled = await new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
  if (!isInstalled) console.log(`could not install ${missing.join(', ')}: the tests that need them will be skipped`);
}

const only = process.argv.slice(2);
const debian = only.length === 0 ? ensureDebianPackages() : undefined;
ensurePackages({ whole: true });
ensureBuilt();
await debian;
mkdirSync(notesFolder, { recursive: true });
const suiteLog = join(notesFolder, 'log.txt');
const costs = join(notesFolder, 'costs.txt');
const wantsCosts = Boolean(process.env.PARLEY_TEST_COSTS);
for (const file of [suiteLog, costs]) rmSync(file, { force: true });
const notes = { PARLEY_SUITE_LOG: suiteLog, PARLEY_TEST_COSTS: wantsCosts ? costs : '' };
const runs = only.length === 0 ? await runEverything(notes) : [await runOnly(only, notes)];
const total = { passed: 0, failed: 0, skipped: 0 };
for (const { code, counts } of runs) {
  for (const key of Object.keys(total)) total[key] += counts?.[key] ?? 0;
  // A run that ended badly without a failed test (a crash, an unhandled error) is a failure all the same.
  if (code !== 0 && !counts?.failed) total.failed++;
}
for (const line of costTable(costs)) console.log(line);
for (const { counts } of runs) for (const test of counts?.repeated ?? []) console.log(`repeated  ${test}`);
for (const { counts } of runs) for (const test of counts?.failures ?? []) console.log(`FAILED    ${test}`);
const logged = leaksIn(suiteLog);
if (logged !== null) {
  const { lines, leaks } = logged;
  console.log(
    `${leaks.length === 0 ? 'ok   ' : 'FAILED'} no planted secret in the ${lines} lines that Parley's processes logged`,
  );
  for (const leak of leaks.slice(0, 20)) console.log(`  ${leak}`);
  total[leaks.length === 0 ? 'passed' : 'failed']++;
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed === 0 ? 0 : 1);
