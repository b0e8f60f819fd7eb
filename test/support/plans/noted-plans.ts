/**
 * How PostgreSQL really ran what it was asked, statements inside functions and triggers included: `auto_explain` tells
 * each session of each statement's plan as a notice, which is noted where the driver hears it. Plans are generic, as
 * they come to be when a text has been asked often, but of what is planned each time. Nothing is asked twice and no
 * text is copied.
 */
import { closeSync, openSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { Database, Queryable } from '../../../src/store/database.ts';
import { NAMES_DAYS } from '../../../src/store/day-tables.ts';
import { isPlannedEachTime, PLAN_EACH_TIME } from '../../../src/store/statements.ts';
import type { NotedPlan, PlanNode } from './judge-plans.ts';

export interface PlanNotes {
  /** Variables for the process whose sessions are to be noted. */
  readonly env: Readonly<Record<string, string>>;
  /** Those that came since the last time. */
  more(): NotedPlan[];
}

/** Of all sessions of a database that begin later. */
const SETTINGS = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_buffers': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_format': 'json',
  'auto_explain.log_level': 'notice',
  'auto_explain.log_parameter_max_length': '0',
  plan_cache_mode: 'force_generic_plan',
};

const GENERIC = 'SET plan_cache_mode = force_generic_plan';
/** For what is planned for its parameters each time. */
const CUSTOM = 'SET plan_cache_mode = force_custom_plan';

/** Loaded before all else of the process. */
const PRELOAD = `
const { appendFileSync } = require('node:fs');
const { Client } = require('node:module').createRequire(process.env.NOTED_ROOT)('pg');
const { connect, query } = Client.prototype;
Client.prototype.connect = function (...asked) {
  this.on('notice', ({ message }) => appendFileSync(process.env.NOTED_TO, JSON.stringify(message) + '\\n'));
  return connect.apply(this, asked);
};
Client.prototype.query = function (...asked) {
  const text = (typeof asked[0] === 'string' ? asked[0] : asked[0]?.text) ?? '';
  if (!text.startsWith('${PLAN_EACH_TIME}') && !${NAMES_DAYS}.test(text)) return query.apply(this, asked);
  return (async () => {
    await query.call(this, '${CUSTOM}').catch(() => {});
    try {
      return await query.apply(this, asked);
    } finally {
      await query.call(this, '${GENERIC}').catch(() => {});
    }
  })();
};`;

export async function tellPlans(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows } = await client.query<{ name: string }>('SELECT current_database() AS name');
  for (const [setting, value] of Object.entries(SETTINGS)) {
    await client.query(`ALTER DATABASE ${rows[0]!.name} SET ${setting} = '${value}'`);
  }
  await client.end();
}

/** In a folder of the test's own. */
export function notePlans(folder: string): PlanNotes {
  const preload = join(folder, 'note-plans.cjs');
  const notes = join(folder, 'plans.txt');
  writeFileSync(preload, PRELOAD);
  writeFileSync(notes, '');
  let readTo = 0;
  let half = '';
  return {
    env: {
      NODE_OPTIONS: `--require ${preload}`,
      NOTED_ROOT: join(import.meta.dirname, '../../../package.json'),
      NOTED_TO: notes,
    },
    more() {
      const [text, bytes] = textFrom(notes, readTo);
      readTo += bytes;
      const lines = (half + text).split('\n');
      half = lines.pop() ?? '';
      return lines.flatMap((line) => planIn(JSON.parse(line) as string));
    },
  };
}

function textFrom(path: string, fromByte: number): [text: string, bytes: number] {
  const file = openSync(path, 'r');
  const parts: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const part = Buffer.alloc(1 << 20);
    const count = readSync(file, part, 0, part.length, fromByte + bytes);
    if (count === 0) break;
    parts.push(part.subarray(0, count));
    bytes += count;
  }
  closeSync(file);
  return [Buffer.concat(parts).toString('utf8'), bytes];
}

function planIn(notice: string): NotedPlan[] {
  const from = notice.indexOf('{');
  if (!notice.startsWith('duration:') || from < 0) return [];
  const told = JSON.parse(notice.slice(from)) as { 'Query Text': string; Plan: PlanNode };
  const text = told['Query Text'].replace(PLAN_EACH_TIME, '').replace(/\s+/g, ' ').trim();
  return [{ text, plan: told.Plan }];
}

export interface NotingDatabase extends Database {
  readonly noted: readonly NotedPlan[];
}

/** A session of the test itself, for what the service asks once an hour, or after a fault. */
export async function openNoting(connectionString: string): Promise<NotingDatabase> {
  const client = new pg.Client({ connectionString });
  const noted: NotedPlan[] = [];
  client.on('notice', ({ message }) => noted.push(...planIn(message ?? '')));
  await client.connect();
  // One after the other, whoever asks beside.
  let last: Promise<unknown> = Promise.resolve();
  const asked: Queryable = {
    query<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
      const run = async (): Promise<Row[]> => {
        await client.query(isPlannedEachTime(sql) ? CUSTOM : GENERIC);
        return (await client.query<Row>(sql, [...parameters])).rows;
      };
      const answer = last.then(run);
      last = answer.catch(() => {});
      return answer;
    },
  };
  return {
    noted,
    ...asked,
    async transaction(work) {
      await client.query('BEGIN');
      try {
        const result = await work(asked);
        await client.query('COMMIT');
        return result;
      } catch (error) {
        await client.query('ROLLBACK');
        throw error;
      }
    },
    close: () => client.end(),
  };
}
