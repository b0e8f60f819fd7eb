import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAddressGuard } from '../../../media/net/address-guard.ts';
import { openCredentials, readNewest } from '../../../src/connections/connection-rows.ts';
import { connectionFaultsOf } from '../../../src/connections/connection-uses.ts';
import { connectionsOf, connectionsOfCall } from '../../../src/connections/grants.ts';
import {
  addConnection,
  changeConnection,
  listConnections,
  listConnectionVersions,
  MOST_CONNECTIONS,
  purgeConnectionCredentials,
  removeConnection,
  showConnection,
} from '../../../src/connections/stored-connections.ts';
import { OperatorError } from '../../../src/errors/operator-error.ts';
import { createSealer } from '../../../src/sealing/sealer.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { createWorkspaceKit, type WorkspaceKit } from './workspace-kit.ts';

const KEY = 'key-canary-of-a-provider';
const VOICE = { slug: 'acme', name: 'voice', provider: 'elevenlabs', credentials: { apiKey: KEY } };

let kit: WorkspaceKit;
beforeAll(async () => {
  kit = await createWorkspaceKit();
});
afterEach(async () => {
  await kit.database.query('DELETE FROM analysis_models');
  await kit.database.query('DELETE FROM provider_connections');
  await kit.giveDefinition({ kind: 'tone' });
});
afterAll(() => kit.close());

const add = (change: object = {}) => addConnection(kit.database, kit.sealer, { ...VOICE, ...change });
const change = (changes: object) =>
  changeConnection(kit.database, kit.sealer, { slug: 'acme', name: 'voice', ...changes });
const refusalOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OperatorError);
  return `${(error as OperatorError).code}: ${(error as OperatorError).reason}`;
};
const rowsText = async (table: string): Promise<string> =>
  JSON.stringify(await kit.database.query(`SELECT t::text FROM ${table} t`));

describe('a connection', () => {
  it('has the address of its provider unless it is given another, and is shown without its key', async () => {
    const added = await add({ limits: { concurrent: 5 }, settings: { enableLogging: false } });
    expect(added).toMatchObject({
      name: 'voice',
      version: 1,
      provider: 'elevenlabs',
      baseUrl: 'https://api.elevenlabs.io',
      hasCredentials: true,
      limits: { concurrent: 5 },
      settings: { enableLogging: false },
    });
    expect(await showConnection(kit.database, { slug: 'acme', name: 'voice' })).toEqual(added);
    expect(await listConnections(kit.database, { slug: 'acme' })).toEqual([added]);
    for (const table of ['provider_connections', 'audit_log']) expect(await rowsText(table)).not.toContain(KEY);
    expect(JSON.stringify(added)).not.toContain(KEY);
  });

  it('is changed by a version of its own: the former one stays as it was, also for the database', async () => {
    await add({ limits: { concurrent: 5, requestsPerMinute: 60 } });
    const changed = await change({
      limits: { concurrent: 9, requestsPerMinute: null },
      settings: { enableLogging: true },
    });
    expect(changed).toMatchObject({ version: 2, limits: { concurrent: 9 }, settings: { enableLogging: true } });
    expect(changed.limits).toEqual({ concurrent: 9 });
    const versions = await listConnectionVersions(kit.database, { slug: 'acme', name: 'voice' });
    expect(versions.map(({ version, isNewest, limits }) => [version, isNewest, limits])).toEqual([
      [2, true, { concurrent: 9 }],
      [1, false, { concurrent: 5, requestsPerMinute: 60 }],
    ]);
    const row = (await readNewest(kit.database, kit.acme, ['voice'])).get('voice')!;
    expect(openCredentials(kit.sealer, row)).toEqual({ apiKey: KEY });
    for (const set of [`base_url = 'https://x.example'`, 'version = 7', `limits = '{}'`, `provider = 'deepgram'`]) {
      await expect(kit.database.query(`UPDATE provider_connections SET ${set} WHERE version = 1`)).rejects.toThrow(
        'does not change',
      );
    }
  });

  it('is not sent to another host with the key that is stored: that one wants it anew', async () => {
    await add();
    expect(await refusalOf(change({ baseUrl: 'https://collector.example' }))).toContain('`credentials` are missing');
    expect((await change({ baseUrl: 'https://api.elevenlabs.io/eu' })).hasCredentials).toBe(true);
    const moved = await change({ baseUrl: 'https://eu.example', credentials: { apiKey: 'another' } });
    expect([moved.baseUrl, moved.version]).toEqual(['https://eu.example', 3]);
  });

  it('sealed for its version opens for no other, nor in another workspace', async () => {
    await add();
    await change({ limits: { concurrent: 1 } });
    await kit.database.query(
      `UPDATE provider_connections SET credentials_sealed = (SELECT credentials_sealed FROM provider_connections WHERE version = 1) WHERE version = 2`,
    );
    expect(await connectionsOf(kit.database, kit.sealer, kit.acme, ['voice'])).toEqual({
      grants: [],
      missing: [{ name: 'voice', why: 'unreadable' }],
    });
    expect(await refusalOf(change({ limits: {} }))).toMatch(/^refused: .*give them again/);
    expect((await change({ credentials: { apiKey: 'new' } })).version).toBe(3);
  });

  it('is one of fifty at most, and has its name alone', async () => {
    await add();
    expect(await refusalOf(add())).toMatch(/^exists: There already is a connection 'voice'/);
    for (let index = 1; index < MOST_CONNECTIONS; index++) await add({ name: `c${index}` });
    expect(await refusalOf(add({ name: 'late' }))).toMatch(/^refused: .*50 connections/);
    expect((await addConnection(kit.database, kit.sealer, { ...VOICE, slug: 'other' })).version).toBe(1);
  });
});

describe('what is wrong with it is said', () => {
  const check = {
    guard: createAddressGuard(['10.9.0.0/16'], 'MODEL_ALLOW_CIDRS'),
    resolveName: async (name: string) => [name === 'inside.example' ? '10.0.0.7' : '93.184.216.34'],
    clock: new VirtualClock(),
  };
  const faults: [object, string][] = [
    [{ name: 'Über' }, 'use 1 to 63 small letters'],
    [{ name: '' }, 'use 1 to 63 small letters'],
    [
      { provider: 'whisper' },
      'there are: deepgram, assemblyai, openai_compatible, anthropic, gemini, cartesia, elevenlabs',
    ],
    [{ credentials: {} }, '`credentials.apiKey` is missing'],
    [{ credentials: null }, '`credentials.apiKey` is missing'],
    [{ credentials: { apiKey: 'a b' } }, 'printable ASCII'],
    [{ credentials: { apiKey: 'x'.repeat(4_097) } }, '1 to 4096'],
    [{ credentials: { apiKey: KEY, token: 'x' } }, '`credentials.token` means nothing to elevenlabs; it knows: apiKey'],
    [{ limits: { concurrent: 0 } }, '`limits.concurrent` must be a whole number from 1'],
    [{ limits: { concurrent: 1.5 } }, '`limits.concurrent` must be a whole number from 1'],
    [{ limits: { tokensPerMinute: 5 } }, '`limits.tokensPerMinute` means nothing to elevenlabs'],
    [{ settings: { enableLogging: 'no' } }, '`settings.enableLogging` must be true or false'],
    [{ settings: { region: 'eu' } }, '`settings.region` means nothing to elevenlabs; it knows: enableLogging'],
    [{ baseUrl: 'ftp://x.example' }, 'must begin with https://'],
    [{ baseUrl: 'https://user:pw@x.example' }, 'must not hold a user name'],
    [{ baseUrl: 'https://x.example/v1?key=1' }, 'must not have a query'],
    [{ baseUrl: 'http://x.example' }, 'plain http is spoken only inside the ranges of MODEL_ALLOW_CIDRS'],
    [{ baseUrl: 'https://169.254.169.254/' }, 'add its range to MODEL_ALLOW_CIDRS'],
    [{ baseUrl: 'https://inside.example' }, 'add its range to MODEL_ALLOW_CIDRS'],
  ];
  it.each(faults.map(([fields, words]) => [Object.keys(fields).join(), words, fields] as const))(
    '%s: %s',
    async (_at, words, fields) => {
      const refused = await refusalOf(add({ check, ...fields }));
      expect(refused).toContain(words);
      expect(refused).not.toContain(KEY);
      expect(await listConnections(kit.database, { slug: 'acme' })).toEqual([]);
    },
  );

  it('and what the operator allows is allowed', async () => {
    expect((await add({ check, baseUrl: 'http://10.9.1.1:8080/' })).baseUrl).toBe('http://10.9.1.1:8080');
  });
});

describe('the removal', () => {
  const named = { slug: 'acme', name: 'voice' };

  it('is refused while an agent names it, in whatever it listens, thinks or speaks with, and says which', async () => {
    await add();
    for (const definition of [
      { kind: 'cascade', speak: { connection: 'voice' } },
      { kind: 'cascade', think: [{ connection: 'brain' }, { connection: 'voice' }] },
      { kind: 'cascade', listen: { primary: { use: { connection: 'voice' } } } },
    ]) {
      await kit.giveDefinition(definition);
      const refused = await refusalOf(removeConnection(kit.database, named));
      expect(refused).toContain(kit.agentId);
      expect(refused).toContain('with force');
    }
    await kit.giveDefinition({ kind: 'scripted', steps: [{ connection: 'voice' }], speak: { connection: 'other' } });
    expect((await removeConnection(kit.database, named)).name).toBe('voice');
    expect(await refusalOf(showConnection(kit.database, named))).toContain("has no connection 'voice'");
  });

  it('with force is done all the same; another of that name begins where it ended', async () => {
    await add();
    await kit.giveDefinition({ kind: 'cascade', speak: { connection: 'voice' } });
    await removeConnection(kit.database, { ...named, force: true });
    expect((await add()).version).toBe(2);
    expect(await listConnections(kit.database, { slug: 'other' })).toEqual([]);
  });

  it('erases the key at once, but not that of a live call, which has it for a day', async () => {
    await add();
    const callUuid = await kit.call(kit.acme);
    await connectionsOfCall(kit.database, kit.sealer, { workspaceId: kit.acme, callUuid }, ['voice']);
    await change({ limits: { concurrent: 1 } });
    await removeConnection(kit.database, named);
    const left = () =>
      kit.database.query('SELECT version FROM provider_connections WHERE credentials_sealed IS NOT NULL ORDER BY 1');
    expect(await left()).toEqual([{ version: 1 }]);
    await purgeConnectionCredentials(kit.database);
    expect(await left()).toEqual([{ version: 1 }]);
    await kit.database.query(`UPDATE provider_connections SET replaced_at = now() - interval '25 hours'`);
    await purgeConnectionCredentials(kit.database);
    expect(await left()).toEqual([]);
  });

  it('leaves what is in use alone when versions are replaced: the newest keeps its key for ever', async () => {
    await add();
    await change({ limits: { concurrent: 1 } });
    await kit.database.query(
      `UPDATE provider_connections SET replaced_at = now() - interval '25 hours' WHERE version = 1`,
    );
    await purgeConnectionCredentials(kit.database);
    const { grants } = await connectionsOf(kit.database, kit.sealer, kit.acme, ['voice']);
    expect(grants[0]?.credentials).toEqual({ apiKey: KEY });
  });
});

describe('a grant', () => {
  it('is the newest version, opened; what there is not is named', async () => {
    await add({ limits: { concurrent: 3 } });
    const { grants, missing } = await connectionsOf(kit.database, kit.sealer, kit.acme, ['voice', 'brain', 'voice']);
    expect(grants).toEqual([
      {
        name: 'voice',
        version: 1,
        provider: 'elevenlabs',
        baseUrl: 'https://api.elevenlabs.io',
        credentials: { apiKey: KEY },
        limits: { concurrent: 3 },
        settings: {},
      },
    ]);
    expect(missing).toEqual([{ name: 'brain', why: 'unknown' }]);
    const elsewhere = createSealer('cd'.repeat(32));
    expect((await connectionsOf(kit.database, elsewhere, kit.acme, ['voice'])).missing).toEqual([
      { name: 'voice', why: 'unreadable' },
    ]);
  });

  it('stays that with which the call began, whatever is changed or removed meanwhile', async () => {
    await add();
    const scope = { workspaceId: kit.acme, callUuid: await kit.call(kit.acme) };
    const versionOf = async (at = scope) =>
      (await connectionsOfCall(kit.database, kit.sealer, at, ['voice'])).grants.map(({ version }) => version);
    expect(await versionOf()).toEqual([1]);
    await change({ credentials: { apiKey: 'newer' } });
    expect(await versionOf()).toEqual([1]);
    const later = { workspaceId: kit.acme, callUuid: await kit.call(kit.acme) };
    expect(await versionOf(later)).toEqual([2]);
    await removeConnection(kit.database, { slug: 'acme', name: 'voice' });
    expect([await versionOf(), await versionOf(later)]).toEqual([[1], [2]]);
    expect(await versionOf({ workspaceId: kit.acme, callUuid: await kit.call(kit.acme) })).toEqual([]);
  });

  it('is nothing to another workspace, nor to its calls', async () => {
    await add();
    const missing = [{ name: 'voice', why: 'unknown' }];
    expect(await connectionsOf(kit.database, kit.sealer, kit.other, ['voice'])).toEqual({ grants: [], missing });
    const callUuid = await kit.call(kit.acme);
    const asOther = { workspaceId: kit.other, callUuid };
    expect(await connectionsOfCall(kit.database, kit.sealer, asOther, ['voice'])).toEqual({ grants: [], missing });
    expect(await kit.database.query('SELECT * FROM call_connections WHERE call_uuid = $1', [callUuid])).toEqual([]);
    await connectionsOfCall(kit.database, kit.sealer, { workspaceId: kit.acme, callUuid }, ['voice']);
    expect(await connectionsOfCall(kit.database, kit.sealer, asOther, ['voice'])).toEqual({ grants: [], missing });
    expect(await refusalOf(removeConnection(kit.database, { slug: 'other', name: 'voice' }))).toContain('not_found');
    expect(await refusalOf(change({ slug: 'other', baseUrl: 'https://x.example' }))).toContain('not_found');
  });
});

describe('an agent that names connections', () => {
  it('names those that are there, for what they can do', async () => {
    await add();
    await add({ name: 'brain', provider: 'openai_compatible', credentials: null });
    const faults = (definition: object, workspaceId = kit.acme) =>
      kit.database.transaction((tx) => connectionFaultsOf(tx, workspaceId, definition));
    const sound = { listen: {}, think: [{ connection: 'brain' }], speak: { connection: 'voice' } };
    expect(await faults(sound)).toEqual([]);
    expect((await faults(sound, kit.other)).map(({ path }) => path)).toEqual([
      'think[0].connection',
      'speak.connection',
    ]);
    const [unknown, unable] = await faults({ think: [{ connection: 'brian' }, { connection: 'voice' }] });
    expect(unknown).toMatchObject({
      path: 'think[0].connection',
      problem: expect.stringContaining('parley connection add'),
    });
    expect(unable).toMatchObject({
      path: 'think[1].connection',
      problem: expect.stringContaining('does not think (it can: speak)'),
    });
    const [other] = await faults({ speak: [{ connection: 'brain', engine: 'elevenlabs' }] });
    expect(other).toEqual({
      path: 'speak[0].connection',
      problem: "'brain' is a connection to openai_compatible, and the engine is used by one to elevenlabs",
    });
  });
});
