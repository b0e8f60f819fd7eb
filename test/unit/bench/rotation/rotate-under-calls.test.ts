/** A rotation that goes wrong leaves neither its command nor its calls behind. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPatientDatabase } from '../../../../bench/harness/patient-database.ts';
import { rotateUnderCalls } from '../../../../bench/rotation/rotate-under-calls.ts';
import { importAgent } from '../../../../src/agents/stored-agents.ts';
import { createSealer } from '../../../../src/sealing/sealer.ts';
import type { Database } from '../../../../src/store/database.ts';
import { addLine } from '../../../../src/workspaces/lines.ts';
import { createWorkspace } from '../../../../src/workspaces/workspaces.ts';
import { sampleAgent } from '../../../support/sample-agent.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/test-database.ts';

const KEY = 'ab'.repeat(32);
/** Writes its process id, and then what is no key. It would stay for a minute. */
const COMMAND = `
const { writeFileSync } = require('node:fs');
writeFileSync(process.env.PARLEY_DATA_DIR + '/pid', String(process.pid));
writeFileSync(process.env.PARLEY_DATA_DIR + '/master.key', 'no key\\nno key\\n');
setTimeout(() => {}, 60_000);
`;

let test: TestDatabase;
let database: Database;
const dataDir = mkdtempSync(join(tmpdir(), 'parley-rotation-'));
beforeAll(async () => {
  test = await createTestDatabase();
  database = openPatientDatabase(test.connectionString, 10);
});
afterAll(async () => {
  await database.close();
  await test.close();
  rmSync(dataDir, { recursive: true, force: true });
});

it('ends the command that it started and places no more calls when it fails', async () => {
  await createWorkspace(database, { slug: 'acme', name: 'Acme' });
  const agent = await importAgent(database, { slug: 'acme', definition: sampleAgent() });
  const credentials = { authId: 'MA', authToken: 'x' };
  const added = { slug: 'acme', number: '+14155550100', carrier: 'plivo', credentials } as const;
  const line = await addLine(database, createSealer(KEY), added);
  writeFileSync(join(dataDir, 'master.key'), `${KEY}\n`);
  writeFileSync(join(dataDir, 'command.cjs'), COMMAND);
  let placed = 0;
  const pause = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 5));
  const client = {
    place: async () => ({ httpStatus: 200, body: { callUuid: `call-${++placed}` } }),
    waitFor: pause,
  };
  const gateway = {
    service: { databaseUrl: test.connectionString },
    client,
    enterprise: 'acme',
    agentId: agent.id,
    lineId: line.id,
  } as never;
  const plan = { gateway, dataDir, values: 40, batch: 10, pauseMs: 0, callee: '+14155550177', said: () => {} };
  await expect(rotateUnderCalls(plan, join(dataDir, 'command.cjs'))).rejects.toThrow();
  const placedBefore = placed;
  expect(existsSync(join(dataDir, 'pid'))).toBe(true);
  expect(() => process.kill(Number(readFileSync(join(dataDir, 'pid'), 'utf8')), 0)).toThrow('ESRCH');
  await pause();
  await pause();
  await pause();
  expect(placed).toBe(placedBefore);
});
