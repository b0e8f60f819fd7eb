/** The recorder's built thread: real messages, shared memory, disk and time. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import type { FromRecorder, ToRecorder } from '../../media/contract/thread-messages.ts';
import type { RecorderThreadData } from '../../media/recorder/recorder.ts';
import { PLAYED, RECEIVED } from '../../media/rings/record-ring.ts';
import { eventually } from '../support/eventually.ts';
import {
  createCaller,
  decodeRecording,
  KEY_HEX,
  sendTone,
  toneDbfs,
} from '../unit/media/recorder/recording-harness.ts';

const THREAD = new URL('../../dist/media/threads/recorder-thread.js', import.meta.url);
const CALL = '018f2f6e-2222-7000-8000-000000000001';
const CALLER_HZ = 437;
const AGENT_HZ = 1203;

const workers: Worker[] = [];
const folders: string[] = [];

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.terminate()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newDataDir(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-recorder-thread-'));
  folders.push(dataDir);
  return dataDir;
}

async function startThread(dataDir: string, runId = 'run-1') {
  const workerData: RecorderThreadData = { dataDir, mediaId: 'media-0', runId, logLevel: 'silent' };
  const worker = new Worker(THREAD, { workerData });
  workers.push(worker);
  const messages: FromRecorder[] = [];
  worker.on('message', (message: FromRecorder) => {
    messages.push(message);
    // As control answers.
    if (message.type === 'key.wanted')
      worker.postMessage({ ...message, type: 'key', disposition: { kind: 'open', keyHex: KEY_HEX } });
  });
  await eventually('ready', () => messages.find(({ type }) => type === 'ready'));
  return {
    worker,
    post: (message: ToRecorder) => worker.postMessage(message),
    finished: (callUuid: string) =>
      eventually(`the end of ${callUuid}`, () =>
        messages.filter((message) => message.type === 'finished').find((message) => message.callUuid === callUuid),
      ),
  };
}

/** Sends both tones as fast as the ring takes them. */
async function talk(caller: ReturnType<typeof createCaller>, fromMs: number, untilMs: number): Promise<void> {
  for (let atMs = fromMs; atMs < untilMs; atMs += 20) {
    if (caller.ring.freeFrames < 2) {
      await eventually('an empty ring', () => (caller.ring.queuedFrames === 0 ? true : undefined));
    }
    expect(sendTone(caller, RECEIVED, atMs, CALLER_HZ) && sendTone(caller, PLAYED, atMs, AGENT_HZ)).toBe(true);
  }
}

function expectTones({ left, right }: { left: Int16Array; right: Int16Array }): void {
  expect(toneDbfs(left, 8000, CALLER_HZ) - toneDbfs(left, 8000, AGENT_HZ)).toBeGreaterThan(20);
  expect(toneDbfs(right, 8000, AGENT_HZ) - toneDbfs(right, 8000, CALLER_HZ)).toBeGreaterThan(20);
}

describe('recorder thread', () => {
  it('records 20 s of a call into an Ogg/Opus file, caller left and agent right, exact to the millisecond', async () => {
    const dataDir = newDataDir();
    const thread = await startThread(dataDir);
    const caller = createCaller();
    thread.post({
      type: 'open',
      callUuid: CALL,
      epoch: 1,
      format: caller.format,
      ring: caller.memory,
      keyHex: KEY_HEX,
    });
    await talk(caller, 0, 20_000);
    thread.post({ type: 'close', callUuid: CALL, epoch: 1, durationMs: 20_007 });
    const { recording, error } = await thread.finished(CALL);
    expect(error).toBeNull();
    expect(recording).toMatchObject({ durationMs: 20_007, channels: 2, rateHz: 8000 });
    expect(statSync(recording!.path).size).toBeGreaterThan(recording!.sizeBytes);
    const sound = await decodeRecording(recording!.path);
    expect(sound.left.length).toBe(20_007 * 8);
    expectTones(sound);
    expect(caller.ring.droppedFrames).toBe(0);
  });

  it('finishes, on a new run, the call whose process died', async () => {
    const dataDir = newDataDir();
    const first = await startThread(dataDir);
    const caller = createCaller();
    first.post({ type: 'open', callUuid: CALL, epoch: 1, format: caller.format, ring: caller.memory, keyHex: KEY_HEX });
    await talk(caller, 0, 24_000);
    // 24 s were sent: the first 19 s, at least, must come to the disk by themselves.
    const secondSegment = join(dataDir, 'recordings', dayIn(dataDir), CALL, '000001.sealed');
    await eventually('19 s on disk', () => (sizeOf(secondSegment) > 64 + 9 * 16_000 ? true : undefined));
    await first.worker.terminate();
    const folder = join(secondSegment, '..');
    for (const name of [...readdirSync(folder), '.']) utimesSync(join(folder, name), 1, 1);
    const next = await startThread(dataDir, 'run-2');
    const { recording, error } = await next.finished(CALL);
    expect(error).toBeNull();
    expect(recording!.durationMs).toBeGreaterThanOrEqual(19_000);
    expectTones(await decodeRecording(recording!.path));
  });

  it('goes on with a call in a thread that replaces one that was terminated', async () => {
    const dataDir = newDataDir();
    const first = await startThread(dataDir);
    const caller = createCaller();
    first.post({ type: 'open', callUuid: CALL, epoch: 1, format: caller.format, ring: caller.memory, keyHex: KEY_HEX });
    await talk(caller, 0, 12_000);
    await eventually('an empty ring', () => (caller.ring.queuedFrames === 0 ? true : undefined));
    await first.worker.terminate();
    await talk(caller, 12_000, 12_500);
    const next = await startThread(dataDir);
    next.post({ type: 'open', callUuid: CALL, epoch: 1, format: caller.format, ring: caller.memory, keyHex: KEY_HEX });
    await talk(caller, 12_500, 20_000);
    next.post({ type: 'close', callUuid: CALL, epoch: 1, durationMs: 20_000 });
    const { recording } = await next.finished(CALL);
    expect(recording!.durationMs).toBe(20_000);
    const { left } = await decodeRecording(recording!.path);
    expect(toneDbfs(left.subarray(0, 7 * 8000), 8000, CALLER_HZ)).toBeGreaterThan(-15);
    expect(toneDbfs(left.subarray(12 * 8000), 8000, CALLER_HZ)).toBeGreaterThan(-15);
  });

  it.runIf(process.platform === 'linux')('runs at nice 10, and leaves the process’s other threads alone', async () => {
    const before = getPriority(0);
    await startThread(newDataDir());
    expect(getPriority(0)).toBe(before);
    const niceOf = (task: string) =>
      Number(readFileSync(`/proc/self/task/${task}/stat`, 'utf8').split(') ')[1]!.split(' ')[16]);
    const others = readdirSync('/proc/self/task').filter((task) => niceOf(task) !== before);
    // A run that is nicer itself leaves nothing to tell it by.
    if (before < 10) expect(others.map(niceOf)).toEqual([10]);
  });

  it('finishes 20 calls of 30 s each in a burst', async () => {
    const dataDir = newDataDir();
    const thread = await startThread(dataDir);
    const calls = Array.from({ length: 20 }, (_, i) => CALL.slice(0, -2) + String(10 + i));
    for (const callUuid of calls) {
      const caller = createCaller();
      thread.post({ type: 'open', callUuid, epoch: 1, format: caller.format, ring: caller.memory, keyHex: KEY_HEX });
      sendTone(caller, RECEIVED, 29_000, CALLER_HZ);
    }
    for (const callUuid of calls) thread.post({ type: 'close', callUuid, epoch: 1, durationMs: 29_500 });
    for (const callUuid of calls) expect((await thread.finished(callUuid)).recording?.durationMs).toBe(29_500);
    expect(segmentsIn(dataDir)).toHaveLength(20);
  });
});

function dayIn(dataDir: string): string {
  return readdirSync(join(dataDir, 'recordings'))[0]!;
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}

function segmentsIn(dataDir: string): string[] {
  return readdirSync(join(dataDir, 'recordings'), { recursive: true })
    .map(String)
    .filter((path) => path.endsWith('.sealed'))
    .sort()
    .map((path) => join(dataDir, 'recordings', path));
}
