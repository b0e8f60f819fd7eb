/** What an operator is told of other nodes: each living process, how long ago it was heard of, and none of the dead. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { readServiceState } from '../../../src/control/service-state.ts';
import { fenceRun, type MediaRun, registerRun } from '../../../src/nodes/media-runs.ts';
import type { Database } from '../../../src/store/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = openPatientDatabase(test.connectionString, 2);
});
afterAll(async () => {
  await database.close();
  await test.close();
});

const LEASE_MS = 60_000;
const register = (node: string, runId: string): Promise<boolean> => {
  const run: MediaRun = {
    ...{ runId, slot: 'media-0', capacityCalls: 500, liveCalls: 7, moreCalls: null, isDraining: false },
  };
  return registerRun(database, { name: node, home: node, address: null, streamBase: null }, run, LEASE_MS);
};

it('tells of the processes of other nodes, not of its own and not of the dead', async () => {
  for (const [node, runId] of [
    ['a', 'own'],
    ['a', 'own, not connected yet'],
    ['b', 'living'],
    ['c', 'silent'],
    ['d', 'dead'],
  ] as const) {
    await register(node, runId);
  }
  await database.query(`UPDATE media_runs SET beat_at = beat_at - interval '2 minutes' WHERE run_id = 'silent'`);
  await fenceRun(database, { runId: 'dead', why: 'test', onlyIfSilent: false }, Date.now());
  const state = await readServiceState({
    database,
    publicUrl: 'http://127.0.0.1:8080',
    runId: 'run',
    nodeName: 'a',
    members: () => [
      {
        ...{ runId: 'own', mediaId: 'media-0', connected: true, draining: false, activeCalls: 1, capacityCalls: 500 },
        ...{ room: null, socketServer: 'ws' as const },
      },
    ],
    admission: () => 'open',
    isOverloaded: () => false,
    disk: async () => null,
  });
  expect(state.media.map(({ mediaId }) => mediaId)).toEqual(['media-0']);
  expect(state.otherNodes).toMatchObject([
    { node: 'b', mediaId: 'media-0', calls: 7, capacity: 500, moreCalls: null, draining: false, isOverdue: false },
    { node: 'c', isOverdue: true },
  ]);
  expect(state.otherNodes[1]!.silentMs).toBeGreaterThan(LEASE_MS);
});
