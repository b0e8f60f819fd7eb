import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PATIENCE_MS } from '../../../../bench/harness/patience.ts';
import { type Clock, systemClock } from '../../../../media/contract/clock.ts';
import { ReliableLink } from '../../../../media/contract/link.ts';
import type { ToControl, ToMedia } from '../../../../media/contract/link-messages.ts';
import { type ControlLink, createControlLink } from '../../../../media/io/control-link.ts';
import { eventually } from '../../../support/eventually.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const claim = { carrier: 'plivo', token: 't'.repeat(43), url: '/media/plivo/x', host: 'h', headers: {} };

let dir: string;
let link: ControlLink;
const told: ToMedia[] = [];
const controls: Control[] = [];

/** Control's side: one run of it, listening on the same path as the run before. */
class Control {
  readonly received: ToControl[] = [];
  readonly reliable: ReliableLink<ToMedia, ToControl>;
  readonly server: Server;
  socket: Socket | null = null;
  onMessage: (message: ToControl) => void = () => {};

  constructor(runId: string) {
    this.reliable = new ReliableLink<ToMedia, ToControl>({
      runId,
      capacity: 1000,
      write: (line) => this.socket?.write(`${line}\n`),
      receive: (message) => {
        this.received.push(message);
        this.onMessage(message);
      },
    });
    this.server = createServer((socket) => {
      this.socket = socket;
      let rest = '';
      this.reliable.connected();
      socket.on('data', (data) => {
        const lines = (rest + data).split('\n');
        rest = lines.pop()!;
        for (const line of lines) this.reliable.receiveLine(line);
        this.reliable.ackNow();
      });
      socket.on('error', () => {});
      socket.on('close', () => this.reliable.disconnected());
    });
    controls.push(this);
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.server.listen(join(dir, 'link.sock'), resolve));
  }

  close(): Promise<void> {
    this.socket?.destroy();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  of<T extends ToControl['type']>(type: T): Extract<ToControl, { type: T }>[] {
    return this.received.filter((one): one is Extract<ToControl, { type: T }> => one.type === type);
  }
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'parley-link-'));
  told.length = 0;
  link = createLink();
});

const createLink = (clock: Clock = systemClock): ControlLink =>
  createControlLink({
    socketPath: join(dir, 'link.sock'),
    clock,
    log: pino({ level: 'silent' }),
    hello: () => ({
      type: 'hello',
      runId: 'r',
      mediaId: 'm',
      pid: 1,
      socketServer: 'ws',
      capacityCalls: 1,
      liveCalls: [],
    }),
    receive: (message) => told.push(message),
  });

afterEach(async () => {
  link.close();
  await Promise.all(controls.splice(0).map((one) => one.close().catch(() => {})));
  rmSync(dir, { recursive: true, force: true });
});

const checkpointOf = (nextTurnNumber: number): ToControl => ({
  type: 'checkpoint',
  callUuid: 'u',
  epoch: 1,
  checkpoint: { stepId: null, variables: {}, misses: 0, visits: {}, nextTurnNumber, atMs: 0 },
});

test('what was said while control was away arrives once, in order, when it comes; hello is said on each connection', async () => {
  for (let i = 0; i < 100; i++) link.send(checkpointOf(i));
  link.send({ type: 'load', mediaId: 'm', activeCalls: 0, capacityCalls: 1, draining: false, calls: [] });
  expect(link.unackedCount).toBe(100);
  const control = new Control('run-1');
  await control.listen();
  await until(() => control.of('hello').length === 1);
  expect(control.of('checkpoint').map((one) => one.checkpoint.nextTurnNumber)).toEqual(
    Array.from({ length: 100 }, (_, i) => i),
  );
  expect(control.of('load')).toEqual([]);
  control.socket!.destroy();
  await until(() => control.of('hello').length === 2);
  expect(control.of('checkpoint').length).toBe(100);
  await link.flush(PATIENCE_MS);
  expect(link.unackedCount).toBe(0);
});

test('control that restarts gets what its forerunner had not acknowledged', async () => {
  const first = new Control('run-1');
  await first.listen();
  await until(() => link.isConnected);
  await first.close();
  await until(() => !link.isConnected);
  link.send(checkpointOf(7));
  const second = new Control('run-2');
  await second.listen();
  await until(() => second.of('checkpoint').length === 1);
  second.reliable.send({ type: 'stop', callUuid: 'u', reason: null });
  await until(() => told.length === 1);
  expect(told).toEqual([{ type: 'stop', callUuid: 'u', reason: null }]);
});

test('a message that control would cut the connection for is given up, before a connection and on one, and what follows goes on', async () => {
  const tooLong = {
    ...checkpointOf(1),
    checkpoint: { nextTurnNumber: 1, variables: { text: '\u0001'.repeat(700_000) } },
  };
  link.send(tooLong as unknown as ToControl);
  link.send(checkpointOf(2));
  const control = new Control('run-1');
  await control.listen();
  await until(() => control.of('checkpoint').length === 1);
  link.send(tooLong as unknown as ToControl);
  link.send(checkpointOf(3));
  await until(() => control.of('checkpoint').length === 2);
  expect(control.of('checkpoint').map((one) => one.checkpoint.nextTurnNumber)).toEqual([2, 3]);
  expect(control.of('hello')).toHaveLength(1);
  await link.flush(PATIENCE_MS);
  expect(link.unackedCount).toBe(0);
});

test('a claim is answered by control', async () => {
  const control = new Control('run-1');
  control.onMessage = (message) => {
    if (message.type !== 'claim') return;
    expect(message.claim).toEqual(claim);
    const answer = { ok: false, httpStatus: 401, why: 'used' } as const;
    control.reliable.send({ type: 'claim.answer', requestId: message.requestId, answer });
  };
  link.close();
  await control.listen();
  // The time for an answer does not run out on its clock.
  link = createLink(new VirtualClock());
  expect(await link.claim(claim)).toEqual({ ok: false, httpStatus: 401, why: 'used' });
});

test('a claim while control is away waits for it, and is 503 after 3 s; one that nobody waits for is never sent', async () => {
  link.close();
  const clock = new VirtualClock();
  link = createLink(clock);
  let lost: unknown = null;
  const asked = link.claim(claim).then((answer) => {
    lost = answer;
  });
  clock.advanceMs(2_999);
  await new Promise((resolve) => setImmediate(resolve));
  expect(lost).toBeNull();
  clock.advanceMs(1);
  await asked;
  expect(lost).toMatchObject({ ok: false, httpStatus: 503 });
  const waiting = link.claim(claim);
  const control = new Control('run-1');
  control.onMessage = (message) => {
    if (message.type !== 'claim') return;
    const answer = { ok: false, httpStatus: 404, why: 'no' } as const;
    control.reliable.send({ type: 'claim.answer', requestId: message.requestId, answer });
  };
  await control.listen();
  // It dials again after at most two seconds of its clock, once it has seen that nobody was there.
  await eventually('a timer to dial again', () => {
    clock.advanceMs(1);
    return link.isConnected;
  });
  expect(await waiting).toMatchObject({ httpStatus: 404 });
  expect(control.of('claim').length).toBe(1);
});

test('a yes that comes after its time is given back as media.stopped', async () => {
  const control = new Control('run-1');
  await control.listen();
  await until(() => link.isConnected);
  const setup = { callUuid: 'late', epoch: 9 } as never;
  control.reliable.send({ type: 'claim.answer', requestId: 77, answer: { ok: true, setup } });
  await until(() => control.of('media.stopped').length === 1);
  expect(control.of('media.stopped')[0]).toMatchObject({ callUuid: 'late', epoch: 9, durationMs: 0 });
});

test('a line from control that is no JSON costs the connection, not the process, and the link comes back', async () => {
  const control = new Control('run-1');
  await control.listen();
  await until(() => control.of('hello').length === 1);
  control.socket!.write('not json\n');
  await until(() => control.of('hello').length === 2);
});

test('a full spool drops and counts; live events give way first', () => {
  for (let i = 0; i < 40_000; i++) link.send(checkpointOf(i));
  const event = { type: 'partial', text: '', atMs: 0 } as const;
  link.send({ type: 'live', callUuid: 'u', epoch: 1, atEpochMs: 0, event });
  expect([link.unackedCount, link.droppedMessages]).toEqual([40_000, 1]);
  for (let i = 0; i < 10_001; i++) link.send(checkpointOf(i));
  expect([link.unackedCount, link.droppedMessages]).toEqual([50_000, 2]);
});

const until = (condition: () => boolean): Promise<boolean> => eventually(String(condition), condition);
