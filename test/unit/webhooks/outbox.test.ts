import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { recordCallEvent } from '../../../bench/harness/record-call-event.ts';
import { createSealer } from '../../../src/sealing/sealer.ts';
import type { Database } from '../../../src/store/database.ts';
import { setEndpoint } from '../../../src/webhooks/endpoint.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { insertCall, insertWorkspace, sampleCall, WORKSPACE_ID } from './sample-call.ts';

const clock = new VirtualClock(Date.UTC(2026, 10, 21, 1, 5, 10));
let server: TestDatabase;
let db: Database;

beforeAll(async () => {
  server = await createTestDatabase();
  db = openPatientDatabase(server.connectionString, 12);
  await insertWorkspace(db);
});
afterAll(async () => {
  await db?.close();
  await server?.close();
});
beforeEach(async () => {
  for (const table of ['webhook_deliveries', 'webhook_events', 'webhook_endpoints', 'call_turns', 'calls']) {
    await db.query(`DELETE FROM ${table}`);
  }
  await insertCall(db, sampleCall());
});

const events = () =>
  db.query<{ id: string; event: string; sequence: number; body: string }>(
    'SELECT id, event, sequence, body FROM webhook_events ORDER BY sequence',
  );
const useEndpoint = () => setEndpoint(db, createSealer('ab'.repeat(32)), WORKSPACE_ID, 'https://example.com/');

describe('recordCallEvent', () => {
  it('writes the event with the transcript of the same transaction, and one due delivery', async () => {
    await useEndpoint();
    const ids = await db.transaction(async (tx) => {
      await tx.query(`INSERT INTO call_turns VALUES ($1, 't2', 2, $2), ($1, 't1', 1, $3)`, [
        sampleCall().callUuid,
        { role: 'user', heardText: 'hi', text: 'hi' },
        { role: 'agent', heardText: 'Hello', text: 'Hello there' },
      ]);
      return recordCallEvent(tx, sampleCall(), 'call.completed', {}, clock);
    });
    const [event] = await events();
    const body = JSON.parse(event!.body);
    expect(body).toMatchObject({ id: event!.id, sequence: 1, turns: 2, transcript: 'Agent: Hello\nCustomer: hi' });
    expect(body.timestamp).toBe('2026-11-21T01:05:10.000Z');
    const deliveries = await db.query('SELECT id, event_id, state, attempts, next_at FROM webhook_deliveries');
    const nextAt = new Date(clock.epochMs());
    expect(deliveries).toEqual([{ id: ids[0], event_id: event!.id, state: 'pending', attempts: 0, next_at: nextAt }]);
  });

  it('stores the event and returns no delivery when the workspace has no URL', async () => {
    expect(await db.transaction((tx) => recordCallEvent(tx, sampleCall(), 'call.completed', {}, clock))).toEqual([]);
    expect(await events()).toHaveLength(1);
  });

  it('leaves neither event nor delivery when the change that it reports is rolled back', async () => {
    await useEndpoint();
    const failing = db.transaction(async (tx) => {
      await recordCallEvent(tx, sampleCall(), 'call.completed', {}, clock);
      throw new Error('the change failed');
    });
    await expect(failing).rejects.toThrow('the change failed');
    expect(await events()).toEqual([]);
    expect(await db.query('SELECT id FROM webhook_deliveries')).toEqual([]);
  });

  it('refuses a second terminal event of a call, of whatever kind', async () => {
    await db.transaction((tx) => recordCallEvent(tx, sampleCall(), 'call.completed', {}, clock));
    const second = db.transaction((tx) => recordCallEvent(tx, sampleCall(), 'call.failed', {}, clock));
    await expect(second).rejects.toThrow('webhook_events_one_terminal');
    expect(await events()).toHaveLength(1);
  });

  it('numbers 10 events that are recorded at once 1 to 10, each once', async () => {
    await Promise.all(
      Array.from({ length: 10 }, () =>
        db.transaction((tx) => recordCallEvent(tx, sampleCall(), 'recording.ready', {}, clock)),
      ),
    );
    expect((await events()).map((event) => event.sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
});
