import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLiveBoard, type LiveBoard } from '../../../src/overview/live-board.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { type ApiFixture, createApiFixture } from '../api/api-fixture.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());

interface Sent {
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: looked at by its paths
  data: any;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function boardWith(
  hold: { holds: boolean } = { holds: true },
  admission: { now: 'open' | 'draining' } = { now: 'open' },
) {
  const clock = new VirtualClock(Date.now());
  let [reads, hurries] = [0, 0];
  const database = {
    query: <Row extends object>(sql: string, parameters?: readonly unknown[]) => {
      reads++;
      return api.database.query<Row>(sql, parameters);
    },
  };
  const board = createLiveBoard({
    ...{ database, clock, bus: api.bus, log: pino({ level: 'silent' }) },
    admission: { state: () => admission.now },
    unwritten: { hurry: () => void hurries++ },
    stillHold: async (uses) => uses.map(() => hold.holds),
  });
  return { board, clock, reads: () => reads, hurries: () => hurries };
}

function watch(board: LiveBoard, holder = 'one', slow?: Promise<void>) {
  const sent: Sent[] = [];
  let hasEnded = false;
  const end = board.open({
    ...{ workspaceId: api.acme.workspaceId, holder, address: 'local' },
    write: async (event, data) => {
      sent.push({ event, data: JSON.parse(JSON.stringify(data)) });
      await slow;
    },
    onEnd: () => {
      hasEnded = true;
    },
  });
  const until = async (count: number): Promise<void> => {
    while (sent.length < count && !hasEnded) await turn();
  };
  return { sent, end, until, hasEnded: () => hasEnded };
}

/** The next look is asked for once the last one is over. */
async function look(clock: VirtualClock): Promise<void> {
  while (clock.pendingTimers === 0) await turn();
  clock.advanceMs(250);
  while (clock.pendingTimers === 0) await turn();
}

const happens = (callUuid: string, kind: string, data: object): Promise<object[]> =>
  api.database.query('INSERT INTO call_events (call_uuid, kind, data) VALUES ($1, $2, $3)', [
    callUuid,
    kind,
    JSON.stringify(data),
  ]);

const finish = (callUuid: string): Promise<object[]> =>
  api.database.query(
    `UPDATE calls SET status = 'completed', ended_reason = 'user_hangup', ended_at = now() WHERE call_uuid = $1`,
    [callUuid],
  );

describe('the live board', () => {
  it('begins with what is there, tells what changes and what is gone, and of this workspace alone', async () => {
    const { board, clock } = boardWith();
    const first = await api.insertCall(api.acme, { status: 'ringing' });
    await finish(await api.insertCall(api.acme));
    await api.insertCall(api.other);
    const watcher = watch(board);
    await watcher.until(1);
    const shown = { callUuid: first, status: 'ringing', agentName: 'Tone', state: null, mutedAgent: false };
    expect(watcher.sent[0]).toMatchObject({ event: 'snapshot', data: { calls: [shown] } });
    expect(watcher.sent[0]!.data.calls).toHaveLength(1);

    const second = await api.insertCall(api.acme);
    await api.database.query(`UPDATE calls SET status = 'in_progress', answered_at = now() WHERE call_uuid = $1`, [
      first,
    ]);
    await happens(first, 'speech', { who: 'agent', phase: 'start' });
    await happens(first, 'turn', { turn: { role: 'agent', heardText: 'Hello <b>there</b>' } });
    await happens(first, 'latency', { latency: { agentMs: 640 } });
    await happens(first, 'control', { action: 'mute_agent', result: 'done' });
    await look(clock);
    await watcher.until(2);
    const { changed, gone } = watcher.sent[1]!.data;
    expect(gone).toEqual([]);
    expect(changed.map((call: { callUuid: string }) => call.callUuid).toSorted()).toEqual([first, second].toSorted());
    expect(changed.find((call: { callUuid: string }) => call.callUuid === first)).toMatchObject({
      ...{ status: 'in_progress', state: 'speaking', replyMs: 640, mutedAgent: true },
      lastWords: { role: 'agent', text: 'Hello <b>there</b>' },
    });

    for (const [index, [phase, takenOver]] of (
      [
        ['began', true],
        ['ended', false],
      ] as const
    ).entries()) {
      await happens(first, 'takeover', { phase });
      await look(clock);
      await watcher.until(3 + index);
      expect(watcher.sent[2 + index]!.data.changed).toMatchObject([{ takenOver }]);
    }
    // Whom a person has given the call back to is not muted.
    expect(watcher.sent[3]!.data.changed).toMatchObject([{ mutedAgent: false }]);

    await finish(first);
    await look(clock);
    await watcher.until(5);
    expect(watcher.sent[4]).toMatchObject({ event: 'changes', data: { changed: [], gone: [first] } });
    await look(clock);
    await look(clock);
    expect(watcher.sent).toHaveLength(5);
    await finish(second);
    watcher.end();
  });

  it('says when no new calls are taken, and of which calls the process is lost', async () => {
    const admission = { now: 'open' as 'open' | 'draining' };
    const { board, clock } = boardWith({ holds: true }, admission);
    const run = `lost-${Date.now()}`;
    await api.database.query(
      `INSERT INTO media_runs (run_id, node, home, slot, lease_ms, capacity_calls) VALUES ($1, 'n', 'h', 'media-0', 60000, 10)`,
      [run],
    );
    const live = { status: 'in_progress', answered_at: new Date(), owner_run: run };
    const callUuid = await api.insertCall(api.acme, live);
    const watcher = watch(board);
    await watcher.until(1);
    expect(watcher.sent[0]!.data).toMatchObject({ admission: 'open', calls: [{ callUuid, isLost: false }] });
    admission.now = 'draining';
    await look(clock);
    expect(watcher.sent[1]).toMatchObject({ event: 'changes', data: { admission: 'draining', changed: [] } });
    await api.database.query(`UPDATE media_runs SET beat_at = beat_at - interval '2 minutes' WHERE run_id = $1`, [run]);
    await look(clock);
    expect(watcher.sent[2]!.data.changed).toMatchObject([{ callUuid, isLost: true }]);
    await look(clock);
    expect(watcher.sent).toHaveLength(3);
    await finish(callUuid);
    watcher.end();
  });

  it('asks the database no more often for many than for one, and not at all for nobody', async () => {
    const { board, clock, reads } = boardWith();
    const watchers = [watch(board, 'a'), watch(board, 'b'), watch(board, 'c')];
    await watchers[0]!.until(1);
    await look(clock);
    const before = reads();
    await look(clock);
    expect(reads() - before).toBe(2);
    for (const { sent } of watchers) expect(sent.map(({ event }) => event)).toEqual(['snapshot']);
    for (const { end } of watchers) end();
    expect(clock.pendingTimers).toBe(0);
  });

  it('has what was said before anybody looked written at once, for each who begins to look', async () => {
    const { board, clock, hurries } = boardWith();
    const first = watch(board);
    const second = watch(board, 'two');
    await second.until(1);
    await look(clock);
    expect(hurries()).toBe(2);
    first.end();
    second.end();
  });

  it('shows what a caller is just saying, follows the calls for that as long as anybody looks, and ends with the turn', async () => {
    const { board, clock } = boardWith();
    const callUuid = await api.insertCall(api.acme, { status: 'in_progress' });
    const watcher = watch(board);
    await watcher.until(1);
    expect(api.bus.isFollowed(callUuid)).toBe(true);
    const says = async (kind: 'partial' | 'turn', data: Record<string, unknown>): Promise<unknown> => {
      api.bus.publish({ callUuid, id: null, at: new Date(), kind, data });
      const before = watcher.sent.length;
      await look(clock);
      await look(clock);
      return watcher.sent.slice(before).map(({ data: { changed } }) => changed[0].lastWords)[0];
    };
    expect(await says('partial', { text: 'can you' })).toMatchObject({ text: 'can you', isPartial: true });
    expect(await says('partial', { text: 'can you come' })).toMatchObject({ role: 'user', text: 'can you come' });
    expect(await says('partial', { text: '' })).toBeUndefined();
    const turnData = { turn: { role: 'user', heardText: 'Can you come?' } };
    await happens(callUuid, 'turn', turnData);
    expect(await says('turn', turnData)).toMatchObject({ text: 'Can you come?', isPartial: false });
    // A turn that is not stored yet cannot be read: its words stay what is being said.
    expect(await says('partial', { text: 'at' })).toMatchObject({ text: 'at' });
    const at = new Date();
    api.bus.publish({ callUuid, id: null, at, kind: 'turn', data: turnData, isEarly: true });
    await look(clock);
    await look(clock);
    expect(await says('partial', { text: 'at noon' })).toMatchObject({ text: 'at noon' });
    // And one that is stored late ends no sentence that began after it.
    api.bus.publish({ callUuid, id: '1', at: new Date(at.getTime() - 1), kind: 'turn', data: turnData });
    const before = watcher.sent.length;
    await look(clock);
    await look(clock);
    expect(watcher.sent).toHaveLength(before);
    // A sentence that nobody understood: what stood there before stands there again.
    expect(await says('partial', { text: 'mumble' })).toMatchObject({ isPartial: true });
    await happens(callUuid, 'turn', { turn: { role: 'user', heardText: '' } });
    expect(await says('turn', {})).toMatchObject({ text: 'Can you come?', isPartial: false });
    watcher.end();
    expect(api.bus.isFollowed(callUuid)).toBe(false);
    await finish(callUuid);
  });

  it('sends a slow stream what is newest once it can take more, without what came and went', async () => {
    const { board, clock } = boardWith();
    let release = (): void => {};
    const watcher = watch(
      board,
      'slow',
      new Promise((resolve) => {
        release = resolve;
      }),
    );
    await watcher.until(1);
    const passing = await api.insertCall(api.acme);
    await look(clock);
    await finish(passing);
    const staying = await api.insertCall(api.acme);
    await look(clock);
    expect(watcher.sent).toHaveLength(1);
    release();
    await look(clock);
    await watcher.until(2);
    expect(watcher.sent[1]!.data).toMatchObject({ changed: [{ callUuid: staying }], gone: [] });
    watcher.end();
    await finish(staying);
  });

  it('ends within a second for who may look no more', async () => {
    const rights = { holds: true };
    const { board, clock } = boardWith(rights);
    const watcher = watch(board);
    await watcher.until(1);
    rights.holds = false;
    for (let looks = 0; looks < 4 && !watcher.hasEnded(); looks++) {
      while (clock.pendingTimers === 0 && !watcher.hasEnded()) await turn();
      clock.advanceMs(250);
    }
    while (clock.pendingTimers === 0 && !watcher.hasEnded()) await turn();
    expect(watcher.hasEnded()).toBe(true);
  });

  it('has room for five of one session and fifty of a workspace', async () => {
    const { board } = boardWith();
    const { workspaceId } = api.acme;
    const ends = Array.from({ length: 5 }, () => watch(board, 'one').end);
    expect([board.hasRoom(workspaceId, 'one'), board.hasRoom(workspaceId, 'two')]).toEqual([false, true]);
    for (let others = 0; others < 45; others++) ends.push(watch(board, String(others)).end);
    expect(board.hasRoom(workspaceId, 'two')).toBe(false);
    for (const end of ends) end();
    expect(board.hasRoom(workspaceId, 'one')).toBe(true);
  });
});
