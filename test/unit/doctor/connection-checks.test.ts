/** What `parley doctor` says of the connections that agents name. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAddressGuard } from '../../../media/net/address-guard.ts';
import { addConnection } from '../../../src/connections/stored-connections.ts';
import { checkConnections } from '../../../src/doctor/connection-checks.ts';
import { createWorkspaceKit, type WorkspaceKit } from '../connections/workspace-kit.ts';

let kit: WorkspaceKit;
beforeAll(async () => {
  kit = await createWorkspaceKit();
});
afterAll(() => kit.close());

const check = () => checkConnections(kit.database, kit.sealer, createAddressGuard(['127.0.0.0/8']));

it('says nothing where agents name none', async () => {
  expect(await check()).toEqual([]);
});

it('names what is not there, or does not serve, with the agents that want it', async () => {
  const named = { kind: 'cascade', name: 'Desk', think: [{ connection: 'brain' }], listen: { connection: 'ears' } };
  await kit.giveDefinition(named);
  const baseUrl = 'http://127.0.0.1:1/v1';
  await addConnection(kit.database, kit.sealer, {
    slug: 'acme',
    name: 'brain',
    provider: 'openai_compatible',
    baseUrl,
  });
  const results = await check();
  expect(results.map(({ level }) => level)).toEqual(['warn', 'warn']);
  expect(results[0]?.detail).toMatch(/^'ears' of workspace 'acme' is not there, and ".*" cannot do without$/);
  expect(results[0]?.wayOut).toContain('parley connection add acme ears');
  expect(results[1]?.detail).toMatch(/^'brain' of workspace 'acme', for ".*", does not serve \(unreachable\)/);
});
