/**
 * One service that is measured, of this clone or of another one: started once, with two agents, and asked to hold so
 * many calls. What it runs is the clone's own; what counts it is ours.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import type { importAgent } from '../../src/agents/stored-agents.ts';
import { packageRoot } from '../../src/config/built-entry.ts';
import { openDatabase } from '../../src/store/database.ts';
import type { PersonaInput } from '../emulators/persona.ts';
import type { Gateway, startGateway } from '../harness/gateway.ts';
import { PostgresCounts, type ProcessorTime, processorTimeOf } from './counts.ts';
import { readingAgent } from './reading-agent.ts';

/** Calls begin within so long, evenly. */
const SPREAD_MS = 10_000;
const NO_LIMIT = 100_000;
/** No call is over before; then it is looked each so often whether all are. */
const CALL_MS = 25_000;
const LOOK_EVERY_MS = 1_000;
const LISTENER = '+14155550124';
const CALLER = '+14155550123';

export interface Subject {
  readonly name: string;
  readonly counts: PostgresCounts;
  processorTime(): ProcessorTime;
  /**
   * Places them and resolves when all has become of them what will. One is the demo's conversation; many are read to,
   * because so many recognisers fit on few machines.
   */
  hold(calls: number): Promise<void>;
  stop(): Promise<void>;
}

/** `root`: a built clone. */
export async function startSubject(name: string, root: string): Promise<Subject> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-database-'));
  const built = (path: string): Promise<unknown> => import(pathToFileURL(join(root, 'dist', path)).href);
  const harness = (await built('bench/harness/gateway.js')) as { startGateway: typeof startGateway };
  const agents = (await built('src/agents/stored-agents.js')) as { importAgent: typeof importAgent };
  const gateway = await harness.startGateway({
    dataDir,
    agent: ofThisClone('bench/demo/agent.json') as AgentDefinition,
    personas: [
      ...(ofThisClone('bench/emulators/personas/demo.json') as PersonaInput[]),
      { kind: 'silent', name: 'listener', number: LISTENER, ringMs: 2_500 },
    ],
    concurrentCalls: NO_LIMIT,
    callsPerSecond: NO_LIMIT,
    settings: { PARLEY_LOG_LEVEL: 'error' },
    keepAudio: false,
    log: () => {},
  });
  const { service } = gateway;
  const readerId = await addReader(gateway, agents.importAgent);
  const counts = await PostgresCounts.open(service.databaseUrl, () => process.kill(service.postgres!.pid()!, 'SIGINT'));
  return {
    name,
    counts,
    processorTime: () => processorTimeOf(service),
    async hold(calls) {
      const placed = Array.from({ length: calls }, async (_none, index) => {
        await pause((index * SPREAD_MS) / calls);
        const whom = calls === 1 ? { to: CALLER, agentId: gateway.agentId } : { to: LISTENER, agentId: readerId };
        const { enterprise, lineId: from } = gateway;
        const { body } = await gateway.client.place({ ...whom, enterprise, from, name: 'Dana' });
        if (body.callUuid === undefined) throw new Error(`${name}: a placement was refused: ${body.message}`);
      });
      await Promise.all(placed);
      // Nobody asks the service how it goes: that would be counted.
      await pause(CALL_MS);
      while (!(await counts.allSettled())) await pause(LOOK_EVERY_MS);
    },
    async stop() {
      await counts.close();
      await gateway.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function addReader(gateway: Gateway, add: typeof importAgent): Promise<string> {
  const { databaseUrl: connectionString } = gateway.service;
  const database = openDatabase({ connectionString, maxConnections: 1, onIdleError: () => {} });
  const { id } = await add(database, { slug: gateway.enterprise, definition: readingAgent });
  await database.close();
  return id;
}

function ofThisClone(path: string): unknown {
  return JSON.parse(readFileSync(join(packageRoot(), path), 'utf8'));
}
