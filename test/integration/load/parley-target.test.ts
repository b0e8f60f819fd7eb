/**
 * The load tester as a program of its own against a service that was started elsewhere, by address and keys alone: a
 * small workload of phones and browsers, what is said of wrong options, and a stop in the middle.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWebhookReceiver } from '../../../bench/demo/webhook-receiver.ts';
import { freePort } from '../../../bench/harness/free-port.ts';
import { makeWorkspace, startServiceFor } from '../../../bench/harness/gateway.ts';
import type { RunResult } from '../../../bench/load/contract/run-result.ts';
import { EMULATED_ACCOUNT } from '../../../src/carriers/emulated-account.ts';
import { builtEntry } from '../../../src/config/built-entry.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-load-test-'));
const ORIGIN = 'http://localhost:3000';
let carrierPort: number;
let deployment: string[];
let stop: () => Promise<void>;

beforeAll(async () => {
  carrierPort = await freePort();
  const carrier = { apiBase: `http://127.0.0.1:${carrierPort}`, credentials: EMULATED_ACCOUNT };
  const wanted = {
    dataDir: join(folder, 'service'),
    agent: { kind: 'tone', name: 'Tone', direction: 'any', toneHz: 440 },
    concurrentCalls: 50,
    callsPerSecond: 100,
    webOrigins: [ORIGIN],
    volatileDatabase: true,
    log: () => {},
  } as const;
  const receiver = await startWebhookReceiver();
  const service = await startServiceFor(wanted, carrier);
  stop = async () => {
    await service.stop(0);
    receiver.close();
  };
  const made = await makeWorkspace(service, carrier, receiver, wanted);
  deployment = [
    ...['--url', service.publicUrl, '--enterprise', made.enterprise, '--agent', made.agentId, '--from', made.lineId],
    ...['--api-key', made.apiKey, '--public-key', made.publicKey ?? '', '--origin', ORIGIN],
    ...['--carrier-listen', `127.0.0.1:${carrierPort}`],
  ];
});

afterAll(async () => {
  await stop?.();
  rmSync(folder, { recursive: true, force: true });
});

function workload(name: string, callers: object[], forSeconds: number): string {
  const path = join(folder, `${name}.json`);
  const phases = [{ arrivals: 'burst', calls: 4, overSeconds: 2, restSeconds: forSeconds }];
  writeFileSync(path, JSON.stringify({ version: 1, name, phases, callers }));
  return path;
}

const PHONE = { name: 'phone', ringSeconds: 0.1, lengthSeconds: 3, talk: { kind: 'on-off' } };

async function bench(args: readonly string[], interruptAt?: RegExp) {
  const out = mkdtempSync(join(folder, 'out-'));
  const child = spawn(process.execPath, [builtEntry('bench/load/main.js'), ...args, '--out', out], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (data: Buffer) => {
    const before = said;
    said += data.toString();
    if (interruptAt !== undefined && !interruptAt.test(before) && interruptAt.test(said)) child.kill('SIGINT');
  });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  const [shown, code] = await Promise.all([text(child.stdout), ended]);
  const json = readdirSync(out).find((file) => file.endsWith('.json'));
  const html = readdirSync(out).find((file) => file.endsWith('.html'));
  const result = json === undefined ? null : (JSON.parse(readFileSync(join(out, json), 'utf8')) as RunResult);
  return { code, said, shown, result, html };
}

describe('a deployment by address', () => {
  test('is called by phones: each call is placed, answered, heard and told', async () => {
    const { code, said, shown, result, html } = await bench([
      ...deployment,
      '--workload',
      workload('phones', [PHONE], 0),
    ]);
    expect(said).toContain(`CARRIER_API_BASE_PLIVO=http://127.0.0.1:${carrierPort}`);
    // 3 where this machine was too busy for the tool to judge: the calls are what this is about.
    expect([0, 3]).toContain(code);
    expect(result?.calls).toMatchObject({ planned: 4, talked: 4, failed: 0, refused: 0, lost: 0 });
    expect(result?.target).toMatchObject({ kind: 'parley', protocol: 'plivo', onThisMachine: true });
    expect(result?.measures.firstWordMs.count).toBe(4);
    expect(result?.measures.placementMs.count).toBe(4);
    // A tone comes all the time: 50 frames a second, or the same in fewer messages.
    expect(result?.measures.frameLatenessMs.count).toBeGreaterThan(100);
    expect(shown).toContain('talked');
    expect(html).toBeDefined();
  });

  test('is called by browsers too, which lose their sockets and come back', async () => {
    const browser = { ...PHONE, name: 'browser', by: 'browser', lengthSeconds: 5, resumeShare: 1 };
    const { result } = await bench([...deployment, '--workload', workload('browsers', [browser], 0)]);
    expect(result?.calls).toMatchObject({ planned: 4, talked: 4, failed: 0, lost: 0 });
    // On a busy machine more sockets are lost than were dropped; each comes back.
    expect(result?.measures.resumeMs.count).toBeGreaterThanOrEqual(4);
  });

  test('stops at Ctrl-C: every call is hung up, and what there is so far is written', async () => {
    const long = { ...PHONE, lengthSeconds: 600 };
    const { code, result } = await bench([...deployment, '--workload', workload('long', [long], 600)], / 4 begun/);
    expect(code).toBe(130);
    expect(result).toMatchObject({ complete: false, incompleteBecause: 'it was stopped (Ctrl-C)' });
    expect(result?.calls).toMatchObject({ planned: 4, cut: 4 });
  });
});

describe('what is wrong is said before a call', () => {
  const replaced = (option: string, value: string): string[] =>
    deployment.map((word, at) => (deployment[at - 1] === option ? value : word));

  test.each([
    ['--url', 'http://127.0.0.1:9', /--url http:\/\/127.0.0.1:9: nothing listens/],
    ['--url', 'https://voice.example.com', /--i-may-load-this-target/],
    ['--api-key', 'wrong', /--api-key or --enterprise: the deployment does not know that key/],
    ['--agent', '00000000-0000-4000-8000-000000000000', /--agent: the workspace has no such agent/],
    ['--from', '00000000-0000-4000-8000-000000000000', /--from: that is no line/],
  ])('%s %s', async (option, value, expected) => {
    const { code, said, result } = await bench([...replaced(option, value), '--workload', workload('one', [PHONE], 0)]);
    expect(said).toMatch(expected);
    expect(code).toBe(2);
    expect(result).toBeNull();
  });

  test('a carrier base that leads elsewhere', async () => {
    const elsewhere = replaced('--carrier-listen', `127.0.0.1:${await freePort()}`);
    const { code, said } = await bench([...elsewhere, '--workload', workload('one', [PHONE], 0)]);
    expect(said).toMatch(/could not place its first call at its carrier[\s\S]*set\n {2}CARRIER_API_BASE_PLIVO=/);
    expect(code).toBe(2);
  });
});
