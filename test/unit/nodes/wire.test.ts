/** What nodes ask of and tell each other: over PostgreSQL, over Redis, and what becomes of it when that is away. */
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../../../bench/harness/patience.ts';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { systemClock } from '../../../media/contract/clock.ts';
import type { ToMedia } from '../../../media/contract/link-messages.ts';
import { type CallEvent, createCallEventBus } from '../../../src/calls/call-event-bus.ts';
import { answerForMedia, createRemoteMedia } from '../../../src/media-link/remote-media.ts';
import { answerHurry, createUnwrittenElsewhere } from '../../../src/media-link/unwritten-elsewhere.ts';
import type { Bells } from '../../../src/nodes/bells.ts';
import { createEventRelay } from '../../../src/nodes/event-relay.ts';
import { createPostgresBells } from '../../../src/nodes/postgres-bells.ts';
import { createRedisBells } from '../../../src/nodes/redis-bells.ts';
import { createNodeWire, type NodeWire } from '../../../src/nodes/wire.ts';
import type { Database } from '../../../src/store/database.ts';
import { createServerSessions } from '../../../src/store/server-sessions.ts';
import { layCable } from '../../harness/cable.ts';
import { NO_REDIS, type OwnRedis, startOwnRedis } from '../../harness/redis-server.ts';
import { eventually } from '../../support/eventually.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const log = pino({ level: 'silent' });
let connectionString: string;
let database: Database;
let redis: OwnRedis | null;
const closing: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  const made = await createTestDatabase();
  ({ connectionString } = made);
  database = openPatientDatabase(connectionString, 10);
  redis = await startOwnRedis();
  closing.push(
    () => redis?.close(),
    () => database.close(),
    () => made.close(),
  );
});
afterAll(async () => {
  for (const close of closing) await close();
});

const carriers: [string, (node: string, heard: (text: string) => void) => Bells][] = [
  [
    'PostgreSQL',
    (node, heard) =>
      createPostgresBells({
        node,
        heard,
        connectionString,
        database,
        sessions: createServerSessions(),
        clock: systemClock,
        log,
      }),
  ],
  [
    'Redis',
    (node, heard) => createRedisBells({ node, heard, url: redis!.url, clock: systemClock, onTrouble: () => {} }),
  ],
];

describe.each(carriers)('over %s', (_name, open) => {
  test('a question is answered by the node that it names, a word is told once, in order; long ones too', async (context) => {
    if (_name === 'Redis' && redis === null) context.skip(NO_REDIS);
    const told: unknown[] = [];
    const made = ['a', 'b'].map((node) => {
      const bells = open(`${node} ${_name}`, (text) => wire.heard(text));
      const wire: NodeWire = createNodeWire({ node: `${node} ${_name}`, bells, clock: systemClock, log });
      return { bells, wire };
    });
    const [a, b] = [made[0]!, made[1]!];
    b.wire.on('double', ({ number }: { number: number }) => number * 2);
    b.wire.on('told', (body) => void told.push(body));
    b.wire.on('fails', () => Promise.reject(new Error('no')));
    await eventually(
      'both to listen',
      async () => (await a.wire.ask<number>(`b ${_name}`, 'double', { number: 21 }, 200)) === 42,
    );
    const long = 'x'.repeat(100_000);
    for (let index = 0; index < 20; index++) a.wire.tell(`b ${_name}`, 'told', index);
    a.wire.tell(`b ${_name}`, 'told', long);
    await eventually('all', () => told.length === 21);
    expect(told).toEqual([...Array.from({ length: 20 }, (_, index) => index), long]);
    expect(await a.wire.ask(`b ${_name}`, 'fails', null, PATIENCE_MS)).toBeNull();
    expect(await a.wire.ask('nobody', 'double', { number: 1 }, 50)).toBeNull();
    if (_name === 'PostgreSQL') {
      const left = 'SELECT 1 AS one FROM node_messages WHERE node LIKE $1';
      await eventually('none to be left', async () => (await database.query(left, [`% ${_name}`])).length === 0);
    }
    for (const { bells } of made) bells.close();
  });
});

test('over Redis nothing of another installation is heard that has a database of its own on the same server', async (context) => {
  if (redis === null) return context.skip(NO_REDIS);
  const heard: string[] = [];
  const onTrouble = (): void => {};
  const open = (url: string, who: string): Bells =>
    createRedisBells({
      node: 'a',
      heard: (text) => void heard.push(`${who} ${text}`),
      url,
      clock: systemClock,
      onTrouble,
    });
  const [first, second] = [open(redis.url, 'first'), open(`${redis.url.replace(/\/$/, '')}/1`, 'second')];
  for (const [bells, who] of [
    [first, 'first'],
    [second, 'second'],
  ] as const) {
    await eventually('its own word', async () => {
      await bells.send('a', 'here').catch(() => {});
      return heard.includes(`${who} here`);
    });
  }
  heard.length = 0;
  // One whose answer is late may have been sent or not, so that it is said again.
  await eventually('both', async () => {
    await first.send('a', 'word').catch(() => {});
    await second.send('a', 'last').catch(() => {});
    return heard.includes('first word') && heard.includes('second last');
  });
  const others = heard.filter((text) => !text.endsWith('here'));
  expect([...new Set(others)].toSorted()).toEqual(['first word', 'second last']);
  first.close();
  second.close();
});

test('over Redis a node hears also where the server was away as it began to, and where its way was cut without a word', async (context) => {
  if (redis === null) return context.skip(NO_REDIS);
  const { hostname, port } = new URL(redis.url);
  const cable = await layCable({ host: hostname, port: Number(port) });
  const heard: string[] = [];
  const options = { clock: systemClock, onTrouble: () => {}, url: `redis://127.0.0.1:${cable.port}` };
  await redis.kill();
  const bells = createRedisBells({ ...options, node: 'away', heard: (text) => void heard.push(text) });
  const arrives = (word: string): Promise<true> =>
    eventually(word, async () => {
      await bells.send('away', word).catch(() => {});
      return heard.includes(word);
    });
  await bells.send('away', 'lost').catch(() => {});
  await redis.start();
  await arrives('there');
  cable.cut();
  await expect(bells.send('away', 'lost too')).rejects.toThrow();
  cable.mend();
  await arrives('back');
  bells.close();
  await cable.close();
});

test.each(['', 'null', '7', '"word"', '[]', '{}', '{"kind":'])(
  'what is no word of a node, %j, harms nobody',
  (text) => {
    const wire = createNodeWire({ node: 'a', bells: { send: async () => {} }, clock: new VirtualClock(), log });
    wire.on('told', () => expect.unreachable());
    expect(() => wire.heard(text)).not.toThrow();
  },
);

/** Wires of nodes that reach each other at once. */
function cluster(...names: string[]) {
  const clock = new VirtualClock();
  const wires = new Map<string, NodeWire>();
  const cut = new Set<string>();
  for (const node of names) {
    const bells = {
      async send(to: string, text: string) {
        if (cut.has(node) || cut.has(to)) throw new Error('the connection is away');
        wires.get(to)?.heard(text);
      },
    };
    wires.set(node, createNodeWire({ node, bells, clock, log }));
  }
  return { clock, cut, wire: (name: string) => wires.get(name)! };
}

describe('media of another node', () => {
  function rig() {
    const { clock, cut, wire } = cluster('a', 'b');
    const told: ToMedia[] = [];
    const asked: string[] = [];
    let answers = true;
    const fallSilent = (): void => {
      answers = false;
    };
    answerForMedia(wire('b'), {
      async control(runId, callUuid, action) {
        asked.push(`${action.type} ${callUuid} ${runId}`);
        return answers ? { done: true } : new Promise(() => {});
      },
      tell: (_runId, message) => void told.push(message),
      prepare: async (runId, callUuid) => void asked.push(`prepare ${callUuid} ${runId}`),
      async lastWord(callUuid) {
        asked.push(`last word ${callUuid}`);
        if (!answers) await new Promise(() => {});
      },
      written: async (callUuid) => void asked.push(`written ${callUuid}`),
    });
    const nodes: Record<string, string> = { 'run-b': 'b' };
    const lives = { b: true };
    const remote = createRemoteMedia({
      wire: wire('a'),
      log,
      nodeOf: async (runId) => nodes[runId] ?? null,
      answers: async () => lives.b,
    });
    return { clock, cut, told, asked, remote, fallSilent, lives };
  }

  test('is commanded, asked and told as if it were here', async () => {
    const { remote, told, asked } = rig();
    expect(await remote.control('run-b', 'c', { type: 'mute_agent' })).toEqual({ done: true });
    remote.tell('run-b', { type: 'stop', callUuid: 'c', reason: 'api_hangup' });
    remote.prepare('run-b', 'c');
    await remote.lastWord('run-b', 'c');
    await remote.written('run-b', 'c', 300);
    expect(asked).toEqual(['mute_agent c run-b', 'prepare c run-b', 'last word c', 'written c']);
    expect(told).toEqual([{ type: 'stop', callUuid: 'c', reason: 'api_hangup' }]);
  });

  test('that was killed a moment ago is not waited for: its machine says so sooner than its row', async () => {
    const { clock, remote, asked, fallSilent, lives } = rig();
    fallSilent();
    let isOver = false;
    const over = remote.lastWord('run-b', 'c').then(() => {
      isOver = true;
    });
    await eventually('the question', () => asked.length === 1);
    expect(isOver, 'it lives').toBe(false);
    clock.advanceMs(2_000);
    await over;
    lives.b = false;
    await remote.lastWord('run-b', 'c');
  });

  test('that is dead is not there; one that does not answer is asked once, and nobody knows after 3 s', async () => {
    const { clock, cut, remote, asked, fallSilent } = rig();
    expect(await remote.control('run-gone', 'c', { type: 'mute_agent' })).toEqual({ done: false, why: 'not_here' });
    fallSilent();
    const outcome = remote.control('run-b', 'c', { type: 'mute_agent' });
    await eventually('the question', () => asked.length === 1);
    clock.advanceMs(3_000);
    expect(await outcome).toBe('unanswered');
    cut.add('b');
    expect(await remote.control('run-b', 'c', { type: 'mute_agent' })).toBe('unanswered');
    await remote.lastWord('run-b', 'c');
    expect(asked).toHaveLength(1);
  });
});

describe('events of a call that another node carries', () => {
  const event = (text: string): CallEvent => ({
    callUuid: 'c',
    id: null,
    at: new Date(1_000),
    kind: 'partial',
    data: { text },
  });

  /** `owner.node` null: the database is away. */
  function rig(tellsEarly = true) {
    const { clock, wire } = cluster('a', 'b', 'older');
    const owner: { node: string | null } = { node: 'b' };
    const hurried: string[] = [];
    const asked: string[][] = [];
    const made = (node: string) => {
      const bus = createCallEventBus();
      const rows = {
        async query(_sql: string, [callUuids]: [string[]]) {
          if (node === 'a') asked.push(callUuids);
          if (owner.node === null) throw new Error('away');
          return owner.node === node ? [] : [{ callUuid: 'c', node: owner.node }];
        },
      };
      const relay = createEventRelay({
        database: rows as never,
        clock,
        log,
        bus,
        wire: wire(node),
        node,
        isInCompany: () => true,
        tellsEarly,
        hurry: () => void hurried.push(node),
      });
      return { bus, relay };
    };
    return { clock, wire, owner, hurried, asked, a: made('a'), b: made('b') };
  }
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const pass = async (clock: VirtualClock, seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      clock.advanceMs(1_000);
      await settled();
    }
  };

  test('come with their partial words to who follows it here, at once and as long as somebody does', async () => {
    const { clock, hurried, a, b } = rig();
    const heard: CallEvent[] = [];
    const end = a.bus.subscribe('c', (one) => void heard.push(one));
    await settled();
    expect(b.bus.isFollowed('c'), 'so that its words are told of soon').toBe(true);
    b.bus.publish(event('hel'));
    await settled();
    expect(heard).toEqual([event('hel')]);
    await pass(clock, 30);
    b.bus.publish(event('hello'));
    await settled();
    expect(heard).toHaveLength(2);
    expect(hurried, 'what it had said before is written as the first begins to follow').toEqual(['b']);
    end();
    clock.advanceMs(10_000);
    await settled();
    expect(b.bus.isFollowed('c')).toBe(false);
  });

  test('are followed on where the call was, while nobody can look up where it is', async () => {
    const { clock, owner, a, b } = rig();
    const heard: CallEvent[] = [];
    a.bus.subscribe('c', (one) => void heard.push(one));
    await settled();
    owner.node = null;
    await pass(clock, 30);
    b.bus.publish(event('hello'));
    await settled();
    expect(heard).toHaveLength(1);
  });

  test('that are not stored yet are told where that does not need the database', async () => {
    for (const tellsEarly of [true, false]) {
      const { a, b } = rig(tellsEarly);
      const heard: CallEvent[] = [];
      a.bus.subscribe('c', (one) => void heard.push(one));
      await settled();
      b.bus.publish({ ...event('hello'), isEarly: true });
      await settled();
      expect(heard).toHaveLength(tellsEarly ? 1 : 0);
    }
  });

  test('that are not stored yet are kept from a version that would show them twice', async () => {
    const { wire, b } = rig();
    const told: unknown[] = [];
    const older = wire('older');
    older.on('events.told', (one: unknown) => void told.push(one));
    older.tell('b', 'events.follow', { callUuids: ['c'], node: 'older' });
    await settled();
    b.bus.publish({ ...event('hello'), isEarly: true });
    b.bus.publish(event('hello'));
    await settled();
    expect(told).toEqual([expect.not.objectContaining({ isEarly: true })]);
  });

  test('are asked for together where a board begins to follow many calls', async () => {
    const { asked, a } = rig();
    for (const callUuid of ['c', 'd', 'e']) a.bus.subscribe(callUuid, () => {});
    await settled();
    expect(asked).toEqual([['c', 'd', 'e']]);
  });

  test('are not told round and round when the call has changed its node meanwhile', async () => {
    const { clock, owner, a, b } = rig();
    let count = 0;
    a.bus.subscribe('c', () => void count++);
    await settled();
    owner.node = 'a';
    b.bus.subscribe('c', () => {});
    clock.advanceMs(4_000);
    await settled();
    b.bus.publish(event('one'));
    for (let turn = 0; turn < 20; turn++) await settled();
    expect(count).toBe(1);
  });
});

describe('what another node has heard of a call and not written', () => {
  function rig() {
    const { clock, wire } = cluster('a', 'b', 'older');
    const asked: string[] = [];
    const row = { ownerRun: 'run-b' as string | null };
    let others = ['b'];
    const unwritten = createUnwrittenElsewhere({
      database: { query: async () => (row.ownerRun === null ? [] : [{ ownerRun: row.ownerRun }]) } as never,
      clock,
      wire: wire('a'),
      remote: {
        async written(runId, callUuid, limitMs) {
          asked.push(`${callUuid} ${runId} ${limitMs}`);
          if (callUuid === 'stuck') await new Promise(() => {});
        },
      },
      otherNodes: () => others,
    });
    let hurries = 0;
    answerHurry(wire('b'), { clock, hurry: () => void hurries++ });
    const alone = (): void => {
      others = [];
    };
    return { clock, asked, row, unwritten, hurried: () => hurries, alone };
  }

  test('is written there before it is read here; who waits does so no longer than it said', async () => {
    const { clock, asked, row, unwritten } = rig();
    await unwritten.written('c', 300);
    let isOver = false;
    const over = unwritten.written('stuck', 300).then(() => {
      isOver = true;
    });
    await eventually('the question', () => asked.length === 2);
    expect(isOver).toBe(false);
    clock.advanceMs(300);
    await over;
    row.ownerRun = null;
    await unwritten.written('over', 300);
    expect(asked).toEqual(['c run-b 300', 'stuck run-b 300']);
  });

  test('is written four times a second while a board is looked at here, for one word in two seconds', async () => {
    const { clock, unwritten, hurried } = rig();
    for (let look = 0; look < 16; look++) {
      unwritten.hurry();
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
      clock.advanceMs(250);
    }
    expect(hurried()).toBe(16);
    for (let look = 0; look < 40; look++) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advanceMs(250);
    }
    expect(hurried(), 'nobody looks any more').toBeLessThan(28);
  });

  test('is nothing where there is no other node', async () => {
    const { asked, unwritten, hurried, alone } = rig();
    alone();
    unwritten.hurry();
    await unwritten.written('c', 300);
    expect([asked.length, hurried()]).toEqual([0, 0]);
  });
});
