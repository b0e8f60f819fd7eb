/**
 * The service while somebody who may use it tries to keep others from working: tokens of web sessions that are hoarded,
 * and files of leads that are hard to read. Honest traffic goes on beside them, and all of it is counted.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gateway } from '../../bench/harness/gateway.ts';
import { makeWebAccess } from '../../bench/live-client/web-access.ts';
import { besiegeWithFiles, HOSTILE_FILES, strangersKey } from '../../bench/siege/csv.ts';
import { hoardTokens } from '../../bench/siege/tokens.ts';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { startTestGateway } from '../support/test-gateway.ts';

/** Of the workspace, at once. */
const CALLS = 10;
const CALLS_BESIDE_FILES = 5;
const agent: AgentDefinition = { kind: 'tone', name: 'Tone', direction: 'any', toneHz: 440 };
const ORIGIN = 'http://localhost:3000';
const dataDir = mkdtempSync(join(tmpdir(), 'parley-hostile-'));
let gateway: Gateway;

beforeAll(async () => {
  gateway = await startTestGateway({
    dataDir,
    agent,
    personas: [{ kind: 'tone', name: 'caller', number: '*', ringMs: 200, hangsUpAfterMs: 2_000 }],
    concurrentCalls: CALLS,
    callsPerSecond: 50,
    keepAudio: false,
    log: () => {},
  });
});
afterAll(async () => {
  await gateway?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Status, or the error's code and the status. */
async function place(index: number): Promise<{ said: string; callUuid: string }> {
  const { agentId, enterprise, lineId, client } = gateway;
  const to = `+1415555${String(index).padStart(4, '0')}`;
  const placed = await client.place({ to, agentId, enterprise, from: lineId });
  const code = placed.headers.get('x-error-code');
  return {
    said: code === null ? `${placed.httpStatus}` : `${placed.httpStatus} ${code}`,
    callUuid: placed.body.callUuid ?? '',
  };
}

async function endOf(callUuid: string): Promise<string> {
  const { status, endedReason } = await gateway.client.waitFor(callUuid, 'its end', ({ endedAt }) => endedAt !== null);
  return `${status}/${endedReason}`;
}

async function statusOf(path: string, headers: Record<string, string> = {}): Promise<number> {
  const answer = await fetch(`${gateway.service.publicUrl}${path}`, { headers });
  await answer.arrayBuffer();
  return answer.status;
}

describe('a workspace goes on working', () => {
  test('beside ten tokens of sessions that nobody uses: all of its calls are placed, and end as they should', async () => {
    const { service, enterprise } = gateway;
    const at = { baseUrl: service.publicUrl, databaseUrl: service.databaseUrl, enterprise };
    const { publicKey, agentId } = await makeWebAccess(at, agent, ORIGIN);
    const siege = hoardTokens({
      port: Number(new URL(service.publicUrl).port),
      publicKey,
      agentId,
      origin: ORIGIN,
      sources: ['127.0.0.2', '127.0.0.3'],
      inAll: CALLS,
    });
    await siege.done;
    expect([...siege.ends]).toEqual([['200', CALLS]]);
    const placed = await Promise.all(Array.from({ length: CALLS }, (_none, index) => place(index)));
    expect(placed.map(({ said }) => said)).toEqual(new Array<string>(CALLS).fill('200'));
    const over = await Promise.all(placed.map(({ callUuid }) => endOf(callUuid)));
    expect(over).toEqual(new Array<string>(CALLS).fill('completed/user_hangup'));
  });

  test('beside files of quotes, of 7 KB and of 10 MB, that somebody else imports: nothing is refused, no call is lost', async () => {
    const { quotes, longQuotes, reopened } = HOSTILE_FILES;
    const files = [quotes(), longQuotes(), quotes(), quotes(), reopened(), quotes()];
    const siege = besiegeWithFiles({
      baseUrl: gateway.service.publicUrl,
      apiKey: await strangersKey(gateway.service.databaseUrl),
      files,
      atOnce: 2,
      inAll: files.length,
    });
    let isOver = false;
    void siege.done.then(() => {
      isOver = true;
    });
    const said: Promise<string>[] = [];
    const calls: Promise<string>[] = [];
    const authorization = `Bearer ${gateway.apiKey}`;
    for (let turn = 0; !isOver || calls.length < CALLS_BESIDE_FILES; turn++) {
      said.push(statusOf('/livez').then((status) => `/livez ${status}`));
      said.push(statusOf('/api/developer/calls?limit=1', { authorization }).then((status) => `keyed ${status}`));
      if (turn % 5 === 0 && calls.length < CALLS_BESIDE_FILES) {
        const placed = place(100 + turn);
        said.push(placed.then((one) => `placement ${one.said}`));
        calls.push(placed.then(({ callUuid }) => endOf(callUuid)));
      }
      await wait(50);
    }
    expect([...new Set(await Promise.all(said))].toSorted()).toEqual(['/livez 200', 'keyed 200', 'placement 200']);
    expect(await Promise.all(calls)).toEqual(new Array<string>(CALLS_BESIDE_FILES).fill('completed/user_hangup'));
    // Each is read or refused; none is left without an answer.
    expect(siege.opened).toBe(files.length);
    const known = ['202', '400', '503'].map((status) => siege.ends.get(status) ?? 0);
    expect(known.reduce((sum, count) => sum + count)).toBe(files.length);
  });
});
