/**
 * Stored runs without a run: `node dist/bench/load/stored.js compare before.json after.json`, `… report run.json`. The
 * same commands as those of the load tester itself, which also finds them here.
 */
import { Command } from 'commander';
import { addCompareCommand } from './compare-command.ts';
import { addReportCommand } from './report-command.ts';

const program = new Command('parley bench').description('Read stored results of load tests.');
addCompareCommand(program);
addReportCommand(program);
// What commander refuses is wrong use, which is 2 here and 1 there.
program.exitOverride((fault) => process.exit(fault.exitCode === 0 ? 0 : 2));
for (const command of program.commands) command.copyInheritedSettings(program);
program.parse();
