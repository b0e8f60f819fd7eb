/**
 * Runs one of several programs of this repository by its name, built first if needed: `bench.mjs` and `fault.mjs`.
 * Without a name, or with one that is not there, it says which there are.
 */
import { join } from 'node:path';
import { ensureBuilt, ensurePackages, root } from './bootstrap.mjs';

/**
 * `command` is `npm run …`; `folder` holds one folder a scenario, each with a `main.ts`; `scenarios` says what each
 * does; `moved` names a scenario that has another command now, and that command; `elsewhere` those of another folder.
 */
export async function runScenario({ command, folder, scenarios, moved = {}, elsewhere = {} }) {
  const [scenario, ...rest] = process.argv.slice(2);
  if (Object.hasOwn(moved, scenario ?? '')) {
    console.error(`'${scenario}' has moved; run: ${[moved[scenario], ...rest].join(' ')}`);
    process.exit(2);
  }
  if (!Object.hasOwn(scenarios, scenario ?? '')) {
    const isAsked = scenario === undefined || scenario === '--help' || scenario === '-h';
    const say = isAsked ? console.log : console.error;
    if (!isAsked) say(`'${command}' knows no '${scenario}'.`);
    say(`${command} -- <scenario>; scenarios:`);
    for (const [name, what] of Object.entries(scenarios)) say(`  ${name.padEnd(15)} ${what}`);
    say(`What one takes: ${command} -- ${Object.keys(scenarios)[0]} --help`);
    process.exit(isAsked ? 0 : 2);
  }
  ensurePackages({ whole: true });
  ensureBuilt();
  const entry = join(root, 'dist', elsewhere[scenario] ?? folder, scenario, 'main.js');
  process.argv = [process.argv[0], entry, ...rest];
  await import(entry);
}
