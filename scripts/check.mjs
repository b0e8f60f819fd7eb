/** The checks that are no tests: format and lint, types, import directions, dead code. Counted like tests by `npm test`. */
import { spawnSync } from 'node:child_process';
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

export function runChecks() {
  const counts = { passed: 0, failed: 0 };
  for (const { name, command, judge } of CHECKS) {
    const done = spawnSync(command[0], command.slice(1), { cwd: root, encoding: 'utf8' });
    const output = `${done.stdout ?? ''}${done.stderr ?? ''}`;
    const fault = done.status === 0 ? (judge?.(output) ?? null) : output;
    if (fault === null) counts.passed++;
    else counts.failed++;
    console.log(fault === null ? `ok    ${name}` : `FAIL  ${name}\n${fault}`);
  }
  return counts;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  ensurePackages();
  process.exit(runChecks().failed === 0 ? 0 : 1);
}
