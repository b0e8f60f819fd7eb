import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { AgentDefinition } from '../../../media/contract/agent-definition.ts';
import { createCallConnections } from '../../../src/connections/call-connections.ts';
import { addConnection } from '../../../src/connections/stored-connections.ts';
import { createWorkspaceKit, type WorkspaceKit } from './workspace-kit.ts';

const CANARY = 'key-canary-of-a-call';
const AGENT = {
  kind: 'cascade',
  think: [{ connection: 'brain', model: 'm' }],
  listen: { engine: 'local' },
  speak: [
    { connection: 'voice', engine: 'elevenlabs', voice: 'v' },
    { connection: 'brain', engine: 'openai', voice: 'v' },
  ],
} as unknown as AgentDefinition;

let kit: WorkspaceKit;
const logged: string[] = [];
const log = pino({ level: 'trace' }, { write: (text: string) => void logged.push(text) });
beforeAll(async () => {
  kit = await createWorkspaceKit();
});
afterEach(async () => {
  logged.length = 0;
  await kit.database.query('DELETE FROM provider_connections');
});
afterAll(() => kit.close());

const add = (name: string, provider: string) =>
  addConnection(kit.database, kit.sealer, { slug: 'acme', name, provider, credentials: { apiKey: CANARY } });
const forCall = async (agent: AgentDefinition, workspaceId = kit.acme) =>
  createCallConnections({ ...kit, log }).forCall(await kit.call(workspaceId), agent);

it('are those that the agent names, each once, opened', async () => {
  await add('brain', 'openai_compatible');
  await add('voice', 'elevenlabs');
  const grants = await forCall(AGENT);
  expect(grants?.map(({ name, credentials }) => [name, credentials])).toEqual([
    ['brain', { apiKey: CANARY }],
    ['voice', { apiKey: CANARY }],
  ]);
  expect(logged).toEqual([]);
});

it('do without one that is not there, which the operator is told of, and are none of another workspace', async () => {
  await add('brain', 'openai_compatible');
  expect((await forCall(AGENT))?.map(({ name }) => name)).toEqual(['brain']);
  expect(logged.map((text) => JSON.parse(text))).toMatchObject([{ level: 40, connection: 'voice', why: 'unknown' }]);
  expect(logged.join()).not.toContain(CANARY);
  expect(await forCall(AGENT, kit.other)).toEqual([]);
});

it('are nothing where the agent names none', async () => {
  expect(await forCall({ kind: 'tone' } as AgentDefinition)).toBeUndefined();
});

it('stand in the warnings of the call where they are not there, once however often they are asked for', async () => {
  await add('brain', 'openai_compatible');
  const callUuid = await kit.call(kit.acme);
  const connections = createCallConnections({ ...kit, log });
  for (let stream = 0; stream < 2; stream++) await connections.forCall(callUuid, AGENT);
  const [call] = await kit.database.query('SELECT warnings FROM calls WHERE call_uuid = $1', [callUuid]);
  expect(call).toEqual({ warnings: [{ code: 'connection_missing', key: 'voice', count: 1 }] });
});
