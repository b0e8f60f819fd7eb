import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Session } from '../../../../media/call/session.ts';
import { SessionRegistry } from '../../../../media/call/session-registry.ts';
import type { FromPipeline } from '../../../../media/contract/thread-messages.ts';
import { FeedBoard, NO_SEAT } from '../../../../media/rings/feed-board.ts';
import { Suspect } from '../../../../media/rings/suspect.ts';

function registryOf() {
  const sent: FromPipeline[] = [];
  const errors: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => errors.push(line) });
  const board = new FeedBoard();
  const registry = new SessionRegistry(logger, (message) => sent.push(message), new Suspect(), board);
  return { registry, board, sent, errors };
}

function session(callUuid: string, change: Partial<Session> = {}): Session & { ticks: number; stops: number } {
  const made = {
    callUuid,
    listens: true,
    ticks: 0,
    stops: 0,
    start() {},
    tick() {
      made.ticks++;
    },
    command: () => null,
    stop() {
      made.stops++;
    },
    ...change,
  };
  return made;
}

const end = (callUuid: string, error: string) => ({
  type: 'call.end',
  callUuid,
  reason: 'internal_error',
  disposition: null,
  error,
});

test('a call that throws ends alone, with one internal_error and one line in the log, and still answers its stop', () => {
  const { registry, sent, errors } = registryOf();
  const healthy = session('a');
  registry.start(healthy);
  registry.start(
    session('b', {
      tick() {
        throw new Error('broken');
      },
    }),
  );
  registry.tick(true);
  registry.tick(true);
  expect(healthy.ticks).toBe(2);
  expect(sent).toEqual([end('b', 'broken')]);
  expect(errors).toHaveLength(1);
  expect(registry.calls).toBe(2);
  registry.stop('b');
  expect(sent.at(-1)).toEqual({ type: 'call.closed', callUuid: 'b' });
  expect(registry.calls).toBe(1);
});

test('a throw in start, or in a key press, ends the call too', () => {
  const { registry, sent } = registryOf();
  const thrower = () => {
    throw new Error('broken');
  };
  registry.start(session('a', { start: thrower }));
  registry.start(session('b', { command: thrower }));
  registry.command('b', { type: 'key', key: '1' });
  registry.command('b', { type: 'key', key: '2' });
  registry.command('nobody', { type: 'key', key: '1' });
  expect(sent).toEqual([end('a', 'broken'), end('b', 'broken')]);
});

test('a call that has ended and then fails ends once', () => {
  const { registry, sent } = registryOf();
  registry.start(
    session('a', {
      tick() {
        registry.send({ type: 'call.end', callUuid: 'a', reason: 'agent_hangup', disposition: null, error: null });
        throw new Error('late');
      },
    }),
  );
  registry.tick(true);
  expect(sent.map((message) => message.type)).toEqual(['call.end']);
});

test('a stop is answered once a message, also for an unknown call and one whose stop throws', () => {
  const { registry, sent } = registryOf();
  const thrower = () => {
    throw new Error('broken');
  };
  registry.start(session('a', { stop: thrower }));
  registry.stop('a');
  registry.stop('nobody');
  expect(sent).toEqual([
    { type: 'call.closed', callUuid: 'a' },
    { type: 'call.closed', callUuid: 'nobody' },
  ]);
});

test('a ring of the bell ticks only the calls that were fed, each once, and 20 ms later those that were not', () => {
  const { registry, board } = registryOf();
  const quiet = session('a');
  const busy = session('b');
  registry.start(quiet, board.takeSeat());
  const seat = board.takeSeat();
  registry.start(busy, seat);
  expect(board.feed(seat)).toBe(true);
  registry.tick(false);
  registry.tick(false);
  expect([quiet.ticks, busy.ticks]).toEqual([0, 1]);
  registry.tick(true);
  expect([quiet.ticks, busy.ticks]).toEqual([1, 1]);
  registry.tick(true);
  expect([quiet.ticks, busy.ticks]).toEqual([2, 2]);
});

test('nobody is woken for a call that does not listen, has no seat or is over, and it is looked at all the same', () => {
  const { registry, board } = registryOf();
  const deaf = session('a', { listens: false });
  const standing = session('b');
  const over = session('c');
  const seats = [board.takeSeat(), board.takeSeat()];
  registry.start(deaf, seats[0]);
  registry.start(standing);
  registry.start(over, seats[1]);
  registry.stop('c');
  expect([seats[0]!, NO_SEAT, seats[1]!].map((seat) => board.feed(seat))).toEqual([false, false, false]);
  registry.tick(false);
  registry.tick(true);
  expect([deaf.ticks, standing.ticks, over.ticks]).toEqual([1, 1, 0]);
});

test('a seat that was left is the next call’s, without the marks of the last', () => {
  const { registry, board } = registryOf();
  const seat = board.takeSeat();
  registry.start(session('a'), seat);
  board.feed(seat);
  registry.stop('a');
  board.leaveSeat(seat);
  const next = session('b');
  expect(board.takeSeat()).toBe(seat);
  registry.start(next, seat);
  registry.tick(false);
  expect(next.ticks).toBe(0);
});
