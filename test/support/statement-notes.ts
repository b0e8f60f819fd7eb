/**
 * Counts what a service's control process asks of PostgreSQL: each statement is noted where the driver sends it, so
 * that nothing lags and nobody else is counted. Used by tests of what a call costs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface StatementNotes {
  /** Variables for the control process. */
  readonly env: Readonly<Record<string, string>>;
  /** Of statements that were sent from one time to another, `Date.now()`. */
  between(fromEpochMs: number, toEpochMs: number): Counted;
}

export interface Counted {
  /** Without BEGIN, COMMIT and ROLLBACK. */
  statements: number;
  /** Transactions; a statement by itself is one. */
  commits: number;
  /** The beginning of each text, with how often it was sent: the most frequent first. */
  texts: string[];
}

/** Loaded before all else of the process. */
const PRELOAD = `
const { appendFileSync } = require('node:fs');
const { Client } = require('node:module').createRequire(process.env.NOTED_ROOT)('pg');
const { query } = Client.prototype;
let clients = 0;
Client.prototype.query = function (...asked) {
  this.notedAs ??= ++clients;
  const text = (typeof asked[0] === 'string' ? asked[0] : asked[0]?.text) ?? '';
  const line = JSON.stringify([Date.now(), this.notedAs, text.replace(/\\s+/g, ' ').trim().slice(0, 100)]);
  appendFileSync(process.env.NOTED_TO, line + '\\n');
  return query.apply(this, asked);
};`;

/** In a folder of the test's own. */
export function noteStatements(folder: string): StatementNotes {
  const preload = join(folder, 'note-statements.cjs');
  const notes = join(folder, 'statements.txt');
  writeFileSync(preload, PRELOAD);
  writeFileSync(notes, '');
  return {
    env: {
      NODE_OPTIONS: `--require ${preload}`,
      NOTED_ROOT: join(import.meta.dirname, '../../package.json'),
      NOTED_TO: notes,
    },
    between(fromEpochMs, toEpochMs) {
      const lines = readFileSync(notes, 'utf8').split('\n').slice(0, -1);
      const sent = lines.map((line) => JSON.parse(line) as [number, number, string]);
      return counted(sent.filter(([atEpochMs]) => atEpochMs >= fromEpochMs && atEpochMs < toEpochMs));
    },
  };
}

function counted(sent: readonly (readonly [number, number, string])[]): Counted {
  const inTransaction = new Set<number>();
  const times = new Map<string, number>();
  let commits = 0;
  for (const [, client, text] of sent) {
    if (text === 'BEGIN') {
      inTransaction.add(client);
      commits++;
    } else if (text === 'COMMIT' || text === 'ROLLBACK') inTransaction.delete(client);
    else {
      if (!inTransaction.has(client)) commits++;
      times.set(text, (times.get(text) ?? 0) + 1);
    }
  }
  const often = [...times].sort(([, one], [, other]) => other - one);
  const statements = often.reduce((sum, [, count]) => sum + count, 0);
  return { statements, commits, texts: often.map(([text, count]) => `${count} ${text}`) };
}
