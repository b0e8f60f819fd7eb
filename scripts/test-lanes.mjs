/**
 * The whole of the tests in lanes side by side, because each by itself leaves the processor idle for much of its time:
 * conversations in real time wait for speech, services for their start, load tests for calls to end. Who talks is heard
 * in time, so all else takes what is left: the checks and the unit tests first, beside what mostly waits, then what
 * starts services and browsers. On a machine that is busy with something else, who waits comes behind who talks, and
 * services and browsers behind both: of what is left there, each would get too little to hear or to be seen in time.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { hasCommand, root } from './bootstrap.mjs';
import { runChecks } from './check.mjs';
import { idleShare } from './idle-share.mjs';

/** Vitest runs one after another what of one run has different numbers of workers, so they are different runs. */
const TALK = ['alone', 'visits', 'storms'];
const WAITS = ['waits'];
const PROCESSES = ['integration', 'by itself', 'browser'];
/** Less of it is idle before anything is begun: something else takes the rest. */
const LEAST_IDLE_SHARE = 0.75;
const LOOKED_AT_FOR_MS = 2_000;

/** A third of the weight of who talks, so that it goes on also where those fill the machine. */
const BEHIND = ['nice', '-n', '5'];

/** What a run notes of itself. Of `dist` only the folder `test` is not packed: a file that grows cannot be. */
export const notesFolder = join(root, 'dist', 'test', 'notes');

const children = new Set();
/** Nothing is begun any more. */
let isStopped = false;

/** Lines stay whole, and each lane's in their order. */
function passLinesOn(from, to) {
  let rest = '';
  from.setEncoding('utf8').on('data', (text) => {
    const end = text.lastIndexOf('\n') + 1;
    if (end === 0) rest += text;
    else {
      to.write(rest + text.slice(0, end));
      rest = text.slice(end);
    }
  });
  from.on('end', () => to.write(rest));
}

/** A run of vitest to its end: its exit code and counts. `beside` others it does not draw on the terminal. */
function runVitest(name, args, notes, { under = [], beside = true } = {}) {
  const countsFile = join(notesFolder, `counts-${name}.json`);
  rmSync(countsFile, { force: true });
  if (isStopped) return Promise.resolve({ code: null, counts: null });
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const [command, ...words] = [...under, process.execPath, vitest, 'run', ...args];
  const child = spawn(command, words, {
    cwd: root,
    stdio: beside ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      ...(beside && process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}),
      ...notes,
      PARLEY_TEST_COUNTS: countsFile,
    },
  });
  children.add(child);
  if (beside) {
    passLinesOn(child.stdout, process.stdout);
    passLinesOn(child.stderr, process.stderr);
  }
  return new Promise((resolve) => {
    child.on('error', () => resolve({ code: null, counts: null }));
    child.on('close', (code) => {
      children.delete(child);
      resolve({ code, counts: existsSync(countsFile) ? JSON.parse(readFileSync(countsFile, 'utf8')) : null });
    });
  });
}

/** What is stopped ends with those that it started; a terminal tells them itself of Ctrl-C. */
function endTogether() {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      isStopped = true;
      if (signal !== 'SIGINT') for (const child of children) child.kill(signal);
    });
  }
}

const projectArgs = (projects) => projects.flatMap((project) => ['--project', project]);

async function runComputing(notes, under) {
  const checks = await runChecks({ under });
  const units = [...projectArgs(['unit']), `--maxWorkers=${availableParallelism() + 1}`];
  return [
    { code: 0, counts: { ...checks, skipped: 0, repeated: [], failures: [] } },
    await runVitest('unit', units, notes, { under }),
  ];
}

/** `notes`: variables that name files for what tests note. Code and counts of each run. */
export async function runEverything(notes) {
  endTogether();
  const under = hasCommand(BEHIND[0]) ? BEHIND : [];
  const idle = await idleShare(LOOKED_AT_FOR_MS);
  const isBusy = idle < LEAST_IDLE_SHARE;
  if (isBusy) console.log(`this machine is ${Math.round(100 * idle)} % idle: fewer lanes stand beside each other`);
  const talk = runVitest('talk', projectArgs(TALK), notes);
  const runWaits = (options) => runVitest('waits', projectArgs(WAITS), notes, options);
  const waits = isBusy ? talk.then(() => runWaits({})) : runWaits({ under });
  const computed = await runComputing(notes, under);
  if (isBusy) await waits;
  const processes = await runVitest('processes', projectArgs(PROCESSES), notes, isBusy ? {} : { under });
  return [...computed, processes, await waits, await talk];
}

/** `args`: vitest's. */
export function runOnly(args, notes) {
  endTogether();
  return runVitest('only', args, notes, { beside: false });
}
