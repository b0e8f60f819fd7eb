/**
 * The load tester: `npm run bench -- load`, `npx parley bench`. Runs a workload against a target (the default),
 * compares two stored results, shows a stored one, writes the known signal. Exit codes: 0 all well, 1 something failed,
 * 2 wrong use, 3 the tool could not judge, 130 stopped by Ctrl-C.
 */
import { startFault } from './run/descriptor-limit.ts';
import { EXIT } from './run/exit-code.ts';

const fault = startFault();
if (fault !== null) {
  process.stderr.write(`${fault}\n`);
  process.exit(EXIT.wrongUse);
}
// Only now: its modules are files too.
const [{ loadTester }, { runCommand }] = await Promise.all([import('./program.ts'), import('./run-command.ts')]);

const program = loadTester(async (flags) => {
  process.exit(await runCommand(flags));
});
// What commander refuses is wrong use, which is 2 here and 1 there.
program.exitOverride((refusal) => process.exit(refusal.exitCode === 0 ? EXIT.well : EXIT.wrongUse));
for (const command of program.commands) command.copyInheritedSettings(program);
await program.parseAsync();
