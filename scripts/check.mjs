/** The checks that are no tests: format and lint, types, import directions, dead code. Counted like tests by `npm test`. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensurePackages, root } from './bootstrap.mjs';

/** A cruise that saw fewer modules than this saw the wrong tree. */
const MINIMUM_MODULES = 120;

const bin = (name) => join(root, 'node_modules', '.bin', name);
const CHECKS = [
  { name: 'format and lint', command: [bin('biome'), 'ci', '--error-on-warnings', '.'] },
  { name: 'types', command: [bin('tsc'), '--noEmit', '-p', '.'] },
  { name: 'types of the widget', command: [bin('tsc'), '--noEmit', '-p', 'widget'] },
  { name: 'sizes of the widget', command: [process.execPath, 'scripts/build-widget.mjs', '--check'] },
  { name: 'the client is what /openapi.json says', command: [process.execPath, 'scripts/build-client.mjs', '--check'] },
  { name: 'types of the client by itself', command: [bin('tsc'), '--noEmit', '-p', 'clients/typescript'] },
  {
    name: 'import directions',
    command: [bin('depcruise'), 'src', 'media', 'widget', 'bench', 'test', 'clients'],
    judge: enoughModules,
  },
  { name: 'dead code', command: [bin('knip'), '--no-progress'] },
];

function enoughModules(output) {
  const modules = Number(/(\d+) modules/.exec(output)?.[1] ?? 0);
  return modules >= MINIMUM_MODULES ? null : `only ${modules} modules were cruised, at least ${MINIMUM_MODULES} exist`;
}

/** Git's marks of a merge that nobody finished: one of the three fences is enough, a line of `=` alone may underline a title. */
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

export function runChecks() {
  const counts = { passed: 0, failed: 0 };
  report(counts, 'no marks of an unfinished merge', conflictFault());
  for (const { name, command, judge } of CHECKS) {
    const done = spawnSync(command[0], command.slice(1), { cwd: root, encoding: 'utf8' });
    const output = `${done.stdout ?? ''}${done.stderr ?? ''}`;
    const fault = done.status === 0 ? (judge?.(output) ?? null) : output;
    report(counts, name, fault);
  }
  return counts;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  ensurePackages();
  process.exit(runChecks().failed === 0 ? 0 : 1);
}
