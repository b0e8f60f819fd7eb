import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CallSetup, ClaimAnswer, ToControl } from '../../../media/contract/link-messages.ts';
import { Gate } from '../../../src/media-link/gate.ts';
import { createLinkServer, type LinkServer } from '../../../src/media-link/link-server.ts';
import type { CallMessage } from '../../../src/media-link/media-messages.ts';
import type { MediaPeerDeps } from '../../../src/media-link/media-peer.ts';
import { createMediaPool, type MediaPool } from '../../../src/media-link/media-pool.ts';
import { eventually } from '../../support/eventually.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { MediaClient } from './media-client.ts';

const CALL = '0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11';
let folder: string;
let path: string;
let server: LinkServer;
let pool: MediaPool;
let handled: CallMessage[];
let claims: string[];
const dispositions: { callUuid: string; epoch: number }[] = [];
let registered: string[];
let said: string[];
let gone: string[];
let setup: CallSetup | null;
let isDead: boolean;
let databaseAway: boolean;
let aheadMs: number;
let clock: VirtualClock;
const clients: MediaClient[] = [];

function newClient(runId: string): MediaClient {
  const client = new MediaClient(runId);
  clients.push(client);
  return client;
}

const hello = (mediaId: string, live: string[] = [], runId = `run of ${mediaId}`): ToControl => ({
  type: 'hello',
  runId,
  mediaId,
  pid: 1,
  socketServer: 'ws',
  capacityCalls: 10,
  liveCalls: live.map((callUuid) => ({ callUuid, epoch: 1 })),
});
const load = (
  mediaId: string,
  activeCalls: number,
  changes: Partial<Extract<ToControl, { type: 'load' }>> = {},
): ToControl => ({
  type: 'load',
  mediaId,
  activeCalls,
  capacityCalls: 10,
  draining: false,
  calls: Array.from({ length: activeCalls }, () => ({ callUuid: CALL, epoch: 1 })),
  ...changes,
});
const checkpoint = (atMs: number): ToControl => ({
  type: 'checkpoint',
  callUuid: CALL,
  epoch: 1,
  checkpoint: { stepId: null, variables: {}, misses: 0, visits: {}, nextTurnNumber: 1, atMs },
});
const handledAtMs = (): number[] =>
  handled.map((message) => (message.type === 'checkpoint' ? message.checkpoint.atMs : -1));

/** Acknowledgements go out each second, and what waits for the database is tried again each half: time passes. */
const until = (what: string, check: () => boolean): Promise<boolean> =>
  eventually(what, check, {
    between() {
      clock.advanceMs(100);
      return new Promise((resolve) => setImmediate(resolve));
    },
  });

async function handleAll(messages: readonly CallMessage[]): Promise<void> {
  if (databaseAway) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  handled.push(...messages);
}

function start(runId = 'control-1'): LinkServer {
  const log = pino({ level: 'silent' });
  pool = createMediaPool({ database: undefined as never, clock, log });
  const deps: MediaPeerDeps = {
    clock,
    log,
    runId,
    gate: new Gate(4),
    pool,
    messages: {
      handle: (message, before = []) => handleAll([...before, message]),
      handleTogether: (calls) => handleAll(calls.flat()),
      staleCount: () => 0,
      showEarly() {},
    },
    bus: { isFollowed: () => true, lastFollower: () => 1 },
    aheadMs: () => aheadMs,
    claimSession: () => Promise.reject(new Error('no browser here')),
    async claimStream({ mediaId }): Promise<ClaimAnswer> {
      claims.push(mediaId);
      if (databaseAway) throw new Error('away');
      if (setup !== null) return { ok: true, setup };
      return { ok: false, httpStatus: 409, why: 'used' };
    },
    async recordingDisposition(stream) {
      dispositions.push(stream);
      return { kind: 'open', keyHex: '5e'.repeat(32) };
    },
    runs: {
      async register(run) {
        if (databaseAway) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
        registered.push(run.runId);
        return !isDead;
      },
      said: (run) => void said.push(run.runId),
      gone: (runId) => void gone.push(runId),
    },
  };
  return createLinkServer(deps);
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-link-'));
  path = join(folder, 'link.sock');
  handled = [];
  claims = [];
  registered = [];
  said = [];
  gone = [];
  setup = null;
  isDead = false;
  databaseAway = false;
  aheadMs = 0;
  clock = new VirtualClock();
  server = start();
  await server.listen(path);
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.cut();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const claimOf = (requestId: number): ToControl => ({
  type: 'claim',
  requestId,
  claim: { carrier: 'plivo', token: 't', url: '/media/plivo/t', host: 'h', headers: {} },
});

describe('the link to media processes', () => {
  test('a process that greets is in the pool; without room or draining it gets no new calls', async () => {
    const media = newClient('run-1');
    await media.connect(path);
    media.link.send(hello('media-1'));
    await until('the member', () => pool.hasRoom());
    media.link.send(load('media-1', 10));
    await until('no room', () => !pool.hasRoom());
    media.link.send(load('media-1', 2));
    await until('room', () => pool.hasRoom());
    media.link.send(load('media-1', 2, { draining: true }));
    await until('draining', () => !pool.hasRoom());
    media.link.send(load('media-1', 2));
    await until('room again', () => pool.hasRoom());
    media.cut();
    await until('the disconnection', () => !pool.hasRoom());
    expect(registered).toEqual(['run of media-1']);
  });

  test('what processes say of how many more calls they can serve is summed, and never over their capacity', async () => {
    const [one, two] = [newClient('run-1'), newClient('run-2')];
    await one.connect(path);
    await two.connect(path);
    one.link.send(hello('media-1'));
    two.link.send(hello('media-2'));
    await until('both', () => pool.members().length === 2);
    const capacityCalls = pool.members()[0]!.capacityCalls;
    // Neither has been measured: each may be given what any process takes.
    expect(pool.room()).toMatchObject({ moreCalls: 8, alwaysCalls: 8 });
    two.link.send({ type: 'room', mediaId: 'media-2', moreCalls: 0, carriesCalls: 5, scarce: 'recogniser' });
    await until('room of one', () => pool.room().moreCalls === 4);
    one.link.send(load('media-1', 3));
    await until('three of its four', () => pool.room().moreCalls === 1);
    one.link.send(load('media-1', 5));
    await until('none of its four', () => pool.room().moreCalls === 0);
    one.link.send(load('media-1', 0));
    one.link.send({ type: 'room', mediaId: 'media-1', moreCalls: 3, carriesCalls: 7, scarce: 'voice' });
    await until('room of both', () => pool.room().moreCalls === 3);
    one.link.send({ type: 'room', mediaId: 'media-1', moreCalls: 10_000, carriesCalls: 10_000, scarce: 'voice' });
    await until('its capacity', () => pool.room().moreCalls === capacityCalls);
  });

  test('messages sent while the connection was away arrive once, in order, after a reconnect', async () => {
    const media = newClient('run-1');
    await media.connect(path);
    media.link.send(hello('media-1'));
    for (let index = 0; index < 5; index++) media.link.send(checkpoint(index));
    await until('the first five', () => handled.length === 5);
    media.cut();
    for (let index = 5; index < 30; index++) media.link.send(checkpoint(index));
    await media.connect(path);
    await until('all thirty', () => handled.length >= 30);
    expect(handledAtMs()).toEqual(Array.from({ length: 30 }, (_, index) => index));
    await until('the acknowledgement', () => media.link.unackedCount === 0);
  });

  test('while the database is away nothing is acknowledged; afterwards all is handled, in order, and acknowledged', async () => {
    const media = newClient('run-1');
    await media.connect(path);
    media.link.send(hello('media-1'));
    databaseAway = true;
    for (let index = 0; index < 40; index++) media.link.send(checkpoint(index));
    await until('the messages to wait', () => server.unhandledCount() === 40);
    // Its answer carries control's acknowledgement, whatever that is.
    media.link.send(claimOf(1));
    await until('an answer', () => media.received.length === 1);
    expect(media.link.unackedCount).toBe(41);
    databaseAway = false;
    await until('the handling', () => handled.length === 40);
    expect(handledAtMs()).toEqual(Array.from({ length: 40 }, (_, index) => index));
    await until('the acknowledgement', () => media.link.unackedCount === 0);
  });

  test('what control had in hand when it died is told to the control that follows', async () => {
    const media = newClient('run-1');
    await media.connect(path);
    media.link.send(hello('media-1'));
    media.link.send(checkpoint(1));
    await until('the first', () => handled.length === 1);
    databaseAway = true;
    for (let index = 2; index <= 6; index++) media.link.send(checkpoint(index));
    await until('five in hand', () => server.unhandledCount() === 5);
    media.link.send(claimOf(1));
    await until('an answer', () => media.received.length === 1);
    await server.close();
    media.cut();
    databaseAway = false;
    server = start('control-2');
    await server.listen(path);
    await media.connect(path);
    media.link.send(hello('media-1'));
    await until('the five', () => handledAtMs().includes(6));
    expect([...new Set(handledAtMs())]).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('a claim is answered although other messages wait for the database, with 503', async () => {
    const media = newClient('run-1');
    await media.connect(path);
    media.link.send(hello('media-1'));
    databaseAway = true;
    media.link.send(checkpoint(1));
    media.link.send(claimOf(7));
    await until('the answer', () => media.received.length === 1);
    expect(media.received[0]).toMatchObject({
      type: 'claim.answer',
      requestId: 7,
      answer: { ok: false, httpStatus: 503 },
    });
  });

  test('a claim that comes before the greeting waits until it is known whose it is', async () => {
    const media = newClient('run-1');
    await media.connect(path);
    media.link.send(claimOf(1));
    media.link.send(checkpoint(1));
    await until('the checkpoint', () => handled.length === 1);
    expect(claims).toEqual([]);
    media.link.send(hello('media-9'));
    await until('the answer', () => media.received.length === 1);
    expect(claims).toEqual(['media-9']);
  });

  test('a new run of a process takes the place of the old one, which is told as gone without waiting, once', async () => {
    const old = newClient('run-1');
    await old.connect(path);
    old.link.send(hello('media-1'));
    await until('the old run', () => pool.members().length === 1);
    old.cut();
    const next = newClient('run-2');
    await next.connect(path);
    next.link.send(hello('media-1', [], 'second'));
    await eventually('the new run', () => registered.includes('second'));
    await eventually('the cut', () => pool.members().every((member) => member.runId === 'second'));
    clock.advanceMs(1_000);
    expect(gone).toEqual(['run of media-1']);
    clock.advanceMs(5_000);
    expect(gone).toEqual(['run of media-1']);
    expect(pool.members()).toHaveLength(1);
    expect(pool.hasRoom()).toBe(true);
  });

  test('a process that is gone for 3 s is told as gone, once; one that comes back within 2 s is not', async () => {
    const [lost, back] = [newClient('run-1'), newClient('run-2')];
    for (const [index, media] of [lost, back].entries()) {
      await media.connect(path);
      media.link.send(hello(`media-${index}`));
      media.link.send(load(`media-${index}`, 1));
    }
    await until('the loads', () => said.length === 2);
    expect(server.mayStillSpeak(CALL)).toBe(true);
    lost.cut();
    back.cut();
    // Time stands still while sockets move: two seconds are two seconds.
    await eventually('the cut', () => pool.members().every((member) => !member.connected));
    expect(server.mayStillSpeak(CALL)).toBe(false);
    clock.advanceMs(2000);
    await back.connect(path);
    await eventually('the return', () => pool.members().some((member) => member.connected));
    expect(gone).toEqual([]);
    for (let second = 0; second < 4; second++) clock.advanceMs(1000);
    expect(gone).toEqual(['run of media-0']);
  });

  test('media of an earlier version, which names no run, serves as its connection; given up, it is drained', async () => {
    const media = newClient('run-1');
    await media.connect(path);
    const { runId: _, ...greeting } = hello('media-1') as Extract<ToControl, { type: 'hello' }>;
    media.link.send(greeting);
    media.link.send(claimOf(1));
    await until('the answer', () => media.received.length === 1);
    expect([claims, registered]).toEqual([['media-1'], ['run-1']]);
    server.fenced('run-1');
    await until('the word', () => media.received.length === 2);
    expect(media.received[1]).toEqual({ type: 'drain' });
  });

  test('times cross the link in the wall time of each end, where the machine’s is not the cluster’s', async () => {
    aheadMs = 30_000;
    setup = { callUuid: CALL, epoch: 1, answeredAtEpochMs: 1_000_000 } as CallSetup;
    const media = newClient('run-1');
    await media.connect(path);
    media.link.send(hello('media-1'));
    media.link.send(claimOf(1));
    const told = { callUuid: CALL, epoch: 1 };
    media.link.send({ type: 'live', ...told, atEpochMs: 970_000, event: { type: 'warning', code: 'x' } as never });
    media.link.send({ type: 'media.started', ...told, streamId: 's', startedAtEpochMs: 970_000 } as never);
    media.link.send({ type: 'tool.call', ...told, ask: { expiresAtEpochMs: 970_000 } as never });
    await until('all', () => handled.length === 3 && media.received.length === 1);
    expect(media.received[0]).toMatchObject({ answer: { setup: { answeredAtEpochMs: 970_000 } } });
    expect(handled).toMatchObject([
      { atEpochMs: 1_000_000 },
      { startedAtEpochMs: 1_000_000 },
      { ask: { expiresAtEpochMs: 1_000_000 } },
    ]);
  });

  test('a run that was given up is told so, takes no calls, and serves again once it has greeted as another', async () => {
    const media = newClient('run-1');
    await media.connect(path);
    media.link.send(hello('media-1'));
    await until('the run', () => pool.hasRoom() && registered.length === 1);
    server.fenced('run of media-1');
    await until('the word', () => media.received.length === 1);
    expect(media.received).toEqual([{ type: 'fenced', runId: 'run of media-1' }]);
    media.link.send(load('media-1', 0));
    media.link.send(claimOf(3));
    await until('the refusal', () => media.received.length === 2);
    expect(media.received[1]).toMatchObject({ requestId: 3, answer: { ok: false, httpStatus: 503 } });
    expect([claims, pool.hasRoom(), registered.length]).toEqual([[], false, 1]);
    media.link.send(hello('media-1', [], 'second'));
    media.link.send(claimOf(4));
    await until('the claim', () => claims.length === 1);
    expect(registered).toEqual(['run of media-1', 'second']);
    expect(pool.hasRoom()).toBe(true);
  });

  test('a run that comes back dead is told so at once, and one whose registration failed is registered by its next word', async () => {
    const media = newClient('run-1');
    await media.connect(path);
    databaseAway = true;
    media.link.send(hello('media-1'));
    media.link.send(claimOf(1));
    await until('the refusal', () => media.received.length === 1);
    expect(registered).toEqual([]);
    databaseAway = false;
    isDead = true;
    media.link.send(load('media-1', 0));
    await until('the word', () => media.received.length === 2);
    expect(media.received[1]).toEqual({ type: 'fenced', runId: 'run of media-1' });
  });

  test.each(['not json\n', '{"ack":1}\n', '[]\n', '{"n":1,"m":{}}\n'])(
    'a connection that begins with %j is cut, the others live',
    async (text) => {
      const media = newClient('run-1');
      await media.connect(path);
      media.link.send(hello('media-1'));
      const stranger = connect(path);
      stranger.on('error', () => {});
      await new Promise<void>((resolve) => stranger.once('connect', () => resolve()));
      stranger.write(text);
      await new Promise<void>((resolve) => stranger.once('close', () => resolve()));
      media.link.send(checkpoint(1));
      await until('the message', () => handled.length === 1);
    },
  );

  test('a line of 5 MB without an end is cut', async () => {
    const media = newClient('run-1');
    await media.connect(path);
    await media.raw('x'.repeat(5 * 1024 * 1024));
    expect(handled).toEqual([]);
  });
});
