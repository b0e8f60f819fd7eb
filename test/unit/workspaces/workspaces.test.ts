import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentFaultsError, deleteAgent, importAgent, listAgents } from '../../../src/agents/stored-agents.ts';
import { OperatorError } from '../../../src/errors/operator-error.ts';
import { sealedPlace } from '../../../src/sealing/sealed-places.ts';
import { createSealer } from '../../../src/sealing/sealer.ts';
import type { Database } from '../../../src/store/database.ts';
import { rotateWebhookSecret, setWebhook, showWebhook } from '../../../src/webhooks/operator-webhooks.ts';
import { createApiKey, listApiKeys, revokeApiKey, rotateApiKey } from '../../../src/workspaces/api-keys.ts';
import { addLine, listLines, setLineCredentials, setLineLimits } from '../../../src/workspaces/lines.ts';
import { createWorkspace, setApiEnabled, setWorkspaceLimits } from '../../../src/workspaces/workspaces.ts';
import { sampleAgent } from '../../support/sample-agent.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';

let test: OpenTestDatabase;
let database: Database;
const sealer = createSealer('ab'.repeat(32));
const TONE = { kind: 'tone', name: 'Tone', direction: 'any', toneHz: 440 };

beforeAll(async () => {
  test = await openTestDatabase();
  database = test.database;
  await createWorkspace(database, { slug: 'acme', name: 'Acme' });
  await createWorkspace(database, { slug: 'other', name: 'Other' });
});
afterAll(() => test.close());

describe('a workspace', () => {
  it('begins with the API off and the limits of the contract', async () => {
    const workspace = await createWorkspace(database, { slug: 'fresh', name: 'Fresh' });
    expect(workspace).toMatchObject({
      apiEnabled: false,
      limits: { concurrentCalls: 10, callsPerSecond: 5, apiRequestsPerSecond: 20, apiBurst: 40 },
    });
  });

  it('refuses a taken, a malformed and an unknown name, and says the way out', async () => {
    await expect(createWorkspace(database, { slug: 'acme', name: 'A' })).rejects.toThrow(
      /already is a workspace 'acme'/,
    );
    await expect(createWorkspace(database, { slug: 'Acme!', name: 'A' })).rejects.toThrow(
      /small letters, digits and '-'/,
    );
    await expect(setApiEnabled(database, { slug: 'acne', enabled: true })).rejects.toThrow(/there are: acme, /);
  });

  it('changes only the limits that are given, and takes 0 as a limit', async () => {
    const changed = await setWorkspaceLimits(database, { slug: 'other', limits: { concurrentCalls: 0, apiBurst: 7 } });
    expect(changed.limits).toEqual({
      concurrentCalls: 0,
      callsPerSecond: 5,
      apiRequestsPerSecond: 20,
      apiBurst: 7,
      webSessions: 10,
      reservedPhoneCalls: 0,
    });
    await expect(setWorkspaceLimits(database, { slug: 'other', limits: { callsPerSecond: 1.5 } })).rejects.toThrow(
      /callsPerSecond must be a whole number/,
    );
  });
});

describe('its API keys', () => {
  it('cannot be made while the API is off', async () => {
    await expect(createApiKey(database, { slug: 'acme', name: 'k', scopes: ['calls:write'] })).rejects.toThrow(
      /parley workspace api enable acme/,
    );
    await setApiEnabled(database, { slug: 'acme', enabled: true });
  });

  it('are five at most even when eight are made at once, and the secret is stored only as its hash', async () => {
    const made = await Promise.allSettled(
      Array.from({ length: 8 }, () => createApiKey(database, { slug: 'acme', name: 'k', scopes: ['calls:write'] })),
    );
    const texts = made.flatMap((result) => (result.status === 'fulfilled' ? [result.value.text] : []));
    expect(texts).toHaveLength(5);
    const stored = JSON.stringify(await database.query('SELECT * FROM api_keys'));
    for (const text of texts) expect(stored).not.toContain(text.slice(17, 49));
    for (const key of await listApiKeys(database, { slug: 'acme' })) expect(key).not.toHaveProperty('text');
  });

  it('are rotated all five while five live, but none twice at a time, and no sixth is made meanwhile', async () => {
    const create = () => createApiKey(database, { slug: 'acme', name: 'k', scopes: ['calls:write'] });
    const rotate = (keyId: string) => rotateApiKey(database, { slug: 'acme', keyId });
    const five = await listApiKeys(database, { slug: 'acme' });
    expect(five).toHaveLength(5);
    const rotated = [];
    for (const { keyId } of five) {
      rotated.push(await rotate(keyId));
      await expect(create()).rejects.toThrow(/at most 5 live keys/);
      await expect(rotate(keyId)).rejects.toThrow(/at most 5 live keys/);
    }
    // Ten are valid now: those that leave count no more among the five, and there are no more than five of them.
    await expect(rotate(rotated[0]!.created.keyId)).rejects.toThrow(/5 keys that were rotated out are still valid/);
    await revokeApiKey(database, { slug: 'acme', keyId: five[0]!.keyId });
    expect((await rotate(rotated[0]!.created.keyId)).replaced.keyId).toBe(rotated[0]!.created.keyId);
    await database.query('UPDATE api_keys SET revoked_at = now() WHERE replaced_by IS NOT NULL');
  });

  it('that end in the past are not made: the request has a mistake in it', async () => {
    await database.query('DELETE FROM api_keys WHERE revoked_at IS NOT NULL');
    const [first] = await listApiKeys(database, { slug: 'acme' });
    await revokeApiKey(database, { slug: 'acme', keyId: first!.keyId });
    const make = (expiresAt: Date) =>
      createApiKey(database, { slug: 'acme', name: 'k', scopes: ['calls:write'], expiresAt });
    await expect(make(new Date(Date.now() - 1_000))).rejects.toThrow(
      /`expiresAt` must lie in the future; 20.* is past/,
    );
    expect((await make(new Date(Date.now() + 3_600_000))).expiresAt).toBeInstanceOf(Date);
  });

  it('are rotated with an overlap of 24 h', async () => {
    const [, second] = (await listApiKeys(database, { slug: 'acme' })).filter(({ revokedAt }) => revokedAt === null);
    const { created, replaced } = await rotateApiKey(database, { slug: 'acme', keyId: second!.keyId });
    expect(created.scopes).toEqual(second!.scopes);
    expect(Math.abs((replaced.expiresAt?.getTime() ?? 0) - Date.now() - 24 * 3600_000)).toBeLessThan(60_000);
    await expect(rotateApiKey(database, { slug: 'acme', keyId: created.keyId, overlapSeconds: 59 })).rejects.toThrow(
      /60 seconds to 7 days/,
    );
  });

  it('of another workspace cannot be revoked or rotated', async () => {
    const [key] = await listApiKeys(database, { slug: 'acme' });
    await expect(revokeApiKey(database, { slug: 'other', keyId: key!.keyId })).rejects.toThrow(/has no live key/);
  });

  it('need scopes and ranges that exist', async () => {
    await expect(createApiKey(database, { slug: 'acme', name: 'k', scopes: ['calls:rite'] })).rejects.toThrow(
      /Unknown scopes: calls:rite\. There are: calls:write/,
    );
    await expect(
      createApiKey(database, { slug: 'acme', name: 'k', scopes: ['calls:read'], allowedCidrs: ['10.0.0.0/33'] }),
    ).rejects.toThrow(/no address range/);
  });
});

describe('its agents', () => {
  it('get a new version under a known id, and a call can still find the old one', async () => {
    const first = await importAgent(database, { slug: 'acme', definition: TONE });
    const second = await importAgent(database, { slug: 'acme', definition: { ...TONE, name: 'Tone 2' }, id: first.id });
    expect([first.version, second.version, second.name]).toEqual([1, 2, 'Tone 2']);
    const versions = await database.query<{ definition: { name: string } }>(
      'SELECT definition FROM agent_versions WHERE agent_id = $1 ORDER BY version',
      [first.id],
    );
    expect(versions.map((version) => version.definition.name)).toEqual(['Tone', 'Tone 2']);
    expect(await listAgents(database, { slug: 'acme' })).toHaveLength(1);
  });

  it('are not overwritten by another workspace that names their id', async () => {
    const [agent] = await listAgents(database, { slug: 'acme' });
    await expect(importAgent(database, { slug: 'other', definition: TONE, id: agent!.id })).rejects.toThrow(
      /one of another workspace/,
    );
  });

  it('are not made under an id that nobody has: it is mistyped', async () => {
    const id = '0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11';
    await expect(importAgent(database, { slug: 'acme', definition: TONE, id })).rejects.toThrow(
      /has no agent '0199f0a2.*nothing was stored; see: npx parley agent list acme; without --id a new one is made/,
    );
    expect(await listAgents(database, { slug: 'acme' })).toHaveLength(1);
  });

  it('are stored with a warning where a tool wants a secret that is not there yet', async () => {
    const url = 'https://shop.example.com/tool';
    const headers = { authorization: 'Bearer {{secret.SHOP_KEY}}' };
    const definition = sampleAgent({ tools: [{ name: 'look_up', url, headers }] });
    const { id, warnings } = await importAgent(database, { slug: 'other', definition });
    expect(warnings).toEqual([
      {
        path: 'tools[0].headers.authorization',
        problem: expect.stringContaining("no secret 'SHOP_KEY' yet; set it with: parley secret set"),
      },
    ]);
    await deleteAgent(database, { slug: 'other', agentId: id });
  });

  it('with faults are not stored, and the faults come by path', async () => {
    const faulty = importAgent(database, { slug: 'acme', definition: { ...TONE, toneHz: 1, colour: 'red' } });
    await expect(faulty).rejects.toThrow(AgentFaultsError);
    await expect(faulty).rejects.toThrow(/2 faults:\n {2}toneHz: must be at least 50\n {2}colour: is no field/);
    expect(await listAgents(database, { slug: 'acme' })).toHaveLength(1);
  });
});

describe('its phone lines', () => {
  it('keep their credentials sealed, with the limits of the contract', async () => {
    const credentials = { authId: 'MA-canary', authToken: 'token-canary' };
    const line = await addLine(database, sealer, {
      slug: 'acme',
      number: '+14155550100',
      carrier: 'plivo',
      credentials,
    });
    expect(line).toMatchObject({ hasCredentials: true, limits: { concurrentCalls: 10, callsPerSecond: 1 } });
    const [row] = await database.query<{ workspace_id: string; credentials_sealed: Buffer }>(
      'SELECT * FROM phone_lines',
    );
    const place = sealedPlace.lineCredentials(row!.workspace_id, line.id);
    expect(row!.credentials_sealed.includes('canary')).toBe(false);
    expect(JSON.parse(sealer.open(row!.credentials_sealed, place))).toEqual(credentials);
  });

  it('may get credentials and limits later, but not from another workspace', async () => {
    const line = await addLine(database, sealer, { slug: 'other', number: '+14155550101', carrier: 'plivo' });
    expect(line.hasCredentials).toBe(false);
    const credentials = { authId: 'a', authToken: 'b' };
    await expect(setLineCredentials(database, sealer, { slug: 'acme', lineId: line.id, credentials })).rejects.toThrow(
      /has no line/,
    );
    const changed = await setLineCredentials(database, sealer, { slug: 'other', lineId: line.id, credentials });
    expect(changed.hasCredentials).toBe(true);
    const limited = await setLineLimits(database, { slug: 'other', lineId: line.id, limits: { callsPerSecond: 4 } });
    expect(limited.limits).toEqual({ concurrentCalls: 10, callsPerSecond: 4 });
    expect(await listLines(database, { slug: 'other' })).toEqual([limited]);
  });

  it('refuse a number, a carrier and credentials that cannot be right', async () => {
    const add = (change: object): Promise<unknown> =>
      addLine(database, sealer, { slug: 'acme', number: '+14155550109', carrier: 'plivo', ...change });
    await expect(add({ number: '4155550109' })).rejects.toThrow(/international form/);
    await expect(add({ carrier: 'pigeon' })).rejects.toThrow(/there are: plivo/);
    await expect(add({ credentials: { authId: 'x' } })).rejects.toThrow(/lack: authToken/);
    await expect(add({ credentials: { authId: 'x', authToken: 'y', extra: 'z' } })).rejects.toThrow(/named extra/);
  });
});

describe('its webhook', () => {
  it('gets a whsec_ secret of 32 bytes, keeps it with another address, and rotates with 24 h of both', async () => {
    await expect(showWebhook(database, { slug: 'acme' })).rejects.toThrow(/parley webhook set acme/);
    await expect(rotateWebhookSecret(database, sealer, { slug: 'acme' })).rejects.toThrow(/parley webhook set acme/);
    const first = await setWebhook(database, sealer, { slug: 'acme', url: 'https://a.example/hook' });
    expect(Buffer.from((first.secret ?? '').replace('whsec_', ''), 'base64')).toHaveLength(32);
    const second = await setWebhook(database, sealer, { slug: 'acme', url: 'https://b.example/hook' });
    expect(second.secret).toBeNull();
    expect([second.endpoint.url, second.endpoint.id]).toEqual(['https://b.example/hook', first.endpoint.id]);
    const rotated = await rotateWebhookSecret(database, sealer, { slug: 'acme' });
    const [row] = await database.query<{ workspace_id: string; secret_sealed: Buffer; previous_secret_sealed: Buffer }>(
      'SELECT * FROM webhook_endpoints',
    );
    const place = sealedPlace.webhookSecret(row!.workspace_id);
    expect(sealer.open(row!.secret_sealed, place)).toBe(rotated.secret);
    expect(sealer.open(row!.previous_secret_sealed, place)).toBe(first.secret);
    const untilMs = rotated.endpoint.previousSecretUntil?.getTime() ?? 0;
    expect(Math.abs(untilMs - Date.now() - 24 * 3600_000)).toBeLessThan(60_000);
  });

  it('refuses an address with a password or of another kind as a fault of the operator', async () => {
    for (const url of ['https://u:p@a.example/', 'ftp://a.example/', 'nonsense']) {
      await expect(setWebhook(database, sealer, { slug: 'acme', url }), url).rejects.toThrow(OperatorError);
    }
  });
});
