/**
 * What `npm start` says of the console: where it is and, while there is no user yet, the link that makes the first one.
 * The link goes to a terminal alone, as a log would keep it; elsewhere the command is named that makes one.
 */
import { openDatabase } from '../store/database.ts';
import { linkAddress, makeFirstUserLink } from '../users/one-time-links.ts';
import { hasAnybody } from '../users/people.ts';

export async function sayConsole(of: {
  databaseUrl: string;
  publicUrl: string;
  /** Somebody reads this, and nothing keeps it. */
  isTerminal: boolean;
  log(line: string): void;
}): Promise<void> {
  const { publicUrl, isTerminal, log } = of;
  const database = openDatabase({ connectionString: of.databaseUrl, maxConnections: 1, onIdleError: () => {} });
  try {
    if (await hasAnybody(database)) return;
    const link = isTerminal ? await makeFirstUserLink(database) : null;
    log(
      link === null
        ? 'nobody can sign in at the console yet: npx parley user link prints the address for the first user'
        : `the first user of the console signs up at ${linkAddress(localAddress(publicUrl), link.token)} (once, within a day)`,
    );
  } finally {
    await database.close();
  }
}

/** Browsers keep a session on a plain `localhost`, and 127.0.0.1 is another host to them. */
function localAddress(publicUrl: string): string {
  return publicUrl.replace(/^http:\/\/(127\.0\.0\.1|0\.0\.0\.0)(?=[:/]|$)/, 'http://localhost');
}
