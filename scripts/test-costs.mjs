/**
 * What each test file cost, as `test/support/cost-setup.ts` noted it, in a table: the dearest first. For `npm test`
 * with `PARLEY_TEST_COSTS=1`.
 */
import { existsSync, readFileSync } from 'node:fs';

/** Cheaper ones are one line together. */
const WORTH_A_LINE_CPU_SECONDS = 1;

/** A file that was repeated, or that several projects run, is in several notes. */
export function costTable(notes) {
  if (!existsSync(notes)) return [];
  const files = new Map();
  for (const line of readFileSync(notes, 'utf8').split('\n').filter(Boolean)) {
    const { file, cpu, wall } = JSON.parse(line);
    const before = files.get(file) ?? { cpu: 0, wall: 0 };
    files.set(file, { cpu: before.cpu + cpu, wall: before.wall + wall });
  }
  const all = [...files].map(([file, cost]) => ({ file, ...cost })).sort((a, b) => b.cpu - a.cpu);
  const dear = all.filter(({ cpu }) => cpu >= WORTH_A_LINE_CPU_SECONDS);
  const sum = (rows, key) => rows.reduce((total, row) => total + row[key], 0);
  const cheap = all.slice(dear.length);
  const row = (cpu, wall, name) => `${cpu.toFixed(1).padStart(8)} ${wall.toFixed(1).padStart(8)}  ${name}`;
  return [
    'CPU, s  wall, s  test file',
    ...dear.map(({ file, cpu, wall }) => row(cpu, wall, file)),
    row(sum(cheap, 'cpu'), sum(cheap, 'wall'), `${cheap.length} more`),
    row(sum(all, 'cpu'), sum(all, 'wall'), 'all of them'),
  ];
}
