import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import { rmsDbfs } from '../../../../media/audio/levels.ts';
import type { OpusCodec } from '../../../../media/audio/opus-codec.ts';
import type { Clock } from '../../../../media/contract/clock.ts';
import type { RecordingFacts } from '../../../../media/contract/conversation.ts';
import { openFileCipher } from '../../../../media/files/encrypted-file.ts';
import { listSegments } from '../../../../media/recorder/segment-files.ts';
import { PLAYED, RECEIVED } from '../../../../media/rings/record-ring.ts';
import { readEncrypted } from '../../../support/encrypted-recording.ts';
import { eventually } from '../../../support/eventually.ts';
import {
  codec,
  createCaller,
  createHarness,
  DATA_KEY,
  decodeRecording,
  sendTone,
  soundsIn,
  toneDbfs,
} from './recording-harness.ts';

const CALL = '018f2f6e-1111-7000-8000-000000000001';
/** Of opus-tools; not needed, but asked where it is. */
const independentJudge = 'opusinfo';
const hasOpusinfo = spawnSync(independentJudge, ['--version']).error === undefined;
/** A block of 400 ms of mu-law stereo, encrypted. */
const CHUNK = 6400 + 16;
const CHUNK_SAMPLES = 3200;
const CALLER_HZ = 437;
const AGENT_HZ = 1203;

type Harness = ReturnType<typeof createHarness>;
type Caller = ReturnType<typeof createCaller>;
const harnesses: Harness[] = [];

function harness(overrides: Parameters<typeof createHarness>[0] = {}): Harness {
  const made = createHarness(overrides);
  harnesses.push(made);
  return made;
}

afterEach(() => {
  for (const made of harnesses.splice(0)) made.remove();
});

/**
 * Lets time pass as in a call: frames every 20 ms, ticks in between. The tone of a direction is 0 where it is silent.
 */
function talk(
  { clock }: Harness,
  caller: Caller,
  fromMs: number,
  untilMs: number,
  tones: (atMs: number) => [received: number | null, played: number | null],
): void {
  for (let atMs = fromMs; atMs < untilMs; atMs += 20) {
    const [received, played] = tones(atMs);
    if (received !== null) sendTone(caller, RECEIVED, atMs, received);
    if (played !== null) sendTone(caller, PLAYED, atMs, played);
    clock.advanceMs(20);
  }
}

const bothTones = (): [number, number] => [CALLER_HZ, AGENT_HZ];

async function finishedFile(made: Harness) {
  await made.recorder.idle();
  const { recording, error } = made.finished.at(-1)!;
  expect(error).toBeNull();
  return { ...(await decodeRecording(recording!.path)), recording: recording! };
}

function damage(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = bytes[at]! ^ 0x10;
  writeFileSync(path, bytes);
}

/** Bits a byte: 8 for what cannot be told from chance. */
function entropyOf(bytes: Uint8Array): number {
  const counts = new Float64Array(256);
  for (const byte of bytes) counts[byte]!++;
  return counts.reduce(
    (sum, count) => (count === 0 ? sum : sum - (count / bytes.length) * Math.log2(count / bytes.length)),
    0,
  );
}

/** Where there is sound is told with what was just encoded, and not again of a file that was finished before. */
function withoutSound({ sound: _sound, ...facts }: RecordingFacts): RecordingFacts {
  return facts;
}

describe('recorder', () => {
  it('records the caller left and the agent right, each 25 dB or more above the other’s tone though both sound at once, and not a sample too long', async () => {
    const made = harness();
    const caller = createCaller();
    made.recorder.open(CALL, caller.format, caller.memory);
    talk(made, caller, 0, 12_345 - (12_345 % 20), bothTones);
    made.recorder.close(CALL, 12_345);
    const { left, right, recording } = await finishedFile(made);
    expect(left.length).toBe(12_345 * 8);
    const middle = (samples: Int16Array) => samples.subarray(8000, 88_000);
    const callerLeft = toneDbfs(middle(left), 8000, CALLER_HZ);
    const agentRight = toneDbfs(middle(right), 8000, AGENT_HZ);
    expect(callerLeft).toBeGreaterThan(-15);
    expect(agentRight).toBeGreaterThan(-15);
    expect(callerLeft - toneDbfs(middle(left), 8000, AGENT_HZ)).toBeGreaterThan(25);
    expect(agentRight - toneDbfs(middle(right), 8000, CALLER_HZ)).toBeGreaterThan(25);
    expect(recording).toMatchObject({ format: 'ogg_opus', channels: 2, rateHz: 8000, durationMs: 12_345 });
  });

  it('tells the file’s own path, size and SHA-256 of the sound file, and leaves neither segments nor temporary files', async () => {
    const made = harness();
    const caller = createCaller();
    made.recorder.open(CALL, caller.format, caller.memory);
    talk(made, caller, 0, 1000, bothTones);
    made.recorder.close(CALL, 1000);
    const { recording } = await finishedFile(made);
    const file = await readEncrypted(recording.path, DATA_KEY);
    expect(recording.path).toBe(join(made.day(), `${CALL}.sealed`));
    expect(recording.sizeBytes).toBe(file.length);
    expect(recording.sha256).toBe(createHash('sha256').update(file).digest('hex'));
    expect(readdirSync(made.day())).toEqual([`${CALL}.sealed`]);
  });

  it.runIf(hasOpusinfo)(
    `passes opusinfo without a warning${hasOpusinfo ? '' : ': skipped, opus-tools is not installed here'}`,
    async () => {
      const made = harness();
      const caller = createCaller();
      made.recorder.open(CALL, caller.format, caller.memory);
      talk(made, caller, 0, 3000, bothTones);
      made.recorder.close(CALL, 2995);
      const { recording } = await finishedFile(made);
      const plain = join(made.dataDir, 'plain.ogg');
      writeFileSync(plain, await readEncrypted(recording.path, DATA_KEY));
      const { stdout, stderr } = spawnSync(independentJudge, [plain], { encoding: 'utf8' });
      expect(stdout).toContain('Playback length: 0m:02.995s');
      expect(stdout + stderr).not.toMatch(/warning|error/i);
    },
  );

  it('lets nobody but its owner list or read a recording, while the call runs and after it', async () => {
    const made = harness();
    const caller = createCaller();
    const modes = () => {
      const paths = readdirSync(made.day(), { recursive: true }).map((name) => join(made.day(), String(name)));
      return [join(made.day(), '..'), made.day(), ...paths].map((path) => statSync(path).mode & 0o077);
    };
    made.recorder.open(CALL, caller.format, caller.memory);
    talk(made, caller, 0, 7000, bothTones);
    const during = modes();
    expect(during.length).toBeGreaterThan(4);
    made.recorder.close(CALL, 7000);
    await made.recorder.idle();
    expect([...during, ...modes()].filter((mode) => mode !== 0)).toEqual([]);
  });

  it('keeps levels within 1 dB and gaps below -60 dBFS, each sound within 20 ms of its place', async () => {
    const made = harness();
    const caller = createCaller();
    made.recorder.open(CALL, caller.format, caller.memory);
    talk(made, caller, 0, 8000, (atMs) => [
      (atMs >= 1000 && atMs < 1600) || (atMs >= 5000 && atMs < 6000) ? CALLER_HZ : 0,
      atMs >= 2500 && atMs < 5500 ? AGENT_HZ : null,
    ]);
    made.recorder.close(CALL, 8000);
    const { left, right } = await finishedFile(made);
    const near = (sounds: [number, number][], want: [number, number][]) => {
      expect(sounds.length).toBe(want.length);
      sounds.forEach(([start, end], i) => {
        expect(Math.abs(start - want[i]![0])).toBeLessThanOrEqual(20);
        expect(Math.abs(end - want[i]![1])).toBeLessThanOrEqual(20);
      });
    };
    near(soundsIn(left, 8000), [
      [1000, 1600],
      [5000, 6000],
    ]);
    near(soundsIn(right, 8000), [[2500, 5500]]);
    const levelOfTone = 20 * Math.log10(10000 / 32768) - 3.01;
    expect(Math.abs(rmsDbfs(left, 5200 * 8, 600 * 8) - levelOfTone)).toBeLessThan(1);
    expect(Math.abs(rmsDbfs(right, 3000 * 8, 2000 * 8) - levelOfTone)).toBeLessThan(1);
    expect(rmsDbfs(left, 2000 * 8, 2500 * 8)).toBeLessThan(-60);
    expect(rmsDbfs(right, 1100 * 8, 1300 * 8)).toBeLessThan(-60);
  });

  it('appends sealed segments of 10 s, a chunk each 400 ms, while the call runs', () => {
    const made = harness();
    const caller = createCaller();
    made.recorder.open(CALL, caller.format, caller.memory);
    talk(made, caller, 0, 26_000, bothTones);
    const folder = join(made.day(), CALL);
    expect(readdirSync(folder)).toEqual(['000000.sealed', '000001.sealed', '000002.sealed', 'owner']);
    const second = readFileSync(join(folder, '000001.sealed'));
    expect(second.length).toBe(64 + 25 * CHUNK);
    const { chunkBytes, sound } = openFileCipher(DATA_KEY, second);
    expect([chunkBytes, sound]).toEqual([6400, { format: caller.format, firstSample: 80_000 }]);
    expect(statSync(join(folder, '000002.sealed')).size).toBe(64 + 15 * CHUNK);
  });

  it('writes no sound, no silence and no header that a player knows, from the first byte on, nor a word that names anybody', async () => {
    const made = harness();
    const caller = createCaller();
    made.recorder.open(CALL, caller.format, caller.memory);
    talk(made, caller, 0, 12_000, (atMs) => (atMs < 6000 ? [0, null] : bothTones()));
    const files = () =>
      readdirSync(join(made.dataDir, 'recordings'), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => ({ name: entry.name, bytes: readFileSync(join(entry.parentPath, entry.name)) }));
    const seen = files();
    made.recorder.close(CALL, 12_000);
    await made.recorder.idle();
    seen.push(...files());
    expect(seen.length).toBeGreaterThan(2);
    for (const { name, bytes } of seen) {
      for (const mark of ['RIFF', 'OggS', 'OpusHead', 'Opus', 'caller', 'agent', '+1415']) {
        expect(bytes.includes(mark), `${name} holds ${mark}`).toBe(false);
      }
      if (name.endsWith('.sealed')) expect(entropyOf(bytes.subarray(64)), name).toBeGreaterThan(7.9);
    }
  });

  it('records nothing at all without a key, and says why', async () => {
    const made = harness();
    const caller = createCaller();
    made.recorder.open(CALL, caller.format, caller.memory, 1, undefined, '');
    talk(made, caller, 0, 6000, bothTones);
    made.recorder.close(CALL, 6000);
    await made.recorder.idle();
    expect(made.finished[0]).toMatchObject({ recording: null, error: expect.stringContaining('no key') });
    expect(existsSync(join(made.dataDir, 'recordings'))).toBe(false);
  });

  it('has all but the last 600 ms on disk at any time, whoever speaks', () => {
    for (const tones of [bothTones, () => [CALLER_HZ, null], () => [null, AGENT_HZ]] as const) {
      const made = harness();
      const caller = createCaller();
      made.recorder.open(CALL, caller.format, caller.memory);
      const folder = join(made.day(), CALL);
      for (let untilMs = 700; untilMs < 12_000; untilMs += 60) {
        talk(made, caller, untilMs === 700 ? 0 : untilMs - 60, untilMs, tones as typeof bothTones);
        const onDiskMs = listSegments(folder, DATA_KEY)!.totalSamples / 8;
        // 200 ms for the other direction, a block of 400, a tick of 100.
        expect(untilMs - onDiskMs).toBeLessThanOrEqual(700);
      }
    }
  });

  it('keeps a frame that came late: what it changes is written again, and holds after a death', async () => {
    const made = harness();
    const caller = createCaller();
    made.recorder.open(CALL, caller.format, caller.memory);
    talk(made, caller, 0, 2000, () => [0, AGENT_HZ]);
    // The caller's socket stalls for 1.5 s; then all of it comes at once.
    talk(made, caller, 2000, 3500, () => [null, AGENT_HZ]);
    for (let atMs = 2000; atMs < 3500; atMs += 20) sendTone(caller, RECEIVED, atMs, CALLER_HZ);
    talk(made, caller, 3500, 5000, () => [0, AGENT_HZ]);
    const next = harness({ dataDir: made.dataDir, runId: 'run-2' });
    next.clock.advanceMs(20_000);
    await next.recorder.salvage();
    const { left, right, recording } = await finishedFile(next);
    expect(recording.durationMs).toBeGreaterThanOrEqual(4300);
    expect(soundsIn(left, 8000).map((ends) => ends.map((ms) => Math.round(ms / 20)))).toEqual([[100, 175]]);
    expect(soundsIn(right, 8000).length).toBe(1);
  });

  it('writes on, as silence, a call in which nothing is heard or said for a minute', async () => {
    const made = harness();
    const caller = createCaller();
    made.recorder.open(CALL, caller.format, caller.memory);
    talk(made, caller, 0, 1000, bothTones);
    made.clock.advanceMs(60_000);
    expect(statSync(join(made.day(), CALL, '000004.sealed')).size).toBe(64 + 25 * CHUNK);
    talk(made, caller, 61_000, 62_000, bothTones);
    made.recorder.close(CALL, 62_000);
    const { left } = await finishedFile(made);
    expect(left.length).toBe(62_000 * 8);
    expect(soundsIn(left, 8000).map(([start]) => Math.round(start / 100))).toEqual([0, 610]);
  });

  it('records a 16 kHz PCM leg at its own rate', async () => {
    const made = harness();
    const caller = createCaller({ codec: 'pcm_s16le', rateHz: 16000 });
    made.recorder.open(CALL, caller.format, caller.memory);
    talk(made, caller, 0, 3000, () => [CALLER_HZ, 5000]);
    made.recorder.close(CALL, 3000);
    const { left, right, rateHz, recording } = await finishedFile(made);
    expect([rateHz, recording.rateHz, left.length]).toEqual([16000, 16000, 48_000]);
    expect(toneDbfs(left.subarray(8000, 40_000), 16000, CALLER_HZ)).toBeGreaterThan(-15);
    expect(toneDbfs(right.subarray(8000, 40_000), 16000, 5000)).toBeGreaterThan(-17);
  });

  it('takes what is still in the ring when the call closes', async () => {
    const made = harness();
    const caller = createCaller();
    made.recorder.open(CALL, caller.format, caller.memory);
    for (let atMs = 0; atMs < 1000; atMs += 20) sendTone(caller, RECEIVED, atMs, CALLER_HZ);
    made.recorder.close(CALL, 1000);
    const { left } = await finishedFile(made);
    expect(soundsIn(left, 8000)[0]![1]).toBeGreaterThan(960);
  });

  it('says in the log how many frames a full ring refused: 100 of 300', async () => {
    const made = harness();
    const caller = createCaller();
    made.recorder.open(CALL, caller.format, caller.memory);
    let refused = 0;
    for (let atMs = 0; atMs < 6000; atMs += 20) if (!sendTone(caller, RECEIVED, atMs, CALLER_HZ)) refused++;
    expect(refused).toBe(100);
    made.recorder.close(CALL, 6000);
    const { left } = await finishedFile(made);
    expect(left.length).toBe(48_000);
    const line = made.logLines.find(({ droppedFrames }) => droppedFrames !== undefined);
    expect(line).toMatchObject({ level: 40, callUuid: CALL, droppedFrames: 100, placedFrames: 200, lateFrames: 0 });
  });

  it('answers with an error for a call that it does not know, that ended before any sound, or whose id is no folder name', async () => {
    const made = harness();
    made.recorder.close('018f2f6e-1111-7000-8000-00000000dead', 1000);
    const caller = createCaller();
    made.recorder.open(CALL, caller.format, caller.memory);
    made.recorder.close(CALL, 0);
    made.recorder.open('../escape', caller.format, caller.memory);
    made.recorder.close('../escape', 1000);
    await made.recorder.idle();
    expect(made.finished.map(({ recording, error }) => [recording, error])).toEqual([
      [null, 'the call was not being recorded'],
      [null, 'the stream ended before it held any sound'],
      [null, '"../escape" cannot name a folder'],
    ]);
    expect(existsSync(join(made.dataDir, 'escape'))).toBe(false);
  });

  it('does not fill the disk when a duration or a frame time is nonsense', async () => {
    const made = harness();
    const caller = createCaller();
    made.recorder.open(CALL, caller.format, caller.memory);
    talk(made, caller, 0, 1000, bothTones);
    sendTone(caller, RECEIVED, 2_000_000_000, CALLER_HZ);
    made.recorder.close(CALL, Number.MAX_SAFE_INTEGER);
    const { left } = await finishedFile(made);
    expect(left.length).toBe(31_000 * 8);
    expect(made.logLines.some(({ implausibleFrames }) => implausibleFrames === 1)).toBe(true);
  });

  it('gives a call’s second stream a file of its own', async () => {
    const made = harness();
    for (const toneHz of [500, 900]) {
      const caller = createCaller();
      made.recorder.open(CALL, caller.format, caller.memory);
      talk(made, caller, 0, 1000, () => [toneHz, 0]);
      made.recorder.close(CALL, 1000);
    }
    await made.recorder.idle();
    const files = made.finished.map(({ recording }) => recording!.path);
    expect(files).toEqual([join(made.day(), `${CALL}.sealed`), join(made.day(), `${CALL}.2.sealed`)]);
    expect(toneDbfs((await decodeRecording(files[0]!)).left.subarray(2000), 8000, 500)).toBeGreaterThan(-15);
    expect(toneDbfs((await decodeRecording(files[1]!)).left.subarray(2000), 8000, 900)).toBeGreaterThan(-15);
  });
});

describe('recorder on a bad disk', () => {
  it('goes on draining, logs once and reports, when the disk fills up in the call; other calls are recorded', async () => {
    let freeBytes = 40_000;
    const made = harness({
      write: (fd, bytes, start, length, position) => {
        if (freeBytes <= 0)
          throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
        freeBytes -= length;
        return writeSync(fd, bytes, start, length, position);
      },
    });
    const caller = createCaller();
    made.recorder.open(CALL, caller.format, caller.memory);
    talk(made, caller, 0, 20_000, bothTones);
    expect(caller.ring.droppedFrames).toBe(0);
    expect(caller.ring.queuedFrames).toBeLessThan(20);
    made.recorder.close(CALL, 20_000);
    freeBytes = 1e9;
    const other = createCaller();
    made.recorder.open(CALL.replace('0001', '0002'), other.format, other.memory);
    talk(made, other, 0, 1000, bothTones);
    made.recorder.close(CALL.replace('0001', '0002'), 1000);
    await made.recorder.idle();
    expect(made.finished.map(({ error }) => error)).toEqual(['ENOSPC: no space left on device, write', null]);
    expect(made.logLines.filter(({ level }) => level >= 50).length).toBe(1);
  });

  it('writes on when the disk takes only 100 bytes at a time', async () => {
    const made = harness({
      write: (fd, bytes, start, length, at) => writeSync(fd, bytes, start, Math.min(length, 100), at),
    });
    const caller = createCaller();
    made.recorder.open(CALL, caller.format, caller.memory);
    talk(made, caller, 0, 7000, bothTones);
    made.recorder.close(CALL, 7000);
    const { left } = await finishedFile(made);
    expect(toneDbfs(left, 8000, CALLER_HZ)).toBeGreaterThan(-15);
  });

  it('reports, and lets the call be, when the folder cannot be made', async () => {
    const made = harness();
    writeFileSync(join(made.dataDir, 'recordings'), 'a file where a folder should be');
    const caller = createCaller();
    made.recorder.open(CALL, caller.format, caller.memory);
    talk(made, caller, 0, 6000, bothTones);
    expect(caller.ring.droppedFrames).toBe(0);
    made.recorder.close(CALL, 6000);
    await made.recorder.idle();
    expect(made.finished[0]).toMatchObject({ recording: null, error: expect.stringMatching(/ENOTDIR|EEXIST/) });
    expect(made.logLines.filter(({ level }) => level >= 50).length).toBe(1);
  });

  it('keeps the segments when the finished file cannot be written, and finishes them after a restart', async () => {
    let full = false;
    const made = harness({
      write: (fd, bytes, start, length, position) => {
        if (full) throw new Error('ENOSPC: no space left on device, write');
        return writeSync(fd, bytes, start, length, position);
      },
    });
    const caller = createCaller();
    made.recorder.open(CALL, caller.format, caller.memory);
    talk(made, caller, 0, 3000, bothTones);
    made.recorder.close(CALL, 3000);
    full = true;
    await made.recorder.idle();
    expect(made.finished[0]).toMatchObject({ recording: null, error: expect.stringContaining('ENOSPC') });
    expect(readdirSync(made.day())).toEqual([CALL]);
    const next = harness({ dataDir: made.dataDir, runId: 'run-2' });
    next.clock.advanceMs(20_000);
    await next.recorder.salvage();
    expect((await finishedFile(next)).recording.durationMs).toBe(3000);
  });

  it('refuses to pass on a file that reads back otherwise than it was written, and keeps the segments', async () => {
    let finishing = false;
    const made = harness({
      write: (fd, bytes, start, length, position) => {
        const wrote = writeSync(fd, bytes, start, length, position);
        if (finishing && position === 64) writeSync(fd, Uint8Array.of(0xbd), 0, 1, position + 4000);
        return wrote;
      },
    });
    const caller = createCaller();
    made.recorder.open(CALL, caller.format, caller.memory);
    talk(made, caller, 0, 3000, bothTones);
    made.recorder.close(CALL, 3000);
    finishing = true;
    await made.recorder.idle();
    expect(made.finished[0]!.error).toMatch(/chunk 0 of 1 is damaged/);
    expect(readdirSync(made.day())).toEqual([CALL]);
  });
});

describe('recorder after a death', () => {
  /** A recorder that died: never stopped, never ticked again. Returns what it left. */
  function died(untilMs: number): { dead: Harness; folder: string } {
    const dead = harness();
    const caller = createCaller();
    dead.recorder.open(CALL, caller.format, caller.memory);
    talk(dead, caller, 0, untilMs, bothTones);
    return { dead, folder: join(dead.day(), CALL) };
  }

  async function restarted(dataDir: string, stillMs = 20_000, runId = 'run-2'): Promise<Harness> {
    const next = harness({ dataDir, runId });
    next.clock.advanceMs(stillMs);
    await next.recorder.salvage();
    await next.recorder.idle();
    return next;
  }

  it('finishes what an earlier run left, less at most 700 ms, and reports it', async () => {
    const { dead } = died(27_000);
    const next = await restarted(dead.dataDir);
    expect(next.finished[0]).toMatchObject({ callUuid: CALL, error: null });
    const { left, right, recording } = await finishedFile(next);
    expect(recording.durationMs).toBeGreaterThanOrEqual(26_300);
    expect(toneDbfs(left, 8000, CALLER_HZ)).toBeGreaterThan(-15);
    expect(toneDbfs(right, 8000, AGENT_HZ)).toBeGreaterThan(-15);
    expect(readdirSync(next.day())).toEqual([`${CALL}.sealed`]);
  });

  it('keeps the streams of one call apart: the one that died at epoch 2 is finished beside the one of epoch 3 that runs', async () => {
    const dead = harness();
    const lost = createCaller();
    dead.recorder.open(CALL, lost.format, lost.memory, 2);
    talk(dead, lost, 0, 12_000, bothTones);
    const next = harness({ dataDir: dead.dataDir, runId: 'run-2' });
    const caller = createCaller();
    next.recorder.open(CALL, caller.format, caller.memory, 3);
    talk(next, caller, 0, 20_000, bothTones);
    await next.recorder.salvage();
    await next.recorder.idle();
    next.recorder.close(CALL, 20_000, 3);
    await next.recorder.idle();
    expect(next.finished.map(({ epoch, recording }) => [epoch, recording?.path.split('/').at(-1)])).toEqual([
      [2, `${CALL}.2.sealed`],
      [3, `${CALL}.3.sealed`],
    ]);
  });

  it('cuts off a chunk that was torn, and reads every chunk before it', async () => {
    const { dead, folder } = died(27_000);
    for (const [cut, samples] of [
      [64 + 2 * CHUNK, 2],
      [64 + 2 * CHUNK - 1, 1],
      [64 + CHUNK + 4321, 1],
      [64 + CHUNK - 16, 0],
    ] as const) {
      truncateSync(join(folder, '000002.sealed'), cut);
      expect(listSegments(folder, DATA_KEY)!.totalSamples, String(cut)).toBe(160_000 + samples * CHUNK_SAMPLES);
    }
    const { left } = await finishedFile(await restarted(dead.dataDir));
    expect(left.length).toBe(160_000);
  });

  it('makes silence of a segment with a damaged header, of a damaged chunk and of a missing end, and moves nothing', async () => {
    const { dead, folder } = died(47_000);
    damage(join(folder, '000001.sealed'), 8);
    damage(join(folder, '000000.sealed'), 64 + 10 * CHUNK + 77);
    truncateSync(join(folder, '000002.sealed'), 64 + 10 * CHUNK);
    const { left, right } = await finishedFile(await restarted(dead.dataDir));
    for (const samples of [left, right]) {
      expect(soundsIn(samples, 8000).map(([start, end]) => [Math.round(start / 100), Math.round(end / 100)])).toEqual([
        [0, 40],
        [44, 100],
        [200, 240],
        [300, 468],
      ]);
    }
  });

  it('sets a folder aside whose key is another one: nothing of it is read and nothing removed', async () => {
    const { dead, folder } = died(12_000);
    const next = harness({
      dataDir: dead.dataDir,
      runId: 'run-2',
      disposition: { kind: 'open', keyHex: '77'.repeat(32) },
    });
    next.clock.advanceMs(20_000);
    await next.recorder.salvage();
    await next.recorder.idle();
    expect(next.finished[0]).toMatchObject({ recording: null, error: expect.stringContaining('no readable segment') });
    expect(readdirSync(`${folder}.unreadable`)).toContain('000000.sealed');
  });

  it('removes what is left of a recording that was erased meanwhile, and keeps one that control knows nothing of', async () => {
    for (const [disposition, left] of [
      [{ kind: 'settled' }, []],
      [{ kind: 'unknown', why: 'the database knows no such recording' }, [CALL]],
    ] as const) {
      const { dead } = died(12_000);
      const next = harness({ dataDir: dead.dataDir, runId: 'run-2', disposition });
      next.clock.advanceMs(20_000);
      await next.recorder.salvage();
      await next.recorder.idle();
      expect(next.finished).toEqual([]);
      expect(readdirSync(next.day())).toEqual(left);
    }
  });

  it('tells once more of a finished file that nobody has fetched for two minutes: who was told has perhaps died', async () => {
    const { dead } = died(12_000);
    const first = (await restarted(dead.dataDir)).finished[0]!.recording!;
    expect((await restarted(dead.dataDir, 60_000, 'run-3')).finished).toEqual([]);
    expect((await restarted(dead.dataDir, 180_000, 'run-4')).finished[0]!.recording).toEqual(withoutSound(first));
  });

  it('finds a file that was finished right before its process died without another restart, and tells of it once', async () => {
    const { dead } = died(12_000);
    const first = (await restarted(dead.dataDir)).finished[0]!.recording!;
    const next = await restarted(dead.dataDir, 1_000, 'run-3');
    expect(next.finished).toEqual([]);
    const pass = async (ms: number): Promise<void> => {
      for (let passedMs = 0; passedMs < ms; passedMs += 15_000) {
        next.clock.advanceMs(15_000);
        // The look reads the folder, and the file is opened again.
        for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
        await next.recorder.idle();
      }
    };
    await eventually('the file', () => next.finished.length > 0, { between: () => pass(15_000) });
    expect(next.finished[0]?.recording).toEqual(withoutSound(first));
    await pass(300_000);
    await eventually('the wait for the next look', () => next.clock.pendingTimers === 1);
    expect(next.finished).toHaveLength(1);
  });

  it('sets a folder aside, unharmed, in which no segment can be read, and removes one that never held sound', async () => {
    const { dead, folder } = died(12_000);
    for (const name of ['000000', '000001'])
      if (existsSync(join(folder, `${name}.sealed`)))
        writeFileSync(join(folder, `${name}.sealed`), 'nonsense'.repeat(100));
    const empty = join(dead.day(), CALL.replace('0001', '0002'));
    mkdirSync(empty);
    writeFileSync(join(empty, 'owner'), 'media-0 run-1');
    const next = await restarted(dead.dataDir);
    expect(next.finished.map(({ recording, error }) => [recording, error?.split(' in ')[0]])).toEqual([
      [null, 'no readable segment'],
      [null, 'no readable segment'],
    ]);
    expect(readdirSync(next.day())).toEqual([`${CALL}.unreadable`]);
    expect((await restarted(dead.dataDir, 20_000, 'run-3')).finished).toEqual([]);
  });

  it('does not touch a folder that was written to within 15 s, but looks again 15 s later', async () => {
    const { dead, folder } = died(12_000);
    const next = harness({ dataDir: dead.dataDir, runId: 'run-2' });
    const paths = [folder, ...readdirSync(folder).map((name) => join(folder, name))];
    // However long the machine took from there to here.
    next.clock.setEpochMs(Math.max(...paths.map((path) => statSync(path).mtimeMs)) + 1);
    await next.recorder.salvage();
    await next.recorder.idle();
    expect(next.finished).toEqual([]);
    next.clock.advanceMs(16_000);
    while (next.finished.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(next.finished[0]!.error).toBeNull();
  });

  it('leaves another process slot’s folder alone until it has been still for an hour', async () => {
    const { dead, folder } = died(12_000);
    writeFileSync(join(folder, 'owner'), 'media-1 run-9');
    expect((await restarted(dead.dataDir, 3_500_000)).finished).toEqual([]);
    expect((await restarted(dead.dataDir, 3_700_000, 'run-3')).finished.length).toBe(1);
  });

  it('goes on with the recordings of a thread that was replaced: nothing is lost but what it had not yet appended', async () => {
    const dead = harness();
    const caller = createCaller();
    dead.recorder.open(CALL, caller.format, caller.memory);
    talk(dead, caller, 0, 15_000, bothTones);
    const next = harness({ dataDir: dead.dataDir });
    next.recorder.open(CALL, caller.format, caller.memory);
    await next.recorder.salvage();
    talk(next, caller, 15_000, 24_000, bothTones);
    next.recorder.close(CALL, 24_000);
    const { left } = await finishedFile(next);
    expect(next.finished.length).toBe(1);
    expect(left.length).toBe(24_000 * 8);
    const sounds = soundsIn(left, 8000);
    expect(sounds.length).toBe(2);
    expect(sounds[0]![1]).toBeGreaterThanOrEqual(14_300);
    expect(Math.abs(sounds[1]![0] - 15_000)).toBeLessThanOrEqual(20);
  });

  it('opens and closes again what a former thread was still to finish: the same file, told once', async () => {
    const dead = harness();
    const caller = createCaller();
    dead.recorder.open(CALL, caller.format, caller.memory);
    talk(dead, caller, 0, 12_000, bothTones);
    dead.recorder.close(CALL, 12_000);
    dead.recorder.stop();
    const next = harness({ dataDir: dead.dataDir });
    next.clock.advanceMs(60_000);
    await next.recorder.salvage();
    next.recorder.open(CALL, caller.format, caller.memory);
    next.recorder.close(CALL, 12_000);
    const { left, right } = await finishedFile(next);
    expect(next.finished.length).toBe(1);
    expect(left.length).toBe(12_000 * 8);
    expect(soundsIn(right, 8000).length).toBe(1);
    expect(readdirSync(next.day())).toEqual([`${CALL}.sealed`]);
  });

  it('tells the facts of a file again that a former thread had finished, and makes no second file of silence', async () => {
    const dead = harness();
    const caller = createCaller();
    dead.recorder.open(CALL, caller.format, caller.memory);
    talk(dead, caller, 0, 3000, bothTones);
    dead.recorder.close(CALL, 3000);
    const { recording } = await finishedFile(dead);
    const next = harness({ dataDir: dead.dataDir });
    next.recorder.open(CALL, caller.format, caller.memory);
    next.recorder.close(CALL, 3000);
    await next.recorder.idle();
    const facts = withoutSound(recording);
    expect(next.finished).toEqual([{ type: 'finished', callUuid: CALL, epoch: 1, recording: facts, error: null }]);
    expect(recording.sound).toMatchObject({ durationMs: 3_000, agent: [{ startMs: 0 }] });
    expect(readdirSync(next.day())).toEqual([`${CALL}.sealed`]);
  });

  it('takes a file that was finished, but whose segments were not yet removed, as it is', async () => {
    const { dead, folder } = died(12_000);
    const { dead: again, folder: sameAgain } = died(12_000);
    const first = await finishedFile(await restarted(dead.dataDir));
    mkdirSync(folder);
    for (const name of readdirSync(sameAgain)) writeFileSync(join(folder, name), readFileSync(join(sameAgain, name)));
    utimesSync(first.recording.path, 1, 1);
    const next = await restarted(dead.dataDir, 20_000, 'run-3');
    expect(next.finished[0]!.recording).toEqual(withoutSound(first.recording));
    expect(statSync(first.recording.path).mtimeMs).toBe(1000);
    expect(existsSync(folder)).toBe(false);
    again.recorder.stop();
  });

  it('makes the same sound file, byte for byte, of the same segments', async () => {
    const hashes: string[] = [];
    for (let i = 0; i < 2; i++)
      hashes.push((await finishedFile(await restarted(died(12_000).dead.dataDir))).recording.sha256);
    expect(hashes[0]).toBe(hashes[1]);
  });

  it('keeps what was recorded of open calls when it is stopped, and says nothing after it', async () => {
    const { dead } = died(12_000);
    dead.recorder.stop();
    dead.recorder.stop();
    expect(dead.clock.pendingTimers).toBe(0);
    expect(dead.finished).toEqual([]);
    expect((await finishedFile(await restarted(dead.dataDir))).recording.durationMs).toBe(12_000);
  });
});

describe('recorder while it encodes', () => {
  /** A clock on which encoding a packet takes 1 ms, and timers run only when they are let. */
  function busyClock(): {
    clock: Clock;
    slowCodec: OpusCodec;
    runDueTimers: () => void;
    latestMs: () => number;
    ranTimers: () => number;
  } {
    let nowMs = 0;
    let latestMs = 0;
    let ranTimers = 0;
    let timers: { atMs: number; run: () => void }[] = [];
    return {
      clock: {
        nowMs: () => nowMs,
        epochMs: () => Date.UTC(2026, 10, 21) + nowMs,
        after(afterMs, run) {
          const timer = { atMs: nowMs + afterMs, run };
          timers.push(timer);
          return () => {
            timers = timers.filter((other) => other !== timer);
          };
        },
      },
      slowCodec: {
        ...codec,
        createEncoder(options) {
          const encoder = codec.createEncoder(options);
          return {
            ...encoder,
            encode(samples, target, targetStart) {
              nowMs += 1;
              return encoder.encode(samples, target, targetStart);
            },
          };
        },
      },
      runDueTimers() {
        for (const timer of timers.filter(({ atMs }) => atMs <= nowMs)) {
          timers = timers.filter((other) => other !== timer);
          latestMs = Math.max(latestMs, nowMs - timer.atMs);
          ranTimers++;
          timer.run();
        }
      },
      latestMs: () => latestMs,
      ranTimers: () => ranTimers,
    };
  }

  it('drains other calls at most 20 ms late while ten calls of 30 s are encoded, 1 ms a packet', async () => {
    const busy = busyClock();
    const live = createCaller();
    let atMs = 0;
    let refused = 0;
    const made = harness({
      clock: busy.clock,
      codec: busy.slowCodec,
      letOthersRun: async () => {
        busy.runDueTimers();
        for (; atMs < busy.clock.nowMs(); atMs += 20) if (!sendTone(live, RECEIVED, atMs, CALLER_HZ)) refused++;
      },
    });
    made.recorder.open(CALL, live.format, live.memory);
    for (let i = 0; i < 10; i++) {
      const caller = createCaller();
      const callUuid = CALL.replace('0001', `00${i + 10}`);
      made.recorder.open(callUuid, caller.format, caller.memory);
      // 30 s ahead of the clock is the most that is believed.
      sendTone(caller, RECEIVED, 0, CALLER_HZ);
      made.recorder.close(callUuid, 60_000);
    }
    await made.recorder.idle();
    expect(made.finished.map(({ recording }) => recording?.durationMs)).toEqual(
      Array.from({ length: 10 }, () => 30_000),
    );
    expect(busy.clock.nowMs()).toBeGreaterThanOrEqual(15_000);
    expect(busy.ranTimers()).toBeGreaterThanOrEqual(Math.floor(busy.clock.nowMs() / 100) - 1);
    expect(busy.latestMs()).toBeLessThanOrEqual(20);
    expect(refused).toBe(0);
  });
});

it('allocates no object a frame, and 27 bytes of each for a cipher each 400 ms, while it drains 20 calls, ticks and disk included', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const made = harness({ write: (_fd, _bytes, _start, lengthBytes) => lengthBytes });
  const frame = new Uint8Array(160);
  const callers = Array.from({ length: 20 }, (_, i) => {
    const caller = createCaller();
    made.recorder.open(CALL.replace('0001', String(1000 + i)), caller.format, caller.memory);
    return caller;
  });
  let atMs = 0;
  /** 3 s of 20 calls: 6000 frames. */
  const run = () => {
    for (const untilMs = atMs + 3000; atMs < untilMs; atMs += 100) {
      for (const { ring } of callers) {
        for (let k = 0; k < 5; k++) {
          ring.tryWrite(frame, 0, 160, RECEIVED, 0, atMs + k * 20);
          ring.tryWrite(frame, 0, 160, PLAYED, 0, atMs + k * 20);
        }
      }
      made.clock.advanceMs(100);
    }
  };
  for (let i = 0; i < 40; i++) run();
  const bytesPerFrame = Array.from({ length: 20 }, () => {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    run();
    return (process.memoryUsage().heapUsed - before) / 6000;
  });
  expect(callers.every(({ ring }) => ring.droppedFrames === 0)).toBe(true);
  // The least of twenty: compiling in the background counts as heap too. An object a frame would be 16 more or above.
  expect(Math.min(...bytesPerFrame)).toBeLessThan(40);
});
