import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../../../bench/harness/patience.ts';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { createAddressGuard } from '../../../media/net/address-guard.ts';
import { BY_OPERATOR } from '../../../src/audit/audit-entry.ts';
import { sealedPlace } from '../../../src/sealing/sealed-places.ts';
import { createSealer } from '../../../src/sealing/sealer.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import {
  disableEndpoint,
  enableEndpoint,
  readEndpoint,
  removeEndpoint,
  rotateSecret,
  setEndpoint,
} from '../../../src/webhooks/endpoint.ts';
import { takeEndpointAway } from '../../../src/webhooks/endpoint-changes.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

/** The service's own, which every other statement keeps on a busy machine too. */
const LIMIT_MS = 10_000;
const WORKSPACE = '0199f0a0-0000-7000-8000-000000000001';
const sealer = createSealer('ab'.repeat(32));
const PLACE = sealedPlace.webhookSecret(WORKSPACE);
let server: TestDatabase;
let db: Database;

beforeAll(async () => {
  server = await createTestDatabase();
  db = openPatientDatabase(server.connectionString, 2);
  await db.query(`INSERT INTO workspaces (id, slug, name) VALUES ($1, 'acme', 'Acme')`, [WORKSPACE]);
});
afterAll(async () => {
  await db?.close();
  await server?.close();
});
beforeEach(() => db.query('DELETE FROM webhook_endpoints'));

const stored = async () =>
  (
    await db.query<{ secret: Buffer; previous: Buffer | null; until: Date | null }>(
      'SELECT secret_sealed AS secret, previous_secret_sealed AS previous, previous_until AS until FROM webhook_endpoints',
    )
  )[0]!;

describe('the webhook endpoint of a workspace', () => {
  it('stores the URL with a sealed secret that is shown once', async () => {
    const { secret } = await setEndpoint(db, sealer, WORKSPACE, 'https://example.com/hooks');
    expect(sealer.open((await stored()).secret, PLACE)).toBe(secret);
    const endpoint = await readEndpoint(db, WORKSPACE);
    expect(endpoint).toMatchObject({ url: 'https://example.com/hooks', disabledAt: null, previousSecretUntil: null });
    expect(JSON.stringify(endpoint)).not.toContain(secret?.slice(6));
  });

  it('keeps the old secret valid for 24 h when it is rotated', async () => {
    const first = await setEndpoint(db, sealer, WORKSPACE, 'https://example.com/hooks');
    const second = await rotateSecret(db, sealer, WORKSPACE);
    const row = await stored();
    expect(sealer.open(row.secret, PLACE)).toBe(second.secret);
    expect(sealer.open(row.previous!, PLACE)).toBe(first.secret);
    const hours = (row.until!.getTime() - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(23.9);
    expect(hours).toBeLessThan(24.1);
    expect((await readEndpoint(db, WORKSPACE))?.previousSecretUntil).toEqual(row.until);
  });

  it('keeps its secret and enables again when another URL is set', async () => {
    const first = await setEndpoint(db, sealer, WORKSPACE, 'https://example.com/hooks');
    await db.query('UPDATE webhook_endpoints SET disabled_at = now()');
    expect(await setEndpoint(db, sealer, WORKSPACE, 'https://example.org/hooks')).toEqual({ secret: null });
    const row = await stored();
    expect([sealer.open(row.secret, PLACE), row.previous]).toEqual([first.secret, null]);
    expect(await readEndpoint(db, WORKSPACE)).toMatchObject({ url: 'https://example.org/hooks', disabledAt: null });
  });

  it('gets a new secret with another URL when one is asked for; the old one signs too for 24 h', async () => {
    const first = await setEndpoint(db, sealer, WORKSPACE, 'https://example.com/hooks');
    const second = await setEndpoint(db, sealer, WORKSPACE, 'https://example.org/hooks', null, true);
    const row = await stored();
    expect(second.secret).toMatch(/^whsec_/);
    expect([sealer.open(row.secret, PLACE), sealer.open(row.previous!, PLACE)]).toEqual([second.secret, first.secret]);
    expect((await readEndpoint(db, WORKSPACE))?.previousSecretUntil).toEqual(row.until);
  });

  it('is gone with its secrets once it is removed, and begins anew with another URL', async () => {
    expect(await removeEndpoint(db, WORKSPACE)).toBe(false);
    const first = await setEndpoint(db, sealer, WORKSPACE, 'https://example.com/hooks');
    await rotateSecret(db, sealer, WORKSPACE);
    expect(await removeEndpoint(db, WORKSPACE)).toBe(true);
    expect(await readEndpoint(db, WORKSPACE)).toBeNull();
    expect(await stored()).toMatchObject({ secret: Buffer.alloc(0), previous: null, until: null });
    for (const change of [disableEndpoint, enableEndpoint, removeEndpoint])
      expect(await change(db, WORKSPACE)).toBe(false);
    await expect(rotateSecret(db, sealer, WORKSPACE)).rejects.toThrow('set one first');
    const again = await setEndpoint(db, sealer, WORKSPACE, 'https://example.com/hooks');
    expect(again.secret).toMatch(/^whsec_/);
    expect(again.secret).not.toBe(first.secret);
    expect(await readEndpoint(db, WORKSPACE)).toMatchObject({ disabledAt: null, waiting: 0 });
  });

  it('is removed though its backlog takes longer than any other statement may', async () => {
    await setEndpoint(db, sealer, WORKSPACE, 'https://example.com/hooks');
    await db.query(`CREATE FUNCTION takes_long() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_sleep(${(LIMIT_MS + 500) / 1_000}); RETURN NULL; END $$`);
    await db.query(`CREATE TRIGGER takes_long AFTER UPDATE ON webhook_deliveries EXECUTE FUNCTION takes_long()`);
    const address = new URL(server.connectionString);
    address.searchParams.set('statement_timeout', String(LIMIT_MS));
    const hasty = openDatabase({
      connectionString: address.href,
      maxConnections: 1,
      answerLimitMs: LIMIT_MS,
      pauseLimitMs: PATIENCE_MS,
      onIdleError: () => {},
    });
    try {
      expect(await takeEndpointAway(hasty, { workspaceId: WORKSPACE, by: BY_OPERATOR })).not.toBeNull();
    } finally {
      await hasty.close();
      await db.query('DROP FUNCTION takes_long CASCADE');
    }
    expect(await readEndpoint(db, WORKSPACE)).toBeNull();
  });

  it('says what to do first when there is no URL to rotate a secret for', async () => {
    await expect(rotateSecret(db, sealer, WORKSPACE)).rejects.toThrow('set one first');
    expect(await readEndpoint(db, WORKSPACE)).toBeNull();
  });

  it.each([
    ['example.com/hooks', 'is not a URL; write it like https://'],
    ['ftp://example.com', 'must begin with https:// (not ftp:)'],
    ['https://user:pass@example.com/', 'must not hold a user name'],
    [`https://example.com/${'a'.repeat(2_048)}`, 'longer than 2048'],
    ['https://127.1/', 'WEBHOOK_ALLOW_CIDRS'],
    ['http://93.184.215.14/', 'plain http is spoken only inside'],
  ])('refuses %s with a sentence that says the way out', async (url, words) => {
    await expect(setEndpoint(db, sealer, WORKSPACE, url, createAddressGuard([]))).rejects.toThrow(words);
    expect(await readEndpoint(db, WORKSPACE)).toBeNull();
  });

  it('takes a plain http address inside an allowed range', async () => {
    await setEndpoint(db, sealer, WORKSPACE, 'http://127.0.0.1:9/', createAddressGuard(['127.0.0.0/8']));
    expect((await readEndpoint(db, WORKSPACE))?.url).toBe('http://127.0.0.1:9/');
  });
});
