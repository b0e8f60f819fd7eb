/**
 * A pipeline thread of the real service dies under conversations, in each of five ways: callees that speak when the
 * agent is silent, so that only Parley recognises anything; the fault put in by a module loaded before Parley. `npm run
 * fault -- chaos threads` is the same with twenty conversations.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gateway } from '../../bench/harness/gateway.ts';
import { openPatientDatabase } from '../../bench/harness/patient-database.ts';
import type { Database } from '../../src/store/database.ts';
import { startTestGateway } from '../support/test-gateway.ts';
import { agreeingCallee, INTENTS, oneQuestionAgent } from './chaos/conversation-agent.ts';
import { runThreadDeath } from './chaos/thread-deaths.ts';
import { injectable, THREAD_DEATHS } from './nemesis/thread-faults.ts';

const NUMBERS = ['+14155550201', '+14155550202', '+14155550203'];
/** A busy machine may answer the last call when the first is over: such a death is not under all of them. */
const DEATHS_AT_MOST = 6;
const dataDir = mkdtempSync(join(tmpdir(), 'parley-thread-death-'));
let gateway: Gateway;
let database: Database;
let nodeOptions: string | undefined;
/** What the supervisor said: a process that ended has its cause there. */
const told: string[] = [];

describe.skipIf(process.platform !== 'linux')('a pipeline thread that dies under 3 conversations', () => {
  beforeAll(async () => {
    nodeOptions = process.env['NODE_OPTIONS'];
    Object.assign(process.env, injectable());
    gateway = await startTestGateway({
      dataDir,
      agent: oneQuestionAgent,
      personas: NUMBERS.map((number) => agreeingCallee(number)),
      settings: { PARLEY_PIPELINE_THREADS: '1' },
      log: (line) => told.push(line),
    });
    database = openPatientDatabase(gateway.service.databaseUrl);
  });

  afterAll(async () => {
    if (nodeOptions === undefined) delete process.env['NODE_OPTIONS'];
    else process.env['NODE_OPTIONS'] = nodeOptions;
    await database.close();
    await gateway.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  // A thread is replaced in a second or so; each way finds the spare of the one before at work.
  test.each(THREAD_DEATHS)(
    '%s: no call is lost, no turn is missing, the socket stays, each gap is told',
    async (death) => {
      for (let left = DEATHS_AT_MOST; ; left--) {
        const report = await runThreadDeath({
          gateway,
          database,
          numbers: NUMBERS,
          death,
          intents: INTENTS.slice(0, 1),
          spacingMs: 0,
          afterMs: 500,
        });
        expect(report, told.join('\n')).toMatchObject({ lost: [], holes: [], reconnected: [] });
        for (const gapMs of report.gapsMs) expect(gapMs).toBeGreaterThan(0);
        if (report.escaped.length > 0 && left > 1) continue;
        expect(report.gapsMs, `${report.escaped.length} were over before`).toHaveLength(NUMBERS.length);
        return;
      }
    },
  );
});
