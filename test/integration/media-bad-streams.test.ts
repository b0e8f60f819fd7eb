/**
 * A real media process, built, with control's side of the link and the threads played by stubs: what badly behaved
 * streams do to it (nothing), and what is logged of them (one line each, with the call's id, without the token).
 */

import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../bench/harness/seeded-random.ts';
import { keepLog } from '../../bench/harness/suite-log.ts';
import { ReliableLink } from '../../media/contract/link.ts';
import type { ClaimAnswer, ToControl, ToMedia } from '../../media/contract/link-messages.ts';
import { chooseSocketServer } from '../../media/io/socket-server/choose-server.ts';
import { eventually } from '../support/eventually.ts';
import { toneSetup } from '../support/tone-setup.ts';
import { BINARY, frame, RawClient, TEXT } from '../unit/media/io/socket-server/raw-client.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const kinds = chooseSocketServer('auto').kind === 'uws' ? (['uws', 'ws'] as const) : (['ws'] as const);

interface LogLine {
  level: number;
  msg: string;
  [field: string]: unknown;
}

describe.each(kinds)('a media process on %s', (kind) => {
  const runDir = mkdtempSync(join(tmpdir(), 'parley-media-'));
  const received: ToControl[] = [];
  const burned = new Set<string>();
  const log: LogLine[] = [];
  const clients: RawClient[] = [];
  let control: Server;
  let controlSocket: Socket | null = null;
  let media: ChildProcess;
  let port = 0;

  const reliable = new ReliableLink<ToMedia, ToControl>({
    runId: 'control-1',
    capacity: 1000,
    write: (line) => controlSocket?.write(`${line}\n`),
    receive: (message) => {
      received.push(message);
      if (message.type === 'claim') {
        const answer = answerOf(message.claim.token);
        reliable.send({ type: 'claim.answer', requestId: message.requestId, answer });
      }
    },
  });

  /** A token is its call's id, padded; each is good once. */
  function answerOf(token: string): ClaimAnswer {
    if (!token.startsWith('call-') || burned.has(token)) return { ok: false, httpStatus: 401, why: 'no such token' };
    burned.add(token);
    const callUuid = callOf(token);
    const setup = toneSetup({
      callUuid,
      carrierCallId: `carrier-${callUuid}`,
      answeredAtEpochMs: Date.now(),
      maxDurationMs: 600_000,
      recordingKeyHex: '5e'.repeat(32),
    });
    return { ok: true, setup };
  }

  beforeAll(async () => {
    control = createServer((socket) => {
      controlSocket = socket;
      let rest = '';
      reliable.connected();
      socket.on('error', () => {});
      socket.on('data', (data) => {
        const lines = (rest + data).split('\n');
        rest = lines.pop()!;
        for (const line of lines) reliable.receiveLine(line);
        reliable.ackNow();
      });
    });
    await new Promise<void>((resolve) => control.listen(join(runDir, 'link.sock'), resolve));
    const config = {
      mediaId: 'media-0',
      host: '127.0.0.1',
      port: 0,
      runDir,
      dataDir: runDir,
      pipelineThreads: 2,
      ttsThreads: 0,
      sttThreads: 0,
      socketServer: kind,
      logLevel: 'info',
      threadsDir: join(root, 'test/unit/media/io/stub-threads'),
    };
    media = fork(join(root, 'dist/media/main.js'), [], {
      env: { ...process.env, PARLEY_MEDIA_CONFIG: JSON.stringify(config), STUB_RINGS: join(root, 'dist/media/rings') },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    let rest = '';
    media.stdout!.on('data', (data) => {
      keepLog(String(data));
      const lines = (rest + data).split('\n');
      rest = lines.pop()!;
      for (const line of lines) log.push(JSON.parse(line));
    });
    port = await new Promise<number>((resolve, reject) => {
      media.on('message', (message) => resolve((message as { port: number }).port));
      media.on('exit', (code) => reject(new Error(`the media process ended with ${code}: ${JSON.stringify(log)}`)));
    });
  });

  afterAll(() => {
    for (const one of clients) one.destroy();
    media.kill('SIGKILL');
    controlSocket?.destroy();
    control.close();
    rmSync(runDir, { recursive: true, force: true });
  });

  const client = (): RawClient => {
    const one = new RawClient(port);
    clients.push(one);
    return one;
  };
  const open = (call: string): Promise<RawClient> => client().open(`/media/plivo/${tokenOf(call)}`);
  const startMessage = (call: string): Buffer =>
    text({
      event: 'start',
      start: {
        callId: `carrier-${call}`,
        streamId: `stream-${call}`,
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000 },
      },
    });
  const audio = (chunk: number): Buffer => {
    const payload = Buffer.alloc(160, chunk & 127).toString('base64');
    return text({ event: 'media', media: { track: 'inbound', timestamp: String(chunk * 20), chunk, payload } });
  };
  const of = <T extends ToControl['type']>(type: T, callUuid: string) =>
    received.filter(
      (one): one is Extract<ToControl, { type: T }> =>
        one.type === type && 'callUuid' in one && one.callUuid === callUuid,
    );
  const logOf = (callUuid: string): LogLine[] => log.filter((line) => line['callUuid'] === callUuid);
  const audioBack = (one: RawClient): number =>
    one.frames.filter((got) => got.opcode === TEXT && got.payload.includes('playAudio')).length;

  /** The good call that goes on beside everything else: sends a frame each 20 ms and hears its echo. */
  async function goodCall(call: string): Promise<{ client: RawClient; stop(): void }> {
    const one = await open(call);
    one.send(startMessage(call));
    let chunk = 0;
    const timer = setInterval(() => one.send(audio(++chunk)), 20);
    return { client: one, stop: () => clearInterval(timer) };
  }

  test('bad streams of every kind end alone, are logged once each without their token, and a good call goes on', async () => {
    const good = await goodCall('call-good');
    await until(() => audioBack(good.client) > 5, 'the echo of the good call').catch((error: Error) => {
      throw new Error(
        `${error.message}: ${JSON.stringify({ log, received, frames: good.client.frames.length, closed: good.client.isClosed })}`,
      );
    });

    const wrongToken = client();
    wrongToken.requestUpgrade(`/media/plivo/${'x'.repeat(43)}`);
    await wrongToken.until(() => wrongToken.httpStatus === 401, '401 for a wrong token');
    const shortToken = client();
    shortToken.requestUpgrade('/media/plivo/..');
    await shortToken.until(() => shortToken.httpStatus === 401, '401 for no token');
    const noCarrier = client();
    noCarrier.requestUpgrade(`/media/nobody/${'x'.repeat(43)}`);
    await noCarrier.until(() => noCarrier.httpStatus === 404, '404 for an unknown carrier');

    // It has its start and its sound: a machine may take longer to refuse the other than one without may stay.
    const first = await goodCall('call-used');
    const again = client();
    again.requestUpgrade(`/media/plivo/${tokenOf('call-used')}`);
    await again.until(() => again.httpStatus === 401, '401 for a used token');
    first.stop();
    first.client.destroy();

    const garbage = await open('call-garbage');
    garbage.send(frame(TEXT, 'this is no JSON'));
    expect(await garbage.closeCode()).toBe(4400);

    const binary = await open('call-binary');
    binary.send(startMessage('call-binary'));
    binary.send(frame(BINARY, Buffer.alloc(160)));
    expect(await binary.closeCode()).toBe(1003);

    const huge = await open('call-huge');
    huge.send(startMessage('call-huge'));
    huge.send(frame(TEXT, Buffer.alloc(1_048_576, 0x20)));
    expect([1009, 1006]).toContain(await huge.closeCode());

    const wrongCall = await open('call-wrong');
    wrongCall.send(startMessage('call-another'));
    expect(await wrongCall.closeCode()).toBe(4403);

    const mute = await open('call-mute');
    mute.send(startMessage('call-mute'));
    const half = await open('call-half');
    half.send(startMessage('call-half'));
    half.send(frame(TEXT, '{"event":"media"', { fin: false }));
    const nothing = await open('call-nothing');
    expect(await nothing.closeCode()).toBe(4408);
    expect(await mute.closeCode()).toBe(4408);
    expect(await half.closeCode()).toBe(4408);

    const expected = {
      'call-used': 'socket_closed',
      'call-garbage': 'bad_stream',
      'call-binary': 'bad_stream',
      'call-huge': 'socket_closed',
      'call-wrong': 'bad_stream',
      'call-mute': 'no_media',
      'call-half': 'no_media',
      'call-nothing': 'bad_stream',
    };
    for (const [call, why] of Object.entries(expected)) {
      await until(() => of('media.stopped', call).length === 1, `media.stopped of ${call}`);
      expect([call, of('media.stopped', call)[0]!.why]).toEqual([call, why]);
      // The log comes by another pipe.
      await until(() => logOf(call).length > 0, `the log line of ${call}`);
      expect([call, logOf(call).length]).toEqual([call, 1]);
    }
    const refused = log.filter((line) => line.msg === 'media stream refused');
    expect(refused.map((line) => line['httpStatus'])).toEqual([401, 401, 404, 401]);
    expect(JSON.stringify(log)).not.toContain(tokenOf('call-garbage'));
    expect(JSON.stringify(log)).not.toContain('x'.repeat(43));

    const before = audioBack(good.client);
    await until(() => audioBack(good.client) > before + 25, 'the good call going on');
    expect(good.client.isClosed).toBe(false);
    good.stop();
    good.client.destroy();
    await until(() => of('media.stopped', 'call-good').length === 1, 'its end');
    await until(() => of('recording', 'call-good').length === 1, 'its recording');
    const turnAt = received.findIndex(
      (one) => one.type === 'live' && one.event.type === 'turn' && one.callUuid === 'call-good',
    );
    const stoppedAt = received.findIndex((one) => one.type === 'media.stopped' && one.callUuid === 'call-good');
    expect(turnAt).toBeGreaterThan(-1);
    expect(stoppedAt).toBeGreaterThan(turnAt);
    expect(media.exitCode).toBeNull();
  });

  test('ten thousand mutated messages over 50 sockets crash nothing, and a call beside them goes on', async () => {
    const good = await goodCall('call-calm');
    const chance = createRandom(20_261_121);
    const random = (below: number): number => Math.floor(chance() * below);
    for (let round = 0; round < 5; round++) {
      const sockets = await Promise.all(Array.from({ length: 10 }, (_, i) => open(`call-fuzz-${round}-${i}`)));
      for (const [i, one] of sockets.entries()) {
        if (i % 2 === 0) one.send(startMessage(`call-fuzz-${round}-${i}`));
        for (let n = 0; n < 200; n++) {
          const bytes = Buffer.from(audio(n));
          for (let flips = random(4); flips > 0; flips--) bytes[random(bytes.length)] = random(256);
          one.send(bytes);
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
      for (const one of sockets) one.destroy();
    }
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 10; i++) {
        const call = `call-fuzz-${round}-${i}`;
        await until(() => of('media.stopped', call).length === 1, `media.stopped of ${call}`);
      }
    }
    const before = audioBack(good.client);
    await until(() => audioBack(good.client) > before + 10, 'the calm call going on');
    good.stop();
    good.client.destroy();
    await until(() => of('media.stopped', 'call-calm').length === 1, 'its end');
    expect(media.exitCode).toBeNull();
    // Faults of ours, as against bad input, are logged as such.
    expect(log.filter((line) => /fault of ours/.test(line.msg))).toEqual([]);
  });

  test('a pipeline thread that dies under a call moves it: the socket stays, and the echo comes back with a recovery event', async () => {
    const good = await goodCall('call-moved');
    await until(() => audioBack(good.client) > 5, 'the echo');
    good.client.send(text({ event: 'dtmf', dtmf: { digit: '3' } }));
    const recovery = () => of('live', 'call-moved').find((one) => one.event.type === 'recovery');
    await until(() => recovery() !== undefined, 'the recovery event');
    const before = audioBack(good.client);
    await until(() => audioBack(good.client) > before + 10, 'the echo from the new thread');
    expect(good.client.isClosed).toBe(false);
    const { event } = recovery()!;
    expect(event.type === 'recovery' && event.gapMs).toBeGreaterThan(0);
    good.stop();
    good.client.destroy();
    await until(() => of('media.stopped', 'call-moved').length === 1, 'its end');
    expect(of('media.stopped', 'call-moved')[0]!.why).toBe('socket_closed');
  });

  test('each load names the live calls with their epochs', async () => {
    const good = await goodCall('call-leased');
    const named = () =>
      received.some(
        (one) => one.type === 'load' && one.calls.some((c) => c.callUuid === 'call-leased' && c.epoch === 1),
      );
    await until(named, 'a load with the call');
    good.stop();
    good.client.destroy();
    await until(() => of('media.stopped', 'call-leased').length === 1, 'its end');
  });

  test('while the service is being stopped it answers readiness itself, and streams of calls that ring are still taken', async () => {
    const readiness = async (): Promise<number> => (await fetch(`http://127.0.0.1:${port}/readyz`)).status;
    const ITS_OWN = '{"status":"unavailable"}';
    const bodyOf = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/healthz?now`)).text();
    // Nobody serves behind it here: what it cannot pass on is 503 too, and says so in other words.
    expect(await bodyOf()).not.toBe(ITS_OWN);
    media.send({ type: 'stopping', limitMs: 60_000 });
    await eventually('it to take the word', async () => (await bodyOf()) === ITS_OWN);
    expect(await readiness()).toBe(503);
    const good = await goodCall('call-rang');
    good.stop();
    good.client.destroy();
    await until(() => of('media.stopped', 'call-rang').length === 1, 'its end');
  });

  test('SIGTERM refuses new streams with 503 at once, lets a live call finish, then exits 0', async () => {
    const good = await goodCall('call-last');
    await until(() => audioBack(good.client) > 5, 'the echo');
    const exited = new Promise<number | null>((resolve) => media.once('exit', resolve));
    media.kill('SIGTERM');
    await until(() => log.some((line) => line.msg === 'draining'), 'the drain');
    const late = client();
    late.requestUpgrade(`/media/plivo/${tokenOf('call-late')}`);
    await late.until(() => late.httpStatus !== 0, 'an answer while draining');
    expect(late.httpStatus).toBe(503);
    const before = audioBack(good.client);
    await until(() => audioBack(good.client) > before + 10, 'the live call going on');
    good.stop();
    good.client.destroy();
    expect(await exited).toBe(0);
    expect(of('media.stopped', 'call-last').length).toBe(1);
    expect(of('recording', 'call-last').length).toBe(1);
  });
});

function callOf(token: string): string {
  return token.replace(/_+$/, '');
}

function tokenOf(call: string): string {
  return call.padEnd(43, '_');
}

function text(message: object): Buffer {
  return frame(TEXT, JSON.stringify(message));
}

function until(condition: () => boolean, what: string): Promise<boolean> {
  return eventually(what, condition);
}
