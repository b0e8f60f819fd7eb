/**
 * What the call log's index costs a call: the statements of a call's life (placed, ringing, answered, ended with a
 * transcript of 160 words) with the trigger and without it, one after the other on the full
 * database, and the longest single statement.
 */
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../src/store/database.ts';
import type { Tenant } from './generate.ts';

export interface InsertPrice {
  variant: string;
  lives: number;
  msPerLife: number;
  slowestStatementMs: number;
}

const LIVES = 1_000;

export async function measureInserts(database: Database, tenant: Tenant): Promise<InsertPrice[]> {
  const variants: [string, string[]][] = [
    ['without the index', ['ALTER TABLE calls DISABLE TRIGGER USER']],
    [
      'with it, GIN with its pending list',
      ['ALTER TABLE calls ENABLE TRIGGER USER', 'ALTER INDEX call_search_document SET (fastupdate = on)'],
    ],
    ['with it, GIN written at once', ['ALTER INDEX call_search_document SET (fastupdate = off)']],
    ['without the index, again', ['ALTER TABLE calls DISABLE TRIGGER USER']],
  ];
  const prices: InsertPrice[] = [];
  for (const [variant, settings] of variants) {
    for (const sql of settings) await database.query(sql);
    prices.push(await priceOf(database, tenant, variant));
  }
  await database.query('ALTER TABLE calls ENABLE TRIGGER USER');
  await database.query('ALTER INDEX call_search_document RESET (fastupdate)');
  return prices;
}

async function priceOf(database: Database, tenant: Tenant, variant: string): Promise<InsertPrice> {
  let slowest = 0;
  const made: string[] = [];
  const run = async (sql: string, parameters: readonly unknown[]): Promise<void> => {
    const fromMs = performance.now();
    await database.query(sql, parameters);
    slowest = Math.max(slowest, performance.now() - fromMs);
  };
  const fromMs = performance.now();
  for (let life = 0; life < LIVES; life++) {
    const callUuid = uuidv7();
    made.push(callUuid);
    await run(
      `INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, line_id, to_number, from_number, name, metadata, request_id, status, carrier)
       VALUES ($1, $2, $3, 1, $4, $5, '+14155550100', $6, $7, 'bench', 'dialing', 'plivo')`,
      [
        callUuid,
        tenant.workspaceId,
        tenant.agents.half,
        tenant.lines.half,
        `+1415555${1000 + life}`,
        `Name${life}`,
        { plan: 'gold', order: `o-${life}` },
      ],
    );
    await run(`UPDATE calls SET status = 'ringing', ringing_at = now() WHERE call_uuid = $1`, [callUuid]);
    await run(`UPDATE calls SET status = 'in_progress', answered_at = now() WHERE call_uuid = $1`, [callUuid]);
    for (let turn = 1; turn <= 4; turn++) {
      const heardText = Array.from(
        { length: 40 },
        (_none, at) => `word${Math.floor(5000 ** (((life * 7919 + turn * 104_729 + at * 1_299_709) % 1000) / 1000))}`,
      ).join(' ');
      await run(`INSERT INTO call_turns VALUES ($1, $2, $3, $4)`, [callUuid, `t${turn}`, turn, { heardText }]);
    }
    await run(
      `UPDATE calls SET status = 'completed', ended_reason = 'user_hangup', fault = 'none', ended_at = now(), transcript_status = 'ready' WHERE call_uuid = $1`,
      [callUuid],
    );
  }
  const msPerLife = (performance.now() - fromMs) / LIVES;
  for (const table of ['call_search', 'call_turns', 'calls']) {
    await database.query(`DELETE FROM ${table} WHERE call_uuid = ANY ($1::uuid[])`, [made]);
  }
  return { variant, lives: LIVES, msPerLife, slowestStatementMs: slowest };
}
