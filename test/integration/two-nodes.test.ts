/**
 * Two whole services on one PostgreSQL, behind one address: calls that one places land in both, each operation works at
 * the node that does not carry the call, and the calls of a node that is killed go on in the other.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CallClient } from '../../bench/harness/call-client.ts';
import { freePort } from '../../bench/harness/free-port.ts';
import { type Gateway, startGateway, startServiceFor } from '../../bench/harness/gateway.ts';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import type { Service } from '../../src/supervisor/service.ts';
import { eventually } from '../support/eventually.ts';
import { type PathBalancer, startPathBalancer } from '../support/path-balancer.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const AGENT: AgentDefinition = {
  kind: 'scripted',
  name: 'Patient',
  direction: 'outbound',
  language: 'en-US',
  steps: [{ id: 'wait', say: ['Hello.'], expect: 'open', replies: [] }],
  fallback: { say: ['Hello?'], after: 20 },
  idle: { promptAfterMs: 60_000, say: ['Hello?'], endAfterMs: 120_000 },
} as unknown as AgentDefinition;

let folder: string;
let stored: TestDatabase;
let database: Database;
let gateway: Gateway;
let second: Service;
let balancer: PathBalancer;
let ports: Map<string, number>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-two-nodes-'));
  stored = await createTestDatabase();
  ports = new Map([
    ['a', await freePort()],
    ['b', await freePort()],
  ]);
  balancer = await startPathBalancer(ports, await freePort());
  const optionsOf = (name: string) => {
    const own = {
      PARLEY_NODE: name,
      PARLEY_NODE_ADDRESS: `http://127.0.0.1:${ports.get(name)}`,
      STREAM_URL: `ws://127.0.0.1:${balancer.port}/n/{node}`,
    };
    return {
      dataDir: join(folder, name),
      port: ports.get(name)!,
      agent: AGENT,
      callsPerSecond: 50,
      concurrentCalls: 50,
      settings: {
        ...own,
        DATABASE_URL: stored.connectionString,
        PUBLIC_URL: `http://127.0.0.1:${balancer.port}`,
        PARLEY_MASTER_KEY: 'ab'.repeat(32),
        PARLEY_PIPELINE_THREADS: '1',
        PARLEY_LISTEN_THREADS: '0',
      },
      controlEnv: own,
      log: () => {},
    };
  };
  const personas = [{ kind: 'silent' as const, name: 'silent', number: '+1415551*', ringMs: 100 }];
  gateway = await startGateway({ ...optionsOf('a'), personas });
  second = await startServiceFor(optionsOf('b'), gateway.emulator);
  database = openDatabase({ connectionString: stored.connectionString, maxConnections: 2, onIdleError: () => {} });
  await eventually('both to know each other', async () => {
    const rows = await database.query('SELECT 1 AS one FROM media_runs WHERE lease_ms = 8000 AND dead_at IS NULL');
    return rows.length === 2;
  });
});
afterAll(async () => {
  await second?.kill();
  await gateway?.stop();
  await balancer?.close();
  await database?.close();
  await stored?.close();
  rmSync(folder, { recursive: true, force: true });
});

let dialled = 0;
/** Calls that talk, and which node carries each. */
async function talking(count: number): Promise<Map<string, string>> {
  const { agentId, enterprise, lineId: from } = gateway;
  const placed: string[] = [];
  for (let call = 0; call < count; call++) {
    const to = `+1415551${String(1_000 + dialled++)}`;
    const { body } = await at('a').place({ to, agentId, enterprise, from, name: 'Dana' });
    placed.push(body.callUuid!);
  }
  return eventually('the calls to talk', async () => {
    const rows = await database.query<{ callUuid: string; node: string }>(
      `SELECT c.call_uuid AS "callUuid", r.node FROM calls c JOIN media_runs r ON r.run_id = c.owner_run
        WHERE c.call_uuid = ANY ($1::uuid[]) AND c.recording_status = 'pending'`,
      [placed],
    );
    return rows.length === count ? new Map(rows.map(({ callUuid, node }) => [callUuid, node])) : null;
  });
}

const at = (node: string): CallClient => new CallClient(`http://127.0.0.1:${ports.get(node)}`, gateway.apiKey);

async function steer(node: string, callUuid: string, action: object): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${ports.get(node)}/api/developer/calls/${callUuid}/control`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(action),
  });
  return answer.status;
}

const carriedBy = (calls: Map<string, string>, node: string): string[] =>
  [...calls].flatMap(([callUuid, on]) => (on === node ? [callUuid] : []));

test('calls that one node places land in both, and each operation works at the one that does not carry the call', async () => {
  const calls = await talking(6);
  const [onA, onB] = [carriedBy(calls, 'a'), carriedBy(calls, 'b')];
  expect([onA.length > 0, onB.length > 0], JSON.stringify([...calls.values()])).toEqual([true, true]);
  for (const [callUuid, asked] of [
    [onB[0]!, 'a'],
    [onA[0]!, 'b'],
  ] as const) {
    const heard: string[] = [];
    const stop = new AbortController();
    const following = (async () => {
      for await (const { kind } of at(asked).follow(callUuid, stop.signal)) heard.push(kind);
    })().catch(() => {});
    await eventually('the stream', () => heard.includes('media.claimed'));
    expect(await steer(asked, callUuid, { action: 'mute_agent' })).toBe(200);
    expect(await steer(asked, callUuid, { action: 'unmute_agent' })).toBe(200);
    expect(await steer(asked, callUuid, { action: 'say', text: 'One moment please.' })).toBe(200);
    await eventually('what was said, as an event', () => heard.filter((kind) => kind === 'turn').length >= 1);
    const hungUp = await fetch(`http://127.0.0.1:${ports.get(asked)}/api/developer/calls/${callUuid}/hangup`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(hungUp.ok, String(hungUp.status)).toBe(true);
    await at(asked).waitFor(callUuid, 'its end', ({ endedReason }) => endedReason === 'api_hangup');
    stop.abort();
    await following;
  }
});

test('the calls of a node that is killed go on in the other, none is hung up; its runs are given up', async () => {
  const calls = await talking(4);
  const onB = carriedBy(calls, 'b');
  expect(onB.length).toBeGreaterThan(0);
  await second.kill();
  await eventually('the calls to go on', async () => {
    const rows = await database.query(
      `SELECT 1 AS one FROM calls c JOIN media_runs r ON r.run_id = c.owner_run
        WHERE c.call_uuid = ANY ($1::uuid[]) AND c.status = 'in_progress' AND c.epoch = 2 AND r.node = 'a'`,
      [onB],
    );
    return rows.length === onB.length;
  });
  await eventually('its end', async () => {
    const [row] = await database.query<{ alive: number }>(
      `SELECT count(*)::int AS alive FROM media_runs WHERE node = 'b' AND dead_at IS NULL`,
    );
    return row?.alive === 0;
  });
  const over = await database.query(
    `SELECT 1 AS one FROM calls WHERE call_uuid = ANY ($1::uuid[]) AND ended_at IS NOT NULL`,
    [onB],
  );
  expect(over).toEqual([]);
});
