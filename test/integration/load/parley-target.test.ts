/**
 * The load tester as a program of its own against a service that was started elsewhere, by address and keys alone: a
 * small workload of phones and browsers, what is said of wrong options, and a stop in the middle.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWebhookReceiver } from '../../../bench/demo/webhook-receiver.ts';
import { freePort } from '../../../bench/harness/free-port.ts';
import { makeWorkspace, startServiceFor } from '../../../bench/harness/gateway.ts';
import type { RunResult } from '../../../bench/load/contract/run-result.ts';
import { createParleyClient, type ParleyClient } from '../../../clients/typescript/src/client.ts';
import { EMULATED_ACCOUNT } from '../../../src/carriers/emulated-account.ts';
import { eventually } from '../../support/eventually.ts';
import { type BenchEnd, refuseBench, runBench, writeBurst } from '../../support/load-tester.ts';
import { type Mood, startMoodyProxy } from '../../support/moody-proxy.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { settingsOn } from '../../support/test-gateway.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-load-test-'));
const ORIGIN = 'http://localhost:3000';
let carrierPort: number;
let deployment: string[];
let client: ParleyClient;
let stop: () => Promise<void>;

beforeAll(async () => {
  carrierPort = await freePort();
  const stored = await createTestDatabase();
  const carrier = { apiBase: `http://127.0.0.1:${carrierPort}`, credentials: EMULATED_ACCOUNT };
  const wanted = {
    dataDir: join(folder, 'service'),
    agent: { kind: 'tone', name: 'Tone', direction: 'any', toneHz: 440 },
    concurrentCalls: 50,
    callsPerSecond: 100,
    webOrigins: [ORIGIN],
    settings: settingsOn(stored),
    log: () => {},
  } as const;
  const receiver = await startWebhookReceiver();
  const service = await startServiceFor(wanted, carrier);
  stop = async () => {
    await service.stop(0);
    receiver.close();
    await stored.close();
  };
  const made = await makeWorkspace(service, carrier, receiver, wanted);
  client = createParleyClient({ baseUrl: service.publicUrl, apiKey: made.apiKey });
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

/** How late the tool is on a busy machine is not what these are about. */
const UNHURRIED = ['--limit-ms', '10000'];
const LATE_FROM_MS = 10;
/**
 * Where the tool was late itself, a call may end before anything of it is heard: without a stream (as its callee hangs
 * up, or refused by a control process that was late too), without a sound, or as a browser that was too slow to start.
 */
const ENDED_TOO_SOON = ['4000', '503', 'silent', 'start_timeout'];

function endedTooSoon({ generator, calls }: RunResult): number {
  const { callLatenessMs, frameLatenessMs } = generator;
  const isLate = [callLatenessMs, frameLatenessMs].some(({ p99 }) => p99 === null || p99 > LATE_FROM_MS);
  return isLate ? ENDED_TOO_SOON.reduce((sum, code) => sum + (calls.failedBy[code] ?? 0), 0) : 0;
}

/** Of four calls; `others`: those that shall not talk, by why. */
function expectTalks({ result }: BenchEnd, talked: number, others: Partial<RunResult['calls']> = {}): void {
  const { failed = 0, ...counts } = others;
  const soon = endedTooSoon(result!);
  const wanted = { planned: 4, talked: talked - soon, failed: failed + soon, refused: 0, lost: 0, ...counts };
  // With each code: what it was that failed is what one wants to know.
  expect(result!.calls, JSON.stringify(result!.calls.failedBy)).toMatchObject(wanted);
}

/** Sooner than a phone here would stop ringing by itself. */
const TOLD_WITHIN_MS = 25_000;
/** From the answer on. */
const PHONE = { name: 'phone', ringSeconds: 0.1, lengthSeconds: 8, talk: { kind: 'on-off' } };

const workload = (name: string, callers: object[], restSeconds: number): string =>
  writeBurst(folder, name, { calls: 4, overSeconds: 2, restSeconds, callers });
const bench = (args: readonly string[], interruptAt?: RegExp) =>
  runBench(folder, args, interruptAt === undefined ? {} : { interruptAt });

/** With another value of an option. */
const replaced = (option: string, value: string): string[] =>
  deployment.map((word, at) => (deployment[at - 1] === option ? value : word));

/** In the target's own log: none may, once the tool has ended and the target has taken in what it was told. */
async function noCallGoesOn(): Promise<void> {
  await eventually(
    'the end of each call',
    async () => {
      const { data } = await client.listCalls({ status: 'queued,dialing,ringing,in_progress' });
      return data.data.length === 0;
    },
    { limitMs: TOLD_WITHIN_MS },
  );
}

describe('a deployment by address', () => {
  test('is called by phones: each call is placed, answered, heard and told', async () => {
    const end = await bench([...deployment, '--workload', workload('phones', [PHONE], 0)]);
    const { code, said, shown, result, html } = end;
    expect(said).toContain(`CARRIER_API_BASE_PLIVO=http://127.0.0.1:${carrierPort}`);
    // 3 where this machine was too busy for the tool to judge: the calls are what this is about.
    expect([0, 3]).toContain(code);
    expectTalks(end, 4);
    expect(result?.target).toMatchObject({
      kind: 'parley',
      protocol: 'plivo',
      onThisMachine: true,
      version: 'API 1',
    });
    await noCallGoesOn();
    expect(result?.measures.firstWordMs.count).toBe(result?.calls.talked);
    expect(result?.measures.placementMs.count).toBe(4);
    // A tone comes all the time: 50 frames a second, or the same in fewer messages.
    expect(result?.measures.frameLatenessMs.count).toBeGreaterThan(100);
    expect(shown).toContain('talked');
    expect(html).toBeDefined();
  });

  test('is called by browsers too, which lose their sockets and come back', async () => {
    const browser = { ...PHONE, name: 'browser', by: 'browser', lengthSeconds: 10, resumeShare: 1 };
    const end = await bench([...deployment, '--workload', workload('browsers', [browser], 0)]);
    expectTalks(end, 4);
    expect(end.result?.measures.resumeMs.count).toBeGreaterThanOrEqual(end.result!.calls.talked);
    expect(end.result?.target).toMatchObject({ kind: 'browser', version: 'API 1' });
  });

  test.each([
    ['talk', { ...PHONE, lengthSeconds: 600 }],
    ['ring', { ...PHONE, ringSeconds: 50 }],
  ])(
    'stops at Ctrl-C while phones %s: every call is hung up, here and there, and what there is is written',
    async (name, phone) => {
      const { code, shown, result } = await bench(
        [...deployment, '--workload', workload(name, [phone], 600)],
        / 4 begun/,
      );
      expect(code).toBe(130);
      expect(result).toMatchObject({ complete: false, incompleteBecause: 'it was stopped' });
      expect(result?.calls).toMatchObject({ planned: 4, cut: 4 });
      expect(shown).toContain('Incomplete: it was stopped');
      await noCallGoesOn();
    },
  );
});

describe('a deployment that breaks in the middle of a run', () => {
  const LATE = 4;
  const answers =
    (status: number, headers: Record<string, string>, body: string): Mood =>
    (nth, response) => {
      if (nth < LATE) return false;
      response.writeHead(status, headers).end(body);
      return true;
    };
  const HTML = { 'content-type': 'text/html' };
  const JSON_TYPE = { 'content-type': 'application/json' };
  // The check is one placement, and two calls come through.
  test.each<[string, Mood, Partial<RunResult['calls']>]>([
    ['answers garbage', answers(200, HTML, '<html>It works!</html>'), { failed: 2, failedBy: { garbage: 2 } }],
    [
      'throttles',
      answers(429, { ...JSON_TYPE, 'x-error-code': 'api_rate_limit' }, '{"success":false,"message":"Too many."}'),
      { refused: 2, refusedBy: { api_rate_limit: 2 } },
    ],
    ['is overloaded behind a proxy', answers(503, HTML, '<html>busy</html>'), { failed: 2, failedBy: { garbage: 2 } }],
    [
      'is being stopped',
      answers(503, { ...JSON_TYPE, 'x-error-code': 'draining' }, '{"success":false,"message":"Not now."}'),
      { refused: 2, refusedBy: { draining: 2 } },
    ],
    [
      'hangs up on its clients',
      (nth, response) => {
        if (nth >= LATE) response.destroy();
        return nth >= LATE;
      },
      { failed: 2, failedBy: { UND_ERR_SOCKET: 2 } },
    ],
  ])('%s', async (name, mood, counts) => {
    const proxy = await startMoodyProxy(deployment[1]!, mood);
    try {
      const path = workload(name.replaceAll(' ', '-'), [PHONE], 0);
      const end = await bench([...replaced('--url', proxy.url), ...UNHURRIED, '--workload', path]);
      const { code, result, html } = end;
      expectTalks(end, 2, counts);
      expect(result?.complete).toBe(true);
      expect(html).toBeDefined();
      expect(code).toBe(1);
      expect(proxy.placements).toBe(5);
      await noCallGoesOn();
    } finally {
      await proxy.close();
    }
  });

  describe('answers nobody any more', () => {
    const stopped = async (...interruptAt: RegExp[]): Promise<BenchEnd> => {
      const proxy = await startMoodyProxy(deployment[1]!, (nth) => nth >= LATE);
      const path = workload('mute', [{ ...PHONE, lengthSeconds: 600 }], 600);
      const args = [...replaced('--url', proxy.url), '--workload', path];
      return runBench(folder, args, { interruptAt }).finally(() => proxy.close());
    };

    test('Ctrl-C ends the run all the same', async () => {
      const { code, result } = await stopped(/ 4 begun/);
      expect(code).toBe(130);
      expect(result?.calls).toMatchObject({ planned: 4, cut: 4 });
      await noCallGoesOn();
    });

    test('Ctrl-C twice ends it at once, without a report', async () => {
      const { code, said, result } = await stopped(/ 4 begun/, /stopping: every call is hung up/);
      expect([code, result]).toEqual([130, null]);
      expect(said).toContain('stopped at once; calls may ring on until their carrier ends them');
    });
  });
});

describe('what is wrong is said before a call', () => {
  test.each([
    ['--url', 'http://127.0.0.1:9', /--url http:\/\/127.0.0.1:9: nothing listens/],
    ['--url', 'https://voice.example.com', /--i-may-load-this-target/],
    ['--api-key', 'wrong', /--api-key or --enterprise: the deployment does not know that key/],
    ['--enterprise', 'nobody', /--enterprise/],
    ['--agent', '00000000-0000-4000-8000-000000000000', /--agent: the workspace has no such agent/],
    ['--from', '00000000-0000-4000-8000-000000000000', /--from: that is no line/],
  ])('%s %s', async (option, value, expected) => {
    const { code, said, result } = await refuseBench(folder, [
      ...replaced(option, value),
      '--workload',
      workload('one', [PHONE], 0),
    ]);
    expect(said).toMatch(expected);
    expect(code).toBe(2);
    expect(result).toBeNull();
  });

  test('an address at which something else answers', async () => {
    const proxy = await startMoodyProxy(deployment[1]!, (_nth, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>It works!</html>');
      return true;
    });
    try {
      const { code, said } = await refuseBench(folder, [
        ...replaced('--url', proxy.url),
        '--workload',
        workload('one', [PHONE], 0),
      ]);
      expect(said).toMatch(/the first call was not taken: .* 200 with what is no answer of Parley: <html>/);
      expect(code).toBe(2);
    } finally {
      await proxy.close();
    }
  });

  test.each([
    [['--limit-ms', 'little'], /--limit-ms little: write a number/],
    [['--processes', '0'], /--processes 0: write a number from 1/],
    [['--gap-buffer-ms', '-1'], /--gap-buffer-ms -1: write a number from 0/],
    [['--metrics', 'http://127.0.0.1:9/metrics'], /--metrics http:\/\/127.0.0.1:9\/metrics: no figures were had there/],
    [['--pid', '4194304'], /--pid 4194304: there is no such process/],
    [['--stream', 'ws://127.0.0.1:9'], /--url and --stream: a run has one target/],
    [['--fail-if', 'replies>2'], /replies/],
    [['--carrier-listen', 'here'], /--carrier-listen here: write host:port/],
    [['--to', '1415*'], /--to 1415\*/],
    [['--loudly'], /unknown option '--loudly'/],
  ])('%s', async (options, expected) => {
    const { code, said, result } = await refuseBench(folder, [
      ...deployment,
      ...options,
      '--workload',
      workload('one', [PHONE], 0),
    ]);
    expect(said).toMatch(expected);
    expect(code).toBe(2);
    expect(result).toBeNull();
  });

  test('by a program of its own', async () => {
    const { code, said, result } = await bench([...deployment, '--loudly', '--workload', workload('one', [PHONE], 0)]);
    expect(said).toMatch(/unknown option '--loudly'/);
    expect([code, result]).toEqual([2, null]);
  });

  test('a carrier base that leads elsewhere', async () => {
    const elsewhere = replaced('--carrier-listen', `127.0.0.1:${await freePort()}`);
    const { code, said } = await refuseBench(folder, [...elsewhere, '--workload', workload('one', [PHONE], 0)]);
    expect(said).toMatch(/could not place its first call at its carrier[\s\S]*set\n {2}CARRIER_API_BASE_PLIVO=/);
    expect(code).toBe(2);
  });
});
