import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCallEventBus } from '../../../src/api/call-event-bus.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';

let api: ApiFixture;
let base: string;
beforeAll(async () => {
  api = await createApiFixture();
  base = await api.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => api.close());

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
    const waiting = await openStream(never);
    const beganMs = api.clock.nowMs();
    let last: Sse | null | undefined;
    const ended = waiting.next().then((message) => {
      last = message;
    });
    while (last === undefined) {
      if (api.clock.pendingTimers >= 2) api.clock.advanceMs(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await ended;
    expect(last).toMatchObject({ event: 'end' });
    expect(Math.abs(api.clock.nowMs() - beganMs - 61_000)).toBeLessThanOrEqual(2_000);
  });

  it('end when the server closes', async () => {
    const callUuid = await api.insertCall(api.acme);
    await happens(callUuid, 'a');
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
