/**
 * The plans of what the service asks PostgreSQL, in a database that has been in use for a week: no statement that it
 * sends while calls run reads a table whole that grows with them, and none looks at more than its work is worth.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConsolePerson, signInPerson } from '../../bench/console/person.ts';
import { briefAgent } from '../../bench/harness/brief-agent.ts';
import { CallClient } from '../../bench/harness/call-client.ts';
import { freePort } from '../../bench/harness/free-port.ts';
import { type Gateway, makeWorkspace, startGateway } from '../../bench/harness/gateway.ts';
import { PATIENCE_MS } from '../../bench/harness/patience.ts';
import { openPatientDatabase } from '../../bench/harness/patient-database.ts';
import type { Call } from '../../clients/typescript/src/client.ts';
import { systemClock } from '../../media/contract/clock.ts';
import { readCallViews } from '../../src/api/calls/call-view.ts';
import { BY_OPERATOR } from '../../src/audit/audit-entry.ts';
import { type CallPlace, searchCalls } from '../../src/call-log/call-log-search.ts';
import { purgeLimits } from '../../src/limits/postgres-store.ts';
import { createRecordingLinks } from '../../src/recordings/recording-links.ts';
import { createRetentionPurge } from '../../src/retention/retention-purge.ts';
import { setRetention } from '../../src/retention/retention-rules.ts';
import { createSealer } from '../../src/sealing/sealer.ts';
import type { Database } from '../../src/store/database.ts';
import { beginIdempotent, holdIfCallExists, purgeIdempotencyKeys } from '../../src/store/idempotency-keys.ts';
import { createDeliveryStore } from '../../src/webhooks/delivery-store.ts';
import { boundBacklogs, purgeWebhooks } from '../../src/webhooks/purge.ts';
import { createApiKey, SCOPES } from '../../src/workspaces/api-keys.ts';
import { eventually } from '../support/eventually.ts';
import {
  type FilledWorkspace,
  type FilledWorkspaces,
  fillDatabase,
  forgottenTables,
  GROWING_TABLES,
  timersAreOver,
} from '../support/plans/filled-database.ts';
import { HOT_STATEMENTS, mostOf } from '../support/plans/hot-statements.ts';
import { type NotedPlan, planFaults, type Tables } from '../support/plans/judge-plans.ts';
import { type NotingDatabase, notePlans, openNoting, type PlanNotes, tellPlans } from '../support/plans/noted-plans.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { settingsOn } from '../support/test-gateway.ts';

const CALLEE = '+1415555*';
const HOUR_MS = 3_600_000;

let folder: string;
let stored: TestDatabase;
let notes: PlanNotes;
let gateway: Gateway;
let database: Database;
let asked: NotingDatabase;
let workspaces: FilledWorkspaces;
let client: CallClient;
let person: ConsolePerson;
let apiKey: string;
let metricsUrl: string;
const seen: NotedPlan[] = [];
let tries = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-hot-plans-'));
  stored = await createTestDatabase();
  await tellPlans(stored.connectionString);
  notes = notePlans(folder);
  const metricsPort = await freePort();
  metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  const settings = { concurrentCalls: 1_000, callsPerSecond: 100, agent: briefAgent() };
  gateway = await startGateway({
    ...settings,
    dataDir: join(folder, 'data'),
    personas: [{ kind: 'silent', name: 'callee', number: CALLEE, ringMs: 200 }],
    settings: { ...settingsOn(stored), PARLEY_METRICS_PORT: String(metricsPort) },
    controlEnv: notes.env,
    keepAudio: false,
    log: () => {},
  });
  database = openPatientDatabase(stored.connectionString);
  person = await signInPerson(gateway.service.publicUrl, database);
  const { enterprise, agentId, lineId } = gateway;
  const another = async (): Promise<FilledWorkspace> => {
    const { service, emulator, receiver } = gateway;
    return filledOf(await makeWorkspace(service, emulator, receiver, settings));
  };
  const first = await filledOf({ enterprise, agentId, lineId });
  workspaces = [first, await another(), await another(), await another()];
  const key = await createApiKey(database, { slug: enterprise, name: 'all', scopes: SCOPES });
  apiKey = key.text;
  client = new CallClient(gateway.service.publicUrl, apiKey);
  await fillDatabase(database, workspaces);
  asked = await openNoting(stored.connectionString);
  // What was asked of an empty database.
  notes.more();
});
afterAll(async () => {
  await asked?.close();
  await database?.close();
  await gateway?.stop();
  await stored?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function filledOf(made: Pick<Gateway, 'enterprise' | 'agentId' | 'lineId'>): Promise<FilledWorkspace> {
  const [row] = await database.query<{ workspaceId: string; endpointId: string }>(
    `SELECT w.id AS "workspaceId", e.id AS "endpointId" FROM workspaces w JOIN webhook_endpoints e ON e.workspace_id = w.id
      WHERE w.slug = $1`,
    [made.enterprise],
  );
  return { ...row!, agentId: made.agentId, lineId: made.lineId };
}

async function send(path: string, options: { method?: string; body?: object; key?: string } = {}): Promise<unknown> {
  const { method = 'GET', body, key } = options;
  const answer = await fetch(`${gateway.service.publicUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const told: unknown = await answer.json();
  expect(answer.ok, `${method} ${path}: ${JSON.stringify(told)}`).toBe(true);
  return told;
}

const isSettled = ({ endedAt, recording, analysisStatus }: Call): boolean =>
  endedAt !== null && recording?.status === 'ready' && analysisStatus !== 'pending';

/** Calls of the API and of a lead, at once, with a board on which somebody looks at them. */
async function holdCalls(): Promise<string[]> {
  const { agentId, enterprise, lineId: from } = gateway;
  const board = await person.ask(`/api/console/w/${enterprise}/live`);
  const call = { to: '+14155550101', agentId, enterprise, from, name: 'Dana' };
  const idempotencyKey = randomUUID();
  const first = await client.place(call, { idempotencyKey });
  const again = await client.place(call, { idempotencyKey });
  expect(again.body.callUuid).toBe(first.body.callUuid);
  const second = await client.place({ ...call, to: '+14155550102' });
  const { lead } = (await send('/api/developer/leads', {
    method: 'POST',
    body: { enterprise, agentId, phone: '+14155550103', name: 'Dana' },
  })) as {
    lead: { id: string };
  };
  const third = (await send(`/api/developer/leads/${lead.id}/call`, { method: 'POST', body: { agentId, from } })) as {
    callUuid: string;
  };
  const callUuids = [first.body.callUuid!, second.body.callUuid!, third.callUuid];
  const kinds = new Set<string>();
  // Until nothing more happens to it.
  for await (const { kind } of client.follow(callUuids[0]!, AbortSignal.timeout(PATIENCE_MS))) kinds.add(kind);
  expect(kinds).toContain('turn');
  for (const callUuid of callUuids) await client.waitFor(callUuid, 'its recording and analysis', isSettled);
  await board.body?.cancel();
  await (await fetch(metricsUrl)).text();
  await person.ask(`/api/console/w/${enterprise}/overview`);
  return callUuids;
}

/** What programs and people ask of calls that are over. */
async function readThem([first]: readonly string[]): Promise<void> {
  const { nextCursor } = (await send('/api/developer/calls?limit=50')) as { nextCursor: string };
  await send(`/api/developer/calls?limit=50&cursor=${encodeURIComponent(nextCursor)}`);
  for (const path of ['', '/transcript', '/events', '/request']) await send(`/api/developer/calls/${first}${path}`);
  for (const list of ['leads', 'webhooks/deliveries', 'audit', 'limits']) await send(`/api/developer/${list}`);
  await send(`/api/developer/calls/${first}?kind=all`, { method: 'DELETE' });
}

/** What the service asks once an hour or after a fault, and what it plans each time. */
async function askOurselves(): Promise<void> {
  tries++;
  const [{ workspaceId }, second, third] = workspaces;
  const page = (after: CallPlace | null, filters = {}) =>
    searchCalls(asked, { workspaceId, filters, after, limit: 50 });
  const links = createRecordingLinks('ab'.repeat(32), gateway.service.publicUrl, systemClock);
  const deep = { createdAtMicros: `${Date.now() - 120 * HOUR_MS}000`, callUuid: randomUUID() };
  await page(null);
  await readCallViews({ database: asked, links }, workspaceId, (await page(deep)).callUuids);
  await page(null, { status: ['failed'] });
  await page(null, { q: 'refund' });

  const scope = { workspaceId, methodPath: 'POST /api/outbound-call', key: 'broken-off' };
  const body = createHash('sha256').update('body').digest();
  await beginIdempotent(asked, scope, body);
  await holdIfCallExists(asked, scope);
  await database.query(
    `UPDATE idempotency_keys SET created_at = now() - interval '2 minutes' WHERE key = 'broken-off'`,
  );
  await beginIdempotent(asked, scope, body);
  await purgeIdempotencyKeys(asked);
  await purgeLimits(asked);
  await boundBacklogs(asked, 1_000_000);
  // What is older than a month less the first hours of the week.
  await purgeWebhooks(asked, Date.now() + (23 * 24 + 2) * HOUR_MS);

  const store = createDeliveryStore(asked, createSealer(gateway.service.masterKeyHex));
  const atMs = Date.now() + 2 * HOUR_MS;
  const due = (await store.due(atMs, 100)).filter(({ endpointId }) => endpointId === second.endpointId);
  for (const [index, { id }] of due.slice(0, 2).entries()) {
    const claimed = (await store.claim(id, atMs))!;
    const failed = {
      kind: 'retry',
      status: 500,
      error: 'away',
      nextAtEpochMs: atMs + HOUR_MS,
      disableEndpoint: false,
    } as const;
    await store.finish(claimed, index === 0 ? { kind: 'delivered', status: 200 } : failed, atMs, 5);
  }

  const week = { transcript: 7, events: 7, metadata: 7 };
  await setRetention(database, { workspaceId: third.workspaceId, agentId: null }, week, BY_OPERATOR);
  const purge = createRetentionPurge({
    database: asked,
    // An hour later: of the first calls the week is over; a second try of the test has removed those of the first.
    clock: { ...systemClock, epochMs: () => systemClock.epochMs() + tries * HOUR_MS },
    log: pino({ level: 'silent' }),
    eraser: { forgetKeys: async () => [], removeBytes: async () => {} } as never,
  });
  const { removed } = await purge.run();
  expect(Math.min(removed.transcript, removed.events, removed.metadata)).toBeGreaterThan(0);
  await database.query('DELETE FROM retention_rules');
}

async function tablesNow(): Promise<Tables> {
  const parts = await database.query<{ part: string; whole: string; rows: number }>(
    `SELECT c.relname AS part, (SELECT relname FROM pg_class WHERE oid = pg_partition_root(c.oid)) AS whole, c.reltuples::float8 AS rows
       FROM pg_class c WHERE c.relispartition AND c.relkind = 'r'`,
  );
  const wholes = new Map(parts.map(({ part, whole }) => [part, whole]));
  const fullest = new Map<string, number>();
  for (const { whole, rows } of parts) fullest.set(whole, Math.max(fullest.get(whole) ?? 0, rows));
  const young = parts.filter(({ whole, rows }) => rows >= 0 && rows < YOUNG_PART_SHARE * fullest.get(whole)!);
  const youngNames = new Set(young.map(({ part }) => part));
  return {
    growing: GROWING_TABLES,
    wholeOf: (relation) => wholes.get(relation) ?? relation,
    isYoungPart: (relation) => youngNames.has(relation),
  };
}

/**
 * Of the fullest beside it: today's partition in its first hours, whenever the test runs, and those of days to come. Of
 * one that was never analysed nobody knows.
 */
const YOUNG_PART_SHARE = 0.5;

test('no statement of calls, webhooks, boards, sweeps or the call log reads a table whole that grows with calls, or more than it is worth', async () => {
  expect(await forgottenTables(database)).toEqual([]);
  await timersAreOver(database);
  await readThem(await holdCalls());
  await askOurselves();
  const missing = (): string[] => {
    seen.push(...notes.more());
    const texts = [...new Set([...seen, ...asked.noted].map(({ text }) => text))];
    return HOT_STATEMENTS.filter(({ has }) => !texts.some((text) => has.test(text))).map(({ name }) => name);
  };
  // The look at all that is due, and the timers of some calls, come every few seconds.
  await eventually('every hot statement', () => missing().length === 0, {
    story: () => missing().join('; '),
    limitMs: 60_000,
  });
  const faults = planFaults([...seen, ...asked.noted], await tablesNow(), mostOf);
  expect(faults, faults.join('\n\n')).toEqual([]);
});
