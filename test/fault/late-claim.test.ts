/**
 * Control takes longer over a stream's claim than media waits: the first socket is refused, and the token is burned for
 * nobody. The carrier dials again, and that socket gets the call; the recording of the stream that never was holds up
 * nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { briefAgent } from '../../bench/harness/brief-agent.ts';
import type { Gateway } from '../../bench/harness/gateway.ts';
import { eventually } from '../support/eventually.ts';
import { ownSessions } from '../support/own-sessions.ts';
import { startTestGateway } from '../support/test-gateway.ts';

const NUMBER = '+14155550171';
const LOCK = 4711;
const dataDir = mkdtempSync(join(tmpdir(), 'parley-late-claim-'));
let gateway: Gateway;

beforeAll(async () => {
  const personas = [{ kind: 'silent' as const, name: 'patient', number: NUMBER, ringMs: 100 }];
  gateway = await startTestGateway({ dataDir, agent: briefAgent(), personas, log: () => {} });
});
afterAll(async () => {
  await gateway.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const session = ownSessions(() => gateway.service.databaseUrl);

test('a call whose claim was answered too late talks on the next socket, and its recording comes', async () => {
  const holder = await session();
  await holder.query(`
    CREATE FUNCTION hold_claim() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock_shared(${LOCK});
      RETURN NEW;
    END
    $$;
    CREATE TRIGGER hold_claim BEFORE UPDATE ON calls
      FOR EACH ROW WHEN (OLD.epoch = 0 AND NEW.epoch = 1) EXECUTE FUNCTION hold_claim();
    SELECT pg_advisory_lock(${LOCK})`);
  const { agentId, enterprise, lineId: from, client, emulator, receiver } = gateway;
  const { callUuid } = (await client.place({ to: NUMBER, agentId, enterprise, from })).body;
  await eventually('a socket that was refused', async () => (await emulator.calls())[0]?.refusedUpgrades[0]);
  await holder.query(`SELECT pg_advisory_unlock(${LOCK})`);

  const { status, endedReason } = await client.waitFor(callUuid!, 'its end', ({ endedAt }) => endedAt !== null);
  expect([status, endedReason]).toEqual(['completed', 'agent_hangup']);
  const [seen] = await emulator.calls();
  expect(new Set(seen!.refusedUpgrades)).toEqual(new Set(['503']));
  const log = await holder.query<{ kind: string }>('SELECT kind FROM call_events WHERE call_uuid = $1', [callUuid]);
  const kinds = log.rows.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'media.claimed').length).toBeGreaterThanOrEqual(2);
  expect(kinds).not.toContain('stream.reopened');
  expect(seen!.agentPlayedMs).toBeGreaterThan(500);
  await receiver.waitFor((one) => one.callUuid === callUuid && one.event === 'recording.ready');
});
