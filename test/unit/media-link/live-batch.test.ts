import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ConversationEvent } from '../../../media/contract/conversation.ts';
import type { CallEvent } from '../../../src/calls/call-event-bus.ts';
import { createLiveBatch, type LiveBatch, type LiveMessage } from '../../../src/media-link/live-batch.ts';
import type { Database } from '../../../src/store/database.ts';
import { createHarness, type Harness } from '../lifecycle/harness.ts';
import { talkingCall } from '../lifecycle/talk.ts';

let h: Harness;
let live: LiveBatch;
let calls: string[];
/** Statements by themselves, and BEGIN for each transaction. */
const asked: string[] = [];
const refused: string[] = [];
let transactionsFail = false;
let isFollowed = false;
const shown: unknown[] = [];
const published: CallEvent[] = [];

beforeAll(async () => {
  h = await createHarness();
  const counting: Database = {
    query(sql, parameters) {
      asked.push(sql);
      return h.database.query(sql, parameters);
    },
    transaction(work) {
      asked.push('BEGIN');
      return transactionsFail ? Promise.reject(new Error('away')) : h.database.transaction(work);
    },
    close: async () => {},
  };
  live = createLiveBatch({
    database: counting,
    clock: h.clock,
    bus: {
      publish(event) {
        published.push(event);
        shown.push(event.data['text']);
      },
      isFollowed: () => isFollowed,
    },
    webhookDispatcher: { dispatch: () => {} },
    replied: () => {},
    refuse: (message, why) => void refused.push(`${message.epoch} ${why}`),
  });
});
afterAll(() => h.close());
beforeEach(async () => {
  calls = [await talkingCall(h), await talkingCall(h), await talkingCall(h)];
  asked.length = 0;
  refused.length = 0;
});

const told = (callUuid: string, event: ConversationEvent, epoch = 1): LiveMessage => ({
  type: 'live',
  callUuid,
  epoch,
  atEpochMs: h.clock.epochMs(),
  event,
});
const turn = (callUuid: string, turnId: string, epoch = 1): LiveMessage => {
  const words = { startMs: 0, endMs: 900, text: turnId, heardText: turnId, interrupted: false };
  return told(callUuid, { type: 'turn', turn: { turnId, role: 'agent', ...words } }, epoch);
};
const warning = (callUuid: string): LiveMessage =>
  told(callUuid, { type: 'warning', code: 'stt_slow', message: 'x', atMs: 1 });
const checkpoint = (callUuid: string, nextTurnNumber: number): LiveMessage => {
  const state = { agent: null, variables: {}, nextTurnNumber, atMs: 0 };
  return { type: 'checkpoint', callUuid, epoch: 1, checkpoint: state as never };
};
const turnsOf = async (callUuid: string): Promise<string[]> =>
  (await h.log(callUuid))
    .filter(({ kind }) => kind === 'turn')
    .map(({ data }) => (data['turn'] as { text: string }).text);

describe('what running calls tell', () => {
  test('is one statement for all of them, in the order of each', async () => {
    await live.write(
      calls.map((uuid) => [turn(uuid, 't1'), checkpoint(uuid, 2), turn(uuid, 't2'), checkpoint(uuid, 3)]),
    );
    expect(asked).toHaveLength(1);
    for (const uuid of calls) {
      expect(await turnsOf(uuid)).toEqual(['t1', 't2']);
      expect(await h.call(uuid)).toMatchObject({ checkpoint: { nextTurnNumber: 3 } });
    }
  });

  test('is refused of a call that another owns by now, and the others are written all the same', async () => {
    const [lost = '', kept = ''] = calls;
    await h.database.query('UPDATE calls SET epoch = 2 WHERE call_uuid = $1', [lost]);
    await live.write([[turn(lost, 't1'), checkpoint(lost, 2)], [turn(kept, 't1')]]);
    expect(refused).toEqual(['1 stale_epoch', '1 stale_epoch']);
    expect(await turnsOf(lost)).toEqual([]);
    expect((await h.call(lost)).checkpoint).toBeNull();
    expect(await turnsOf(kept)).toEqual(['t1']);
  });

  test('that changes a row too is a transaction beside that statement, for its calls alone', async () => {
    const [plain = '', warned = ''] = calls;
    await live.write([[turn(plain, 't1')], [turn(warned, 't1'), warning(warned)]]);
    expect(asked.filter((sql) => sql === 'BEGIN')).toHaveLength(1);
    expect(asked).toHaveLength(2);
    expect(await h.call(warned)).toMatchObject({ warnings: ['stt_slow'] });
  });

  test('and was written in part stands once when it is written again', async () => {
    const [plain = '', warned = ''] = calls;
    const messages = [[turn(plain, 't1')], [turn(warned, 't1'), warning(warned)]];
    transactionsFail = true;
    await expect(live.write(messages)).rejects.toThrow('away');
    transactionsFail = false;
    await live.write(messages);
    expect(await turnsOf(plain)).toEqual(['t1']);
    expect(await turnsOf(warned)).toEqual(['t1']);
  });

  test('partial words are shown without a statement, and of a call that another took meanwhile for 4 s more at most', async () => {
    const [callUuid = ''] = calls;
    const say = (text: string) => live.write([[told(callUuid, { type: 'partial', text, atMs: 1 })]]);
    await live.write([[turn(callUuid, 't1')]]);
    isFollowed = true;
    shown.length = asked.length = 0;
    await say('one');
    await h.database.query('UPDATE calls SET epoch = 2 WHERE call_uuid = $1', [callUuid]);
    await say('one moment');
    expect(asked).toHaveLength(0);
    h.clock.advanceMs(4_000);
    await say('one moment please');
    isFollowed = false;
    expect(shown).toEqual(['one', 'one moment']);
    expect([asked.length, refused]).toEqual([1, ['1 stale_epoch']]);
  });

  test('is shown before it is stored where the database is late, as it is told of once it is; partial words once', async () => {
    const [callUuid = ''] = calls;
    isFollowed = true;
    const started = { type: 'media.started', callUuid, epoch: 1, carrierCallId: 'leg', streamId: 's' } as const;
    const words = [started, turn(callUuid, 't1'), told(callUuid, { type: 'partial', text: 'yes', atMs: 1 })];
    published.length = 0;
    for (const message of words) live.showEarly(message);
    const early = published.splice(0);
    expect(early.map(({ id, isEarly, kind }) => ({ id, isEarly, kind }))).toEqual([
      { id: null, isEarly: true, kind: 'media.started' },
      { id: null, isEarly: true, kind: 'turn' },
      { id: null, isEarly: undefined, kind: 'partial' },
    ]);
    h.clock.advanceMs(1_000);
    await live.write([words]);
    isFollowed = false;
    expect(published).toEqual(
      early.slice(0, 2).map((event) => ({ ...event, id: expect.any(String), isEarly: undefined })),
    );
  });

  test("is not shown early of a call that is known to be another's, or whose words were deleted", async () => {
    const [taken = '', deleted = ''] = calls;
    await h.database.query('UPDATE calls SET epoch = 2 WHERE call_uuid = $1', [taken]);
    await h.database.query(`UPDATE calls SET transcript_status = 'deleted' WHERE call_uuid = $1`, [deleted]);
    await live.write([[turn(taken, 't1')], [turn(deleted, 't1')]]);
    published.length = 0;
    for (const callUuid of [taken, deleted]) live.showEarly(turn(callUuid, 't2'));
    expect(published).toEqual([]);
  });

  test('of providers that were used is one statement for all calls', async () => {
    const line = {
      turnId: 't1',
      connection: 'c',
      version: 1,
      provider: 'p',
      model: 'm',
      quantity: 1,
      speculative: false,
    };
    const used = (callUuid: string, usageId: string): LiveMessage => ({
      type: 'usage',
      callUuid,
      lines: [{ ...line, usageId, unit: 'input_tokens' }],
    });
    await live.write(calls.map((uuid) => [used(uuid, '1'), used(uuid, '2'), used(uuid, '1')]));
    expect(asked).toHaveLength(1);
    const rows = await h.database.query('SELECT 1 FROM call_usage WHERE call_uuid = ANY ($1)', [calls]);
    expect(rows).toHaveLength(6);
  });
});
