/**
 * The master key is changed under the real service while it carries calls; the command that does it is killed twice on
 * its way. What is asked is what an operator would ask: does everything open, was nothing
 * readable, is the former key worth nothing?
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { briefAgent } from '../../bench/harness/brief-agent.ts';
import { type Gateway, startGateway } from '../../bench/harness/gateway.ts';
import { filesWith } from '../../bench/rotation/files-with.ts';
import { rotateUnderCalls } from '../../bench/rotation/rotate-under-calls.ts';
import { placeDatabase } from '../../src/supervisor/postgres/placement.ts';
import { runParley } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';

const CALLEE = '+14155550177';
const COMMAND = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

let gateway: Gateway;
let output = '';
const dataDir = mkdtempSync(join(tmpdir(), 'parley-rotation-'));
const hear = (text: string): void => {
  output += text;
};

beforeAll(async () => {
  gateway = await startGateway({
    dataDir,
    agent: briefAgent(),
    personas: [{ kind: 'silent', name: 'listener', number: CALLEE, ringMs: 50 }],
    volatileDatabase: true,
    log: hear,
    childOutput: hear,
  });
});
afterAll(async () => {
  await gateway.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

test('a rotation that is killed twice while calls run: all opens, nothing lay open, the former key opens and starts nothing', async () => {
  const values = 400;
  const outcome = await rotateUnderCalls(
    { gateway, dataDir, values, batch: 10, pauseMs: 10, callee: CALLEE, said: () => {} },
    COMMAND,
  );
  expect(outcome.values).toBeGreaterThan(values * 0.9);
  // Each kill came in the middle, and the second run went on from where the first was.
  const [first = 0, second = 0] = outcome.killedAt;
  expect([first > 0, second > first, outcome.values > second]).toEqual([true, true, true]);
  expect(outcome.report).toMatchObject({ rotated: true, unreadable: {} });
  expect(outcome.report.resealed).toBeGreaterThan(0);
  expect(outcome.report.resealed).toBeLessThan(outcome.values);

  expect(outcome.opened).toEqual({ new: outcome.values, former: 0, refused: [] });
  expect(outcome.readable).toEqual([]);
  expect(outcome.underFormerKey).toEqual([]);
  const folders = [dataDir, placeDatabase(dataDir).home];
  expect(await filesWith(folders, [outcome.canary, outcome.formerKey])).toEqual([]);
  // The key that is in use shows that the search finds what is there.
  expect(await filesWith([dataDir], [outcome.newKey])).toEqual([join(dataDir, 'master.key')]);
  for (const secret of [outcome.canary, outcome.formerKey, outcome.newKey]) expect(output).not.toContain(secret);

  // Calls from before, beside and after it: each ended as it should, and its recording is there.
  const environment = { PARLEY_DATA_DIR: dataDir };
  const hungUp = await runParley(['call', 'hangup', gateway.enterprise, outcome.calls.before], environment);
  expect(hungUp).toMatchObject({ code: 0, out: 'The call is over: completed/operator_hangup.\n' });
  expect(outcome.calls.during.length).toBeGreaterThan(0);
  for (const callUuid of [outcome.calls.before, ...outcome.calls.during, outcome.calls.after]) {
    const entry = await gateway.client.waitFor(
      callUuid,
      'its recording',
      ({ recording }) => recording?.status === 'ready',
    );
    expect(entry.endedReason).toBe(callUuid === outcome.calls.before ? 'operator_hangup' : 'agent_hangup');
    expect((await gateway.recording(callUuid))!.subarray(0, 4).toString()).toBe('OggS');
  }
});

test('afterwards control starts again with what the file holds, and the former key is refused everywhere', async () => {
  const pid = gateway.service.control.pid()!;
  process.kill(pid, 'SIGKILL');
  await eventually('control to be back', async () => {
    const answer = await fetch(`${gateway.service.publicUrl}/readyz`).catch(() => null);
    if (gateway.service.control.pid() === pid || answer?.status !== 200) return false;
    expect(await answer.json()).toEqual({ status: 'ok' });
    return true;
  });
  const status = await runParley(['master-key', 'status'], { PARLEY_DATA_DIR: dataDir });
  expect(status.out).toContain('Everything is sealed under this key.');
  const former = { DATABASE_URL: gateway.service.databaseUrl, PARLEY_MASTER_KEY: gateway.service.masterKeyHex };
  const refused = await runParley(['webhook', 'rotate', gateway.enterprise], former);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('sealed under another master key')]);
  // One key in the file, and a second rotation begins anew.
  expect(readFileSync(join(dataDir, 'master.key'), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
});
