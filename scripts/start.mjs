/** `npm start`: the service alone, for real use. Settings come from the environment (README, "Settings"). */
import { ensureBuilt, ensurePackages } from './bootstrap.mjs';

const HELP = `usage: npm start

Runs the service until SIGTERM or Ctrl-C, which let live calls finish; once more ends at once. It takes no options: settings are
environment variables (README, "Settings"), such as PORT, PUBLIC_URL, DATABASE_URL, PARLEY_DATA_DIR and CARRIER_API_BASE_PLIVO.
`;
const given = process.argv.slice(2);
if (given.length > 0) {
  const isHelp = given.every((word) => word === '--help' || word === '-h');
  process[isHelp ? 'stdout' : 'stderr'].write(isHelp ? HELP : `'${given.join(' ')}' is no option.\n\n${HELP}`);
  process.exit(isHelp ? 0 : 2);
}
ensurePackages();
ensureBuilt();
await import('../dist/src/supervisor/main.js');
