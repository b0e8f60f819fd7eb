/**
 * Somebody with a key for leads who sends files that are hard to read: quotes that are opened again and again and never
 * closed, ten million lines of nothing. Bounded: so many at once, so many in all. Used by the
 * bench and the test of sieges.
 */
import { randomBytes } from 'node:crypto';
import { openDatabase } from '../../src/store/database.ts';
import { createApiKey } from '../../src/workspaces/api-keys.ts';
import { createWorkspace, setApiEnabled } from '../../src/workspaces/workspaces.ts';
import { inTurn, type TurnSiege } from './in-turn.ts';

export interface FileSiegeOptions {
  baseUrl: string;
  /** With the scope `leads:write`. */
  apiKey: string;
  /** Sent in turn. */
  files: readonly string[];
  atOnce: number;
  inAll: number;
}

const HEADER = 'phone,name\n';
const LARGEST_BYTES = 10 * 1024 * 1024;
const filled = (piece: string, bytes = LARGEST_BYTES): string =>
  HEADER + piece.repeat(Math.floor((bytes - HEADER.length) / Buffer.byteLength(piece)));

export const HOSTILE_FILES = {
  /**
   * Each line opens a quote or closes it in front of nothing: what begins at any of them is
   * read on for a hundred lines.
   */
  quotes: () => filled('"\n', 7 * 1024),
  /** The same, with as much in each line as a row may have. */
  longQuotes: () => filled(`"${'x"",'.repeat(150)}\n`),
  /** Each line ends inside of a quote, from wherever it is read. */
  reopened: () => filled(`x",",${'y'.repeat(600)}\n`),
  /** Rows that are none, so that no number of rows ends it. */
  emptyQuotes: () => filled('""\n'),
  emptyLines: () => filled('\n'),
  oneLine: () => filled('"'),
} as const satisfies Record<string, () => string>;

export function besiegeWithFiles({ baseUrl, apiKey, files, ...bounds }: FileSiegeOptions): TurnSiege {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'text/csv' };
  return inTurn(bounds, async (turn) => {
    const url = `${baseUrl}/api/developer/leads/import`;
    const answer = await fetch(url, { method: 'POST', headers, body: files[turn % files.length]! });
    await answer.text();
    return String(answer.status);
  });
}

/** The key of a workspace that has nothing to do with anybody else's. */
export async function strangersKey(databaseUrl: string): Promise<string> {
  const database = openDatabase({ connectionString: databaseUrl, maxConnections: 1, onIdleError: () => {} });
  const slug = `stranger-${randomBytes(4).toString('hex')}`;
  try {
    await createWorkspace(database, { slug, name: slug });
    await setApiEnabled(database, { slug, enabled: true });
    return (await createApiKey(database, { slug, name: 'files', scopes: ['leads:write'] })).text;
  } finally {
    await database.close();
  }
}
