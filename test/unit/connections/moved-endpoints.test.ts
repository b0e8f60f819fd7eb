/** The model endpoints of a former version, through the migration that makes connections of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sealedAsFormerly } from '../../../bench/rotation/former-seal.ts';
import { readChatEndpoint } from '../../../src/analysis/model-endpoint.ts';
import { readModelEndpoint, setModelEndpoint } from '../../../src/analysis/operator-model.ts';
import { changeConnection, listConnections } from '../../../src/connections/stored-connections.ts';
import { sealedPlace } from '../../../src/sealing/sealed-places.ts';
import { migrationsFolder } from '../../../src/store/migration-files.ts';
import { createWorkspaceKit } from './workspace-kit.ts';

it('each has become the connection `analysis`, its key opens as before, and a change seals it anew', async () => {
  const kit = await createWorkspaceKit();
  const { database, sealer, acme, other } = kit;
  await database.query(
    'DROP TABLE call_usage, provider_prices, analysis_models, call_connections, provider_connections',
  );
  await database.query('DROP FUNCTION provider_connections_keep');
  const before = readFileSync(join(migrationsFolder(), '0010_analysis.sql'), 'utf8');
  await database.query(/CREATE TABLE model_endpoints[^;]*;/.exec(before)![0]);
  await database.query(
    `INSERT INTO model_endpoints VALUES ($1, 'https://llm.example/v1', 'm-1', $2, '2026-01-02T03:04:05Z'), ($3, 'https://x.example/v1', 'm-2', $4, now())`,
    [
      acme,
      sealer.seal('key-canary-acme', sealedPlace.modelKey(acme)),
      other,
      sealedAsFormerly('key-canary-other', 'ab'.repeat(32)),
    ],
  );
  await database.query(readFileSync(join(migrationsFolder(), '0028_connections.sql'), 'utf8'));

  expect(await readModelEndpoint(database, acme)).toEqual({
    connection: 'analysis',
    baseUrl: 'https://llm.example/v1',
    model: 'm-1',
    hasKey: true,
    updatedAt: new Date('2026-01-02T03:04:05Z'),
  });
  expect(await readChatEndpoint(database, sealer, acme)).toMatchObject({ apiKey: 'key-canary-acme', model: 'm-1' });
  expect(await readChatEndpoint(database, sealer, other)).toMatchObject({ apiKey: 'key-canary-other', model: 'm-2' });
  expect(await listConnections(database, { slug: 'acme' })).toMatchObject([
    { name: 'analysis', version: 1, provider: 'openai_compatible', hasCredentials: true, limits: {}, settings: {} },
  ]);

  await changeConnection(database, sealer, { slug: 'acme', name: 'analysis', limits: { concurrent: 2 } });
  expect(await readChatEndpoint(database, sealer, acme)).toMatchObject({ apiKey: 'key-canary-acme' });
  const [sealed] = await database.query(
    'SELECT credentials_sealed IS NULL AS bare, model_key_sealed IS NULL AS moved FROM provider_connections WHERE workspace_id = $1 AND version = 2',
    [acme],
  );
  expect(sealed).toEqual({ bare: false, moved: true });
  // Another model of the same server: the key that was moved stays.
  const set = { slug: 'other', baseUrl: 'https://x.example/v1', model: 'm-3' };
  expect((await setModelEndpoint(database, sealer, set)).hasKey).toBe(true);
  expect(await readChatEndpoint(database, sealer, other)).toMatchObject({ apiKey: 'key-canary-other', model: 'm-3' });
  await kit.close();
});
