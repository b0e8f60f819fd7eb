/**
 * What is measured: our media process with either socket server, the naive gateway, and the floor of both. Each runs as
 * a process of its own.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { builtEntry } from '../../src/config/built-entry.ts';
import { endChild } from '../harness/end-child.ts';
import { freePort } from '../harness/free-port.ts';
import type { HeapReading } from './heap-gauge.ts';
import type { SendCounts } from './send-lateness.ts';
import { startStubControl } from './stub-control.ts';
import { makeCertificate, type ProxyKind, startTlsProxy } from './tls-ends.ts';

export interface Subject {
  name: string;
  /** The call's id is appended. */
  urlPrefix: string;
  pid: number;
  /** Of what stands before it and is measured with it; null: nothing does. */
  proxyPid: number | null;
  /** Which certificate the far end is to trust; null: no TLS. */
  caFile: string | null;
  /** The naive gateway does all on one thread. */
  hasPipelineThread: boolean;
  /** What the frames sent so far were late by; null where there is no such count. */
  sends(): SendCounts | null;
  /** Reads memory; after `countCollections` also what was collected since, and the garbage of the following 0.8 s. */
  gauge(): Promise<HeapReading>;
  countCollections(): void;
  stop(): Promise<void>;
}

const STOP_LIMIT_MS = 5_000;
const METRICS_EVERY_MS = 500;
/** Where `heap-gauge.ts` writes. */
const GAUGE_FD = 4;
const GAUGED = { execArgv: ['--import', pathToFileURL(builtEntry('bench/calls/heap-gauge.js')).href] };

function gaugeOf(child: ChildProcess): Pick<Subject, 'gauge' | 'countCollections'> {
  const waiting: ((reading: HeapReading) => void)[] = [];
  createInterface({ input: child.stdio[GAUGE_FD] as Readable }).on('line', (line) => {
    waiting.shift()?.(JSON.parse(line) as HeapReading);
  });
  return {
    gauge() {
      const read = new Promise<HeapReading>((done) => waiting.push(done));
      child.kill('SIGUSR2');
      return read;
    },
    countCollections: () => void child.kill('SIGUSR2'),
  };
}

/** All on one thread, and nothing but sockets. */
function startOther(name: string, entry: string, env: Record<string, string> = {}): () => Promise<Subject> {
  return async () => {
    const child = fork(builtEntry(entry), [], {
      ...GAUGED,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc', 'pipe'],
    });
    const line = await new Promise<string>((done) =>
      child.stdout?.once('data', (data: Buffer) => done(data.toString())),
    );
    const { url } = JSON.parse(line) as { url: string };
    return {
      name,
      urlPrefix: `${url}/media/plivo/`,
      pid: child.pid ?? 0,
      proxyPid: null,
      caFile: null,
      hasPipelineThread: false,
      sends: () => null,
      ...gaugeOf(child),
      stop: () => endChild(child, STOP_LIMIT_MS),
    };
  };
}

export const NAIVE = 'naive ws';
export const FLOOR = 'uWS alone';
export const startNaiveGateway = startOther(NAIVE, 'bench/calls/naive-gateway.js');
export const startUwsFloor = startOther(FLOOR, 'bench/calls/uws-floor.js');

/** uWebSockets.js alone, which ends TLS itself. */
export async function startUwsFloorWithTls(): Promise<Subject> {
  const certificate = makeCertificate();
  const { keyFile, certFile } = certificate;
  const env = { PARLEY_BENCH_TLS: JSON.stringify({ keyFile, certFile }) };
  const subject = await startOther(`${FLOOR}, TLS`, 'bench/calls/uws-floor.js', env)();
  return {
    ...subject,
    caFile: certFile,
    async stop() {
      await subject.stop();
      certificate.remove();
    },
  };
}

/** A subject with a proxy before it that ends TLS. */
export async function behindTlsProxy(kind: ProxyKind, start: () => Promise<Subject>): Promise<Subject> {
  const subject = await start();
  const certificate = makeCertificate();
  const { port: upstreamPort, pathname } = new URL(subject.urlPrefix);
  try {
    const proxy = await startTlsProxy(kind, Number(upstreamPort), certificate);
    return {
      ...subject,
      name: `${subject.name}, TLS in ${kind}`,
      urlPrefix: `wss://127.0.0.1:${proxy.port}${pathname}`,
      proxyPid: proxy.pid,
      caFile: certificate.certFile,
      async stop() {
        await proxy.stop();
        await subject.stop();
        certificate.remove();
      },
    };
  } catch (error) {
    await subject.stop();
    certificate.remove();
    throw error;
  }
}

export async function startMediaProcess(
  socketServer: 'uws' | 'ws',
  framesPerMessage: 1 | 3,
  logLevel: 'warn' | 'fatal' = 'warn',
  record = false,
): Promise<Subject> {
  const runDir = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const agent = { kind: 'tone', name: 'bench tone', direction: 'any', toneHz: 400 } as const;
  const control = startStubControl(runDir, agent, { record });
  const port = await freePort();
  const config = {
    mediaId: 'bench',
    host: '127.0.0.1',
    port,
    runDir,
    dataDir: runDir,
    pipelineThreads: 1,
    ttsThreads: 0,
    sttThreads: 0,
    capacityCalls: 5_000,
    framesPerMessage: { plivo: framesPerMessage },
    metricsEveryMs: METRICS_EVERY_MS,
    socketServer,
    // Where TLS ends before it.
    trustedProxies: ['127.0.0.1/32'],
    logLevel,
  };
  const child = fork(builtEntry('media/main.js'), [], {
    env: { ...process.env, PARLEY_MEDIA_CONFIG: JSON.stringify(config) },
    ...GAUGED,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
  });
  await new Promise<void>((ready, failed) => {
    child.once('message', () => ready());
    child.once('exit', (code) => failed(new Error(`the media process ended with code ${code} before it was ready`)));
  });
  const { socketServer: running } = await control.hello;
  return {
    name: `parley ${running} ${framesPerMessage * 20} ms${record ? ', recorded' : ''}`,
    urlPrefix: `ws://127.0.0.1:${port}/media/plivo/`,
    pid: child.pid ?? 0,
    proxyPid: null,
    caFile: null,
    hasPipelineThread: true,
    sends: () => control.sends(),
    ...gaugeOf(child),
    async stop() {
      await endChild(child, STOP_LIMIT_MS);
      control.close();
      rmSync(runDir, { recursive: true, force: true });
    },
  };
}
