/**
 * The checks that are no tests: format and lint, types, import directions, dead code. Counted like tests by `npm test`.
 * They run side by side, one a core, the longest first; each is reported when it ends. The compiler keeps what it found
 * in `node_modules/.cache`, so that the next run looks only at what changed and what depends on it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensurePackages, root } from './bootstrap.mjs';

/** A cruise that saw fewer modules than this saw the wrong tree. */
const MINIMUM_MODULES = 120;

const bin = (name) => join(root, 'node_modules', '.bin', name);

/**
 * Checks the types of the project in `folder`, with the compiler's native port on one core: a third of the processor's
 * time. Which of what was kept still holds is its own account: of files, options and versions.
 */
const typesOf = (folder, name) => [
  process.execPath,
  ...[join(root, 'node_modules', 'typescript-native', 'bin', 'tsc'), '--singleThreaded'],
  ...['--noEmit', '-p', folder, '--incremental'],
  ...['--tsBuildInfoFile', join(root, 'node_modules', '.cache', 'parley', `${name}.tsbuildinfo`)],
];
/** The longest first: what comes last has the least to wait for. */
const CHECKS = [
  { name: 'types', command: typesOf('.', 'all') },
  { name: 'format and lint', command: [bin('biome'), 'ci', '--error-on-warnings', '.'] },
  {
    name: 'import directions',
    command: [bin('depcruise'), 'src', 'media', 'widget', 'bench', 'test', 'clients', 'console'],
    judge: enoughModules,
  },
  { name: 'one list of carriers', command: [process.execPath, 'scripts/check-carriers.mjs'] },
  { name: 'comments within the width', command: [process.execPath, 'scripts/check-comments.mjs'] },
  { name: 'dead code', command: [bin('knip'), '--no-progress'] },
  { name: 'types of the widget', command: typesOf('widget', 'widget') },
  { name: 'types of the console', command: typesOf('console', 'console') },
  { name: 'types of the client by itself', command: typesOf('clients/typescript', 'client') },
  { name: 'the client is what /openapi.json says', command: [process.execPath, 'scripts/build-client.mjs', '--check'] },
  { name: 'sizes of the widget', command: [process.execPath, 'scripts/build-widget.mjs'] },
  { name: 'sizes of the console', command: [process.execPath, 'scripts/build-console.mjs'] },
];

function enoughModules(output) {
  const modules = Number(/(\d+) modules/.exec(output)?.[1] ?? 0);
  return modules >= MINIMUM_MODULES ? null : `only ${modules} modules were cruised, at least ${MINIMUM_MODULES} exist`;
}

/**
 * Git's marks of a merge that nobody finished: one of the three fences is enough, a line of `=`
 * alone may underline a title.
 */
const CONFLICT_MARK = /^(<{7}|\|{7}|>{7})( |$)/;

/** `file:line` of each mark in the files that git tracks, whatever their kind. */
export function conflictMarks(folder) {
  const listed = spawnSync('git', ['ls-files', '-z'], { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (listed.status !== 0) return null;
  return listed.stdout
    .split('\0')
    .filter((file) => file !== '')
    .flatMap((file) => marksIn(folder, file));
}

function marksIn(folder, file) {
  let lines;
  try {
    lines = readFileSync(join(folder, file), 'latin1').split(/\r?\n/);
  } catch {
    // Deleted and not yet committed so, or a link to nowhere.
    return [];
  }
  return lines.flatMap((line, index) => (CONFLICT_MARK.test(line) ? [`${file}:${index + 1}`] : []));
}

/** Null where there is nothing to look at: a copy without git. */
function conflictFault() {
  const marks = conflictMarks(root);
  return marks === null || marks.length === 0 ? null : `A merge was left unfinished:\n  ${marks.join('\n  ')}\n`;
}

function report(counts, name, fault) {
  if (fault === null) counts.passed++;
  else counts.failed++;
  console.log(fault === null ? `ok    ${name}` : `FAIL  ${name}\n${fault}`);
}

/** Its exit code, and all that it said; a command that cannot be started has no code. */
function outcomeOf([command, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('error', (error) => resolve({ code: null, output: `${error.message}\n` }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

/** `under`: what each is run by, such as `nice`. */
export async function runChecks({ under = [] } = {}) {
  const counts = { passed: 0, failed: 0 };
  report(counts, 'no marks of an unfinished merge', conflictFault());
  const left = [...CHECKS];
  const work = async () => {
    for (let check = left.shift(); check !== undefined; check = left.shift()) {
      const { code, output } = await outcomeOf([...under, ...check.command]);
      report(counts, check.name, code === 0 ? (check.judge?.(output) ?? null) : output);
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), CHECKS.length) }, work));
  return counts;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  ensurePackages({ whole: true });
  process.exit((await runChecks()).failed === 0 ? 0 : 1);
}
