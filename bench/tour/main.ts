/**
 * `npm run tour`: every row of the specification, in its order, working against local emulators: the row's words, each
 * request and its answer, and what to look at. Ends with exit code 0 only if all rows hold.
 */
import pc from 'picocolors';
import { readOptions } from '../harness/options.ts';
import { type Outcome, runTour } from './run-tour.ts';

readOptions({
  command: 'npm run tour',
  about: 'Every row of the specification, shown working against local emulators.',
  options: {},
  meanings: {},
});
const began = performance.now();
const print = (line: string): void => void process.stdout.write(`${line}\n`);
let section = '';
let number = 0;

function show({ section: title, row, look, exchanges, fault }: Outcome): void {
  if (title !== section) {
    section = title;
    print(`\n${pc.bold(`## ${title}`)}`);
  }
  number++;
  print(`\n${fault === null ? pc.green('✓') : pc.red('✗')} ${pc.bold(`${number}. ${row}`)}`);
  for (const { request, answer } of exchanges) {
    print(`  ${pc.cyan('→')} ${request.replaceAll('\n', '\n    ')}`);
    print(`  ${pc.yellow('←')} ${answer.replaceAll('\n', '\n    ')}`);
  }
  print(fault === null ? pc.dim(`  Look: ${look}`) : pc.red(`  It does not hold: ${fault}`));
}

print(pc.bold('Parley, row by row: embedded PostgreSQL, control, a media process and a carrier emulator start …'));
const outcomes = await runTour((line) => print(pc.dim(line)), show);
const held = outcomes.filter(({ fault }) => fault === null).length;
const seconds = ((performance.now() - began) / 1_000).toFixed(0);
print(`\n${pc.bold(`${held} of ${outcomes.length} rows hold`)}, ${seconds} s.`);
process.exit(held === outcomes.length ? 0 : 1);
