import type { ServerResponse } from 'node:http';
import { pino } from 'pino';
import { Agent } from 'undici';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createEventStreams } from '../../../src/api/calls/event-streams.ts';
import { appendCallLog } from '../../../src/calls/append-call-log.ts';
import { createCallEventBus } from '../../../src/calls/call-event-bus.ts';
import { lockCall } from '../../../src/calls/call-row.ts';
import { createApiKey, revokeApiKey } from '../../../src/workspaces/api-keys.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';

let api: ApiFixture;
let base: string;
/** Its sockets end with it: one that has not asked for anything yet holds up a server that closes, for a minute. */
let sockets = new Agent();
beforeAll(async () => {
  api = await createApiFixture();
  base = await api.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await sockets.destroy();
  await api.close();
});

/** Writes a row as the calls code does, and rings unless `silent`. */
async function happens(callUuid: string, kind: string, data: object = {}, silent = false): Promise<string> {
  const [row] = await api.database.query<{ id: string; at: Date }>(
    'INSERT INTO call_events (call_uuid, kind, data) VALUES ($1, $2, $3) RETURNING id::text AS id, at',
    [callUuid, kind, JSON.stringify(data)],
  );
  if (!silent) api.bus.publish({ callUuid, id: row!.id, at: row!.at, kind, data: { ...data } });
  return row!.id;
}

interface Sse {
  id: string | null;
  event: string;
  data: { kind?: string; data?: Record<string, unknown> };
}

interface OpenStream {
  response: Response;
  /** The next message; null at the end. Comments are skipped. */
  next(): Promise<Sse | null>;
  abort(): void;
}

async function openStream(callUuid: string, headers: Record<string, string> = {}): Promise<OpenStream> {
  const abort = new AbortController();
  const response = await fetch(`${base}/api/developer/calls/${callUuid}/events`, {
    headers: { authorization: `Bearer ${api.acme.key}`, accept: 'text/event-stream', ...headers },
    signal: abort.signal,
    ...({ dispatcher: sockets } as object),
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  const next = async (): Promise<Sse | null> => {
    for (;;) {
      const end = buffer.indexOf('\n\n');
      if (end >= 0) {
        const block = buffer.slice(0, end);
        buffer = buffer.slice(end + 2);
        if (block.startsWith(':')) continue;
        const fields = Object.fromEntries(
          block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
        );
        return { id: fields['id'] ?? null, event: fields['event'] ?? '', data: JSON.parse(fields['data'] ?? 'null') };
      }
      const { done, value } = await reader.read();
      if (done) return null;
      buffer += value;
    }
  };
  return { response, next, abort: () => abort.abort() };
}

const finish = (callUuid: string, recording = 'none'): Promise<object[]> =>
  api.database.query(
    `UPDATE calls SET status = 'completed', ended_reason = 'user_hangup', ended_at = now(), recording_status = $2 WHERE call_uuid = $1`,
    [callUuid, recording],
  );

/** The stream sets its next poll after each round; a test may only move time once it has. */
async function untilPolling(): Promise<void> {
  while (api.clock.pendingTimers < 2) await new Promise((resolve) => setImmediate(resolve));
}

describe('the events of a call', () => {
  it('are a JSON list without the stream type in Accept', async () => {
    const callUuid = await api.insertCall(api.acme);
    await happens(callUuid, 'status', { status: 'dialing' });
    await happens(callUuid, 'status', { status: 'ringing' });
    const answer = await api.app.inject({
      url: `/api/developer/calls/${callUuid}/events`,
      headers: { authorization: `Bearer ${api.acme.key}` },
    });
    expect(answer.json().data).toMatchObject([
      { kind: 'status', data: { status: 'dialing' } },
      { kind: 'status', data: { status: 'ringing' } },
    ]);
  });

  it('are streamed: first what is stored, then each as it happens, stored or not, each once', async () => {
    const callUuid = await api.insertCall(api.acme);
    const first = await happens(callUuid, 'status', { status: 'dialing' });
    const stream = await openStream(callUuid);
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(stream.response.headers.get('service-version')).toBe('1');
    expect(await stream.next()).toMatchObject({ id: first, event: 'status', data: { data: { status: 'dialing' } } });

    api.bus.publish({ callUuid, id: null, at: new Date(), kind: 'partial', data: { text: 'yes\nplease' } });
    expect(await stream.next()).toMatchObject({ id: null, event: 'partial', data: { data: { text: 'yes\nplease' } } });
    for (const status of ['ringing', 'in_progress']) {
      await happens(callUuid, 'status', { status });
      expect(await stream.next()).toMatchObject({ event: 'status', data: { data: { status } } });
    }
    stream.abort();
  });

  it('that are not stored yet are shown without an id, and get it once they are read; what was stored before them is shown before them', async () => {
    const callUuid = await api.insertCall(api.acme);
    await happens(callUuid, 'dialing');
    const stream = await openStream(callUuid);
    expect(await stream.next()).toMatchObject({ event: 'dialing' });
    const at = new Date('2026-11-20T10:00:00.123Z');
    const stored = { callUuid, id: null, at, kind: 'speech', data: { text: 'yes' } };
    const early = { ...stored, isEarly: true } as const;
    const query = api.database.query.bind(api.database) as (...how: unknown[]) => Promise<never[]>;
    const away = vi.spyOn(api.database, 'query').mockRejectedValue(new Error('Query read timeout'));
    try {
      api.bus.publish({ callUuid, id: '9999999999', at: new Date(), kind: 'unread', data: {} });
      api.bus.publish(early);
      expect(await stream.next()).toMatchObject({ id: null, event: 'unread' });
      expect(await stream.next()).toMatchObject({ id: null, event: 'speech', data: { data: { text: 'yes' } } });
    } finally {
      away.mockRestore();
    }
    const [row] = (await query(
      `INSERT INTO call_events (call_uuid, kind, data, at) VALUES ($1, 'speech', '{"text":"yes"}', $2) RETURNING id::text AS id`,
      [callUuid, at],
    )) as { id: string }[];
    api.bus.publish({ ...stored, id: row!.id });
    expect(await stream.next()).toEqual({ id: row!.id, event: '', data: null });
    // Told late, by another node.
    api.bus.publish(early);
    const last = await happens(callUuid, 'turn');
    expect(await stream.next()).toMatchObject({ id: last, event: 'turn' });
    stream.abort();
  });

  it('that wait to be written are, as soon as somebody follows the call or reads it', async () => {
    const callUuid = await api.insertCall(api.acme);
    api.written.splice(0);
    const stream = await openStream(callUuid);
    expect(api.written).toEqual(['all']);
    stream.abort();
    const read = (path: string) =>
      fetch(`${base}/api/developer/calls/${callUuid}${path}`, { headers: { authorization: `Bearer ${api.acme.key}` } });
    for (const path of ['', '/events', '/transcript']) await read(path);
    expect(api.written).toEqual(['all', callUuid, callUuid, callUuid]);
  });

  it('come within a second of the server clock when another node wrote them', async () => {
    const callUuid = await api.insertCall(api.acme);
    await happens(callUuid, 'status', { status: 'dialing' });
    const stream = await openStream(callUuid);
    await stream.next();
    await untilPolling();
    await happens(callUuid, 'status', { status: 'ringing' }, true);
    api.clock.advanceMs(1_000);
    expect(await stream.next()).toMatchObject({ data: { data: { status: 'ringing' } } });
    stream.abort();
  });

  it('go on after Last-Event-ID', async () => {
    const callUuid = await api.insertCall(api.acme);
    await happens(callUuid, 'a');
    const second = await happens(callUuid, 'b');
    await happens(callUuid, 'c');
    const stream = await openStream(callUuid, { 'last-event-id': second });
    expect(await stream.next()).toMatchObject({ event: 'c' });
    stream.abort();
  });

  it('stand in the order in which they happened when their ids get a digit more, and a stream that is resumed loses none', async () => {
    for (const [from, last] of [
      [8, '9'],
      [98, '99'],
      [999_998, '999999'],
    ] as const) {
      await api.database.query('DELETE FROM call_events');
      await api.database.query(`ALTER TABLE call_events ALTER COLUMN id RESTART WITH ${from}`);
      const callUuid = await api.insertCall(api.acme);
      const kinds = ['dialing', 'ringing', 'in_progress', 'completed'];
      for (const kind of kinds) await happens(callUuid, kind);
      const answer = await api.app.inject({
        url: `/api/developer/calls/${callUuid}/events`,
        headers: { authorization: `Bearer ${api.acme.key}` },
      });
      expect(answer.json().data.map((event: { kind: string }) => event.kind)).toEqual(kinds);

      const seen: (string | null)[] = [];
      const first = await openStream(callUuid);
      for (const _ of kinds) seen.push((await first.next())!.id);
      first.abort();
      expect(seen.indexOf(last)).toBe(1);
      const resumed = await openStream(callUuid, { 'last-event-id': last });
      for (const kind of kinds.slice(2)) expect(await resumed.next()).toMatchObject({ event: kind });
      resumed.abort();
    }
  });

  it('get their ids in the order in which they become visible, whoever writes them', async () => {
    const callUuid = await api.insertCall(api.acme);
    const line = (kind: string) => [{ kind, data: {}, atEpochMs: api.clock.epochMs() }];
    let late: Promise<{ id: string | null }[]> | undefined;
    const [inside] = await api.database.transaction(async (tx) => {
      await lockCall(tx, callUuid);
      late = appendCallLog(api.database, callUuid, line('beside'));
      for (let blocked = 0; blocked === 0; ) {
        const [row] = await api.database.query<{ count: number }>(
          `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        blocked = row!.count;
      }
      return appendCallLog(tx, callUuid, line('inside'));
    });
    const [beside] = await late!;
    expect(Number(beside!.id)).toBeGreaterThan(Number(inside!.id));
  });

  it('of a call that is over and settled end by themselves, after the last one', async () => {
    const callUuid = await api.insertCall(api.acme);
    await happens(callUuid, 'a');
    await finish(callUuid);
    const stream = await openStream(callUuid);
    expect(await stream.next()).toMatchObject({ event: 'a' });
    expect(await stream.next()).toMatchObject({ event: 'end' });
    expect(await stream.next()).toBeNull();
  });

  it('of a call that is over wait for its recording, and 60 s at most', async () => {
    const callUuid = await api.insertCall(api.acme);
    await happens(callUuid, 'a');
    const stream = await openStream(callUuid);
    await stream.next();
    await finish(callUuid, 'pending');
    await happens(callUuid, 'b');
    expect(await stream.next()).toMatchObject({ event: 'b' });
    await api.database.query(`UPDATE calls SET recording_status = 'ready' WHERE call_uuid = $1`, [callUuid]);
    await happens(callUuid, 'recording');
    expect(await stream.next()).toMatchObject({ event: 'recording' });
    expect(await stream.next()).toMatchObject({ event: 'end' });

    const never = await api.insertCall(api.acme);
    await finish(never, 'pending');
    // A second passes when nothing is being read, nor the first time: the next look waits for the one before, however
    // slow the machine.
    let beingRead = 0;
    const query = api.database.query.bind(api.database);
    const asked = vi.spyOn(api.database, 'query').mockImplementation(async (...how) => {
      beingRead++;
      try {
        return await (query as (...how: unknown[]) => Promise<never[]>)(...how);
      } finally {
        beingRead--;
      }
    });
    let last: Sse | null | undefined;
    const beganMs = api.clock.nowMs();
    try {
      const waiting = await openStream(never);
      const ended = waiting.next().then((message) => {
        last = message;
      });
      while (last === undefined) {
        if (beingRead === 0 && api.clock.pendingTimers >= 2) api.clock.advanceMs(1_000);
        for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
      }
      await ended;
    } finally {
      asked.mockRestore();
    }
    expect(last).toMatchObject({ event: 'end' });
    expect(Math.abs(api.clock.nowMs() - beganMs - 61_000)).toBeLessThanOrEqual(2_000);
  });

  it('cost the database the same however many they are: one look at all of them a second, and one at their keys', async () => {
    const calls = [await api.insertCall(api.acme), await api.insertCall(api.acme)];
    for (const callUuid of calls) await happens(callUuid, 'a');
    const streams = await Promise.all(
      calls.flatMap((callUuid) => Array.from({ length: 10 }, () => openStream(callUuid))),
    );
    for (const stream of streams) await stream.next();
    await untilPolling();
    const asked = vi.spyOn(api.database, 'query');
    try {
      for (const callUuid of calls) await happens(callUuid, 'b', {}, true);
      asked.mockClear();
      api.clock.advanceMs(1_000);
      for (const stream of streams) expect(await stream.next()).toMatchObject({ event: 'b' });
      // A stream that was still writing is served by another look; one look a stream would be
      // twice as many as there are.
      expect(asked.mock.calls.length).toBeLessThan(streams.length);
    } finally {
      asked.mockRestore();
      for (const stream of streams) stream.abort();
    }
  });

  it('hold no place for a client that went before its stream was open', async () => {
    const callUuid = await api.insertCall(api.acme);
    const { text } = await createApiKey(api.database, { slug: 'acme', name: 'hasty', scopes: ['calls:read'] });
    const headers = { authorization: `Bearer ${text}`, accept: 'text/event-stream' };
    const gone: Promise<void>[] = [];
    const seen = (_request: unknown, response: ServerResponse): void => {
      gone.push(new Promise((resolve) => response.once('close', resolve)));
    };
    let goOn = (): void => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const lookedUp: Promise<unknown>[] = [];
    const query = api.database.query.bind(api.database) as (...how: unknown[]) => Promise<never[]>;
    const asked = vi.spyOn(api.database, 'query').mockImplementation((...how) => {
      if (how[1]?.includes(callUuid) !== true) return query(...how);
      const answer = held.then(() => query(...how));
      lookedUp.push(answer);
      return answer;
    });
    api.app.server.on('request', seen);
    try {
      const abort = new AbortController();
      const url = `${base}/api/developer/calls/${callUuid}/events`;
      const requests = Array.from({ length: 20 }, () =>
        fetch(url, { headers, signal: abort.signal, ...({ dispatcher: sockets } as object) }).catch(
          (error: Error) => error.name,
        ),
      );
      while (lookedUp.length < requests.length) await new Promise((resolve) => setImmediate(resolve));
      abort.abort();
      expect(new Set(await Promise.all(requests))).toEqual(new Set(['AbortError']));
      await Promise.all(gone);
      goOn();
      await Promise.all(lookedUp);
    } finally {
      api.app.server.off('request', seen);
      asked.mockRestore();
    }
    const streams = await Promise.all(Array.from({ length: 20 }, () => openStream(callUuid, headers)));
    expect(streams.map(({ response }) => response.status)).toEqual(new Array(20).fill(200));
    for (const stream of streams) stream.abort();
  });

  it('are looked at once a second, also when the last one ends and another comes while their keys are looked at', async () => {
    const clock = new VirtualClock();
    let looks = 0;
    const waiting: (() => void)[] = [];
    const streams = createEventStreams({
      clock,
      log: pino({ level: 'silent' }),
      bus: createCallEventBus(),
      unwritten: { hurry() {} },
      database: {
        ...api.database,
        async query<Row extends object>(sql: string): Promise<Row[]> {
          return (
            sql.includes('isOver') ? [{ callUuid: 'c', isOver: false, isSettled: false, events: [] }] : []
          ) as Row[];
        },
      },
      stillHold: async (uses) => {
        looks++;
        await new Promise<void>((resolve) => waiting.push(resolve));
        return uses.map(() => true);
      },
    });
    const open = (): (() => void) =>
      streams.open({ callUuid: 'c', keyId: 'k', address: 'a', afterId: '0', async write() {}, onEnd() {} });
    const second = async (during = (): void => {}): Promise<void> => {
      clock.advanceMs(1_000);
      during();
      for (const answer of waiting.splice(0)) answer();
      await new Promise((resolve) => setImmediate(resolve));
    };
    let end = open();
    for (let time = 0; time < 4; time++) {
      await second(() => {
        end();
        end = open();
      });
    }
    looks = 0;
    for (let time = 0; time < 5; time++) await second();
    expect(looks).toBe(5);
    streams.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('go on without a look at their keys for 75 s while the database is away, with signs of life, and end after that', async () => {
    const clock = new VirtualClock();
    let isAway = false;
    const said: string[] = [];
    const bus = createCallEventBus();
    const unlessAway = async <T>(value: T): Promise<T> => {
      if (isAway) throw new Error('Connection terminated unexpectedly');
      return value;
    };
    const streams = createEventStreams({
      clock,
      log: pino({}, { write: (line: string) => void said.push((JSON.parse(line) as { msg: string }).msg) }),
      bus,
      unwritten: { hurry() {} },
      database: {
        ...api.database,
        query: () => unlessAway([{ callUuid: 'c', isOver: false, isSettled: false, events: [] }] as never),
      },
      stillHold: (uses) => unlessAway(uses.map(() => true)),
    });
    const written: string[] = [];
    let endedAtMs: number | undefined;
    streams.open({
      ...{ callUuid: 'c', keyId: 'k', address: 'a', afterId: '0' },
      write: async (text) => void written.push(text),
      onEnd() {
        endedAtMs = clock.nowMs();
      },
    });
    const second = async (): Promise<void> => {
      clock.advanceMs(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    };
    await second();
    isAway = true;
    const sinceMs = clock.nowMs();
    for (let seconds = 0; seconds < 70; seconds++) await second();
    bus.publish({ callUuid: 'c', id: null, at: new Date(0), kind: 'turn', data: {}, isEarly: true });
    expect(written.filter((text) => text.startsWith(':'))).toHaveLength(4);
    expect(written.at(-1)).toMatch(/^event: turn/);
    expect(endedAtMs).toBeUndefined();
    while (endedAtMs === undefined) await second();
    expect(endedAtMs - sinceMs).toBe(75_000);
    expect(said).toEqual(['event streams cannot be read on', 'event streams end: their keys could not be looked at']);
  });

  it('of a revoked key end within 2 s, the others go on', async () => {
    const callUuid = await api.insertCall(api.acme);
    await happens(callUuid, 'a');
    const made = await createApiKey(api.database, { slug: 'acme', name: 'short', scopes: ['calls:read'] });
    const [mine, other] = [
      await openStream(callUuid, { authorization: `Bearer ${made.text}` }),
      await openStream(callUuid),
    ];
    for (const stream of [mine, other]) expect(await stream.next()).toMatchObject({ event: 'a' });
    await untilPolling();
    await revokeApiKey(api.database, { slug: 'acme', keyId: made.keyId });
    api.clock.advanceMs(1_000);
    expect(await mine.next()).toBeNull();
    await happens(callUuid, 'b');
    expect(await other.next()).toMatchObject({ event: 'b' });
    other.abort();
  });

  it('are 20 a call and 100 a key at most; the list is there all the same', async () => {
    const calls: string[] = [];
    while (calls.length < 6) calls.push(await api.insertCall(api.acme));
    const open: OpenStream[] = [];
    const fill = async (callUuid: string, count: number): Promise<void> => {
      open.push(...(await Promise.all(Array.from({ length: count }, () => openStream(callUuid)))));
    };
    const refusedFor = async (callUuid: string): Promise<unknown> => {
      const { response } = await openStream(callUuid);
      return [response.status, response.headers.get('x-error-code'), response.headers.get('retry-after')];
    };
    await fill(calls[0]!, 20);
    expect(await refusedFor(calls[0]!)).toEqual([429, 'event_stream_limit', '5']);
    for (const callUuid of calls.slice(1, 5)) await fill(callUuid, 20);
    expect(open.map(({ response }) => response.status)).toEqual(new Array(100).fill(200));
    expect(await refusedFor(calls[5]!)).toEqual([429, 'event_stream_limit', '5']);
    const list = await api.app.inject({
      url: `/api/developer/calls/${calls[5]}/events`,
      headers: { authorization: `Bearer ${api.acme.key}` },
    });
    expect(list.statusCode).toBe(200);
    for (const stream of open) stream.abort();
  });

  it('end when the server closes', async () => {
    const callUuid = await api.insertCall(api.acme);
    await happens(callUuid, 'a');
    await sockets.destroy();
    sockets = new Agent();
    const stream = await openStream(callUuid);
    await stream.next();
    await api.app.close();
    expect(await stream.next()).toBeNull();
    expect(api.clock.pendingTimers).toBe(0);
  });
});

describe('the bus', () => {
  const event = { callUuid: 'c1', id: '1', at: new Date(0), kind: 'k', data: {} };

  it('tells only those who listen to the call, and goes on past one that throws', () => {
    const bus = createCallEventBus();
    const heard: string[] = [];
    bus.subscribe('c1', () => {
      throw new Error('broken listener');
    });
    const end = bus.subscribe('c1', () => void heard.push('c1'));
    bus.subscribe('c2', () => void heard.push('c2'));
    bus.publish(event);
    end();
    end();
    bus.publish(event);
    expect(heard).toEqual(['c1']);
  });
});
