import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { createEngineHost, type EngineHost } from '../../../../../media/io/threads/engine-host.ts';
import { eventually } from '../../../../support/eventually.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const log = pino({ level: 'silent' });
/** Reports what a client says over its port, or dies at its word. */
const THREAD = `import { parentPort } from 'node:worker_threads';
  parentPort.on('message', ({ port }) => port.on('message', (order) => {
    if (order === 'die') process.exit(7);
    parentPort.postMessage({ type: 'load', ...order });
  }));
  parentPort.postMessage({ type: 'ready' });`;
const url = new URL(`data:text/javascript,${encodeURIComponent(THREAD)}`);
const BUSY_A_LITTLE = { busyRatio: 0.25, lateMs: 10 };

let host: EngineHost;
afterEach(() => host.close());

async function started(threads: number): Promise<VirtualClock> {
  const clock = new VirtualClock();
  host = createEngineHost({ kind: 'voice', url, threads, clock, log });
  await host.ready;
  return clock;
}

const until = (what: string, isTrue: () => boolean): Promise<boolean> => eventually(what, isTrue);

async function report(index: number, load: object, isHeard: () => boolean): Promise<void> {
  const port = host.portFor(index)!;
  port.postMessage(load);
  await until('the report', isHeard);
  port.close();
}

test('a thread that dies counts as busy, falls behind while nothing is heard in its place, and the others are still asked', async () => {
  const clock = await started(2);
  await report(1, BUSY_A_LITTLE, () => host.load().lateMs === 10);
  await report(0, BUSY_A_LITTLE, () => host.load().busyRatio === 0.25);
  const port = host.portFor(0)!;
  port.postMessage('die');
  await until('its death', () => host.deaths === 1);
  port.close();
  expect(host.load()).toEqual({ busyRatio: 1, lateMs: 10 });
  clock.advanceMs(99);
  expect(host.load()).toEqual({ busyRatio: 1, lateMs: 10 });
  let replacements = 0;
  host.replaced = () => replacements++;
  clock.advanceMs(601);
  expect(replacements).toBe(1);
  expect(host.load()).toEqual({ busyRatio: 1, lateMs: 100 });
  await report(1, BUSY_A_LITTLE, () => true);
  await report(0, BUSY_A_LITTLE, () => host.load().busyRatio === 0.25);
  expect(host.load()).toEqual(BUSY_A_LITTLE);
});

test('a thread that has not reported yet is neither idle nor fatal, though a later one has', async () => {
  const clock = await started(2);
  await report(1, BUSY_A_LITTLE, () => host.load().lateMs === 10);
  expect(host.load()).toEqual({ busyRatio: 1, lateMs: 10 });
  clock.advanceMs(900);
  expect(host.load()).toEqual({ busyRatio: 1, lateMs: 300 });
});

test('what a kind without threads weighs is nothing', async () => {
  await started(0);
  expect(host.load()).toEqual({ busyRatio: 0, lateMs: 0 });
});

/** Beats, says what it was told, and hangs or ends at a word. */
const BEATING = `import { parentPort } from 'node:worker_threads';
  const told = [];
  parentPort.on('message', (message) => {
    if (message.type === 'client') message.port.on('message', (word) => {
      if (word === 'hang') for (;;);
      parentPort.postMessage({ type: 'told', told: [...told, word] });
    });
    else told.push(message.word);
  });
  setInterval(() => parentPort.postMessage({ type: 'load', busyRatio: 0, lateMs: 0 }), 20);
  parentPort.postMessage({ type: 'ready', osThreadId: null });`;
const beatingUrl = new URL(`data:text/javascript,${encodeURIComponent(BEATING)}`);

test('threads that are started late wait to be woken; their ports keep what was said, and each is greeted first', async () => {
  const heard: unknown[] = [];
  host = createEngineHost({
    ...{ kind: 'late', url: beatingUrl, threads: 1, clock: new VirtualClock(), log, isLate: true },
    greeting: () => [{ word: 'greeting' }],
    heard: (message) => heard.push(message),
  });
  await host.ready;
  const port = host.portFor(0)!;
  port.postMessage('said before');
  host.tell({ word: 'to nobody' });
  expect([host.load(), heard]).toEqual([{ busyRatio: 0, lateMs: 0 }, []]);
  host.wake();
  host.wake();
  await until('its word', () => heard.length > 0);
  expect(heard).toEqual([{ type: 'told', told: ['greeting', 'said before'] }]);
  host.tell({ word: 'to all' });
  // The two ways there keep no order between them.
  await until('its word', () => {
    port.postMessage('after');
    return JSON.stringify(heard.at(-1)).includes('to all');
  });
  expect(heard.at(-1)).toEqual({ type: 'told', told: ['greeting', 'to all', 'after'] });
  port.close();
});

test('a thread that beats no more is ended, and its successor is greeted anew', async () => {
  const heard: unknown[] = [];
  let replacements = 0;
  const clock = new VirtualClock();
  host = createEngineHost({
    ...{ kind: 'beating', url: beatingUrl, threads: 1, clock, log, beats: true },
    greeting: () => [{ word: `greeting ${replacements}` }],
    heard: (message) => heard.push(message),
  });
  host.replaced = () => replacements++;
  await host.ready;
  const first = host.portFor(0)!;
  let isClosed = false;
  first.on('close', () => {
    isClosed = true;
  });
  first.postMessage('hang');
  // Time passes for the one that hangs alone: its successor may be as slow as the machine makes it.
  const pass = (): Promise<void> => {
    clock.advanceMs(20);
    return new Promise((resolve) => setTimeout(resolve, 1));
  };
  await eventually('its end', () => host.deaths === 1, { between: pass });
  await until('the end of its port', () => isClosed);
  await eventually('its successor', () => replacements === 1, { between: () => clock.advanceMs(1) });
  const second = host.portFor(0)!;
  second.postMessage('there?');
  await until('its word', () => heard.length > 0);
  expect(heard).toEqual([{ type: 'told', told: ['greeting 0', 'there?'] }]);
  second.close();
});
