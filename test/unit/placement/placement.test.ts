import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { PlaceOutcome } from '../../../src/carriers/carrier.ts';
import { placeCall } from '../../../src/placement/placement.ts';
import { createHarness, type Harness, PUBLIC_URL } from '../lifecycle/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await createHarness();
});
afterAll(() => h.close());
beforeEach(() => {
  h.carrier.outcomes.length = 0;
  h.carrier.placed.length = 0;
  h.carrier.cancelled.length = 0;
  h.toMedia.length = 0;
});
afterEach(() => {
  h.carrier.whilePlacing = null;
  h.placement.admission = { state: () => 'open' };
});

/** An unknown outcome, and the way to let the acceptance come after all. */
function silence(): { outcome: PlaceOutcome; acceptLate(id: string | null): void } {
  let acceptLate: (id: string | null) => void = () => {};
  const lateAcceptance = new Promise<string | null>((resolve) => {
    acceptLate = resolve;
  });
  return { outcome: { kind: 'unknown', why: 'no answer in 5 s', lateAcceptance }, acceptLate };
}

const rowCount = async (): Promise<number> => (await h.database.query('SELECT 1 AS one FROM calls')).length;

describe('placing a call', () => {
  test('the row is committed before the carrier is asked, and the acceptance makes it placed', async () => {
    let statusWhilePlacing: string | undefined;
    h.carrier.whilePlacing = async ({ callUuid }) => {
      statusWhilePlacing = (await h.call(callUuid)).status;
    };
    const placement = await placeCall(h.placement, h.newCall());
    if (placement.kind !== 'placed') throw new Error(placement.kind);
    expect(statusWhilePlacing).toBe('dialing');
    expect(placement.status).toBe('dialing');
    expect(h.carrier.placed).toEqual([
      {
        callUuid: placement.callUuid,
        to: '+14155550123',
        from: '+14155550100',
        ringTimeoutSeconds: 30,
        maxDurationSeconds: 1800,
        callbackBase: `${PUBLIC_URL}/carriers/plivo/${placement.callUuid}`,
      },
    ]);
    const call = await h.call(placement.callUuid);
    expect(call).toMatchObject({ status: 'dialing', submission: 'accepted', carrierRequestId: `req-${call.callUuid}` });
    const prepared = await h.until('the greeting to be prepared', () => h.toMedia[0]);
    expect(prepared).toMatchObject({
      type: 'prepare',
      placeholders: { customer_name: 'Asha', plan: 'gold', clinic: 'North' },
    });
    expect(JSON.stringify(prepared)).not.toContain('hush');
  });

  test("a call's id tells the time of its row, which is the cluster's, not the machine's", async () => {
    const placement = await placeCall(h.placement, h.newCall());
    if (placement.kind !== 'placed') throw new Error(placement.kind);
    const [row] = await h.database.query<{ createdAt: Date }>(
      'SELECT created_at AS "createdAt" FROM calls WHERE call_uuid = $1',
      [placement.callUuid],
    );
    const idEpochMs = Number.parseInt(placement.callUuid.replace('-', '').slice(0, 12), 16);
    expect(row!.createdAt.getTime() - idEpochMs).toBe(0);
    expect(idEpochMs).toBe(h.clock.epochMs());
  });

  test.each(['invalid_number', 'carrier_auth', 'carrier_rejected'] as const)(
    'a carrier that refuses with %s fails the call at once, with one call.failed, and is asked once',
    async (reason) => {
      h.carrier.outcomes.push({ kind: 'refused', reason, carrierCode: 'http_400', message: 'Plivo answered 400' });
      const placement = await placeCall(h.placement, h.newCall());
      if (placement.kind !== 'rejected') throw new Error(placement.kind);
      expect(placement.code).toBe(reason);
      expect(await h.call(placement.callUuid)).toMatchObject({
        status: 'failed',
        endedReason: reason,
        fault: 'carrier',
        submission: 'refused',
        error: { code: reason, message: 'Plivo answered 400' },
      });
      expect(await h.webhooks(placement.callUuid)).toEqual(['call.failed']);
      expect(h.carrier.placed).toHaveLength(1);
    },
  );

  test('an explicit 429 is tried once more after the second that it asks for, and may then succeed', async () => {
    h.carrier.outcomes.push({ kind: 'throttled', retryAfterSeconds: 1 });
    const placing = placeCall(h.placement, h.newCall());
    await h.until('the pause of 1 s', () => (h.clock.pendingTimers > 0 ? true : undefined));
    expect(h.carrier.placed).toHaveLength(1);
    h.clock.advanceMs(999);
    expect(h.carrier.placed).toHaveLength(1);
    h.clock.advanceMs(1);
    expect(await placing).toMatchObject({ kind: 'placed' });
    expect(h.carrier.placed.map((request) => request.callUuid)).toEqual([
      h.carrier.placed[0]!.callUuid,
      h.carrier.placed[0]!.callUuid,
    ]);
  });

  test('a second 429 leaves no call and no event behind', async () => {
    const throttled: PlaceOutcome = { kind: 'throttled', retryAfterSeconds: 0 };
    h.carrier.outcomes.push(throttled, throttled);
    const before = await rowCount();
    const placing = placeCall(h.placement, h.newCall());
    await h.until('the pause', () => (h.clock.pendingTimers > 0 ? true : undefined));
    h.clock.advanceMs(0);
    expect(await placing).toEqual({ kind: 'throttled', retryAfterSeconds: 0 });
    expect(h.carrier.placed).toHaveLength(2);
    expect(await rowCount()).toBe(before);
  });

  test('a 429 that asks for 5 s is never tried again and leaves no call behind', async () => {
    h.carrier.outcomes.push({ kind: 'throttled', retryAfterSeconds: 5 });
    const before = await rowCount();
    expect(await placeCall(h.placement, h.newCall())).toMatchObject({ kind: 'throttled' });
    expect(h.carrier.placed).toHaveLength(1);
    expect(await rowCount()).toBe(before);
  });

  test('a 429 whose call rang all the same is a placed call', async () => {
    h.carrier.outcomes.push({ kind: 'throttled', retryAfterSeconds: 5 });
    h.carrier.whilePlacing = async ({ callUuid }) => {
      await h.transitions.apply(callUuid, { type: 'carrier.ringing', carrierCallId: 'leg-1' });
    };
    expect(await placeCall(h.placement, h.newCall())).toMatchObject({ kind: 'placed', status: 'ringing' });
  });

  test('an unanswered request is unknown, is held in dialing for 60 s and then failed as submission_unknown', async () => {
    h.carrier.outcomes.push(silence().outcome);
    const placement = await placeCall(h.placement, h.newCall());
    if (placement.kind !== 'unknown') throw new Error(placement.kind);
    expect(await h.call(placement.callUuid)).toMatchObject({ status: 'dialing', submission: 'unknown' });
    h.clock.advanceMs(59_900);
    await h.reaper.sweep();
    expect((await h.call(placement.callUuid)).status).toBe('dialing');
    h.clock.advanceMs(100);
    await h.reaper.sweep();
    expect(await h.call(placement.callUuid)).toMatchObject({ status: 'failed', endedReason: 'submission_unknown' });
    expect(await h.webhooks(placement.callUuid)).toEqual(['call.failed']);
    expect(h.carrier.placed).toHaveLength(1);
  });

  test('an acceptance that comes late without a key is cancelled at the carrier at once', async () => {
    const { outcome, acceptLate } = silence();
    h.carrier.outcomes.push(outcome);
    const placement = await placeCall(h.placement, h.newCall());
    if (placement.kind !== 'unknown') throw new Error(placement.kind);
    acceptLate('req-late');
    await h.until('the cancel', () => h.carrier.cancelled[0]);
    expect(h.carrier.cancelled).toEqual(['req-late']);
    expect(await h.call(placement.callUuid)).toMatchObject({ status: 'failed', endedReason: 'submission_unknown' });
    expect(h.carrier.placed).toHaveLength(1);
  });

  test('an acceptance that comes late with a key lets the call go on, and the stored answer becomes 200', async () => {
    const { outcome, acceptLate } = silence();
    h.carrier.outcomes.push(outcome);
    const call = h.newCall({ idempotencyKey: 'key-1', lateAcceptance: 'continue' });
    await h.database.query(
      `INSERT INTO idempotency_keys (workspace_id, method_path, key, body_sha256, state)
       VALUES ($1, 'POST /api/outbound-call', 'key-1', $2, 'running')`,
      [call.workspaceId, Buffer.from('body')],
    );
    const placement = await placeCall(h.placement, call);
    if (placement.kind !== 'unknown') throw new Error(placement.kind);
    await h.database.query(`UPDATE idempotency_keys SET state = 'unknown', call_uuid = $1 WHERE key = 'key-1'`, [
      placement.callUuid,
    ]);
    acceptLate('req-late');
    await h.until('the acceptance', async () =>
      (await h.call(placement.callUuid)).submission === 'accepted' ? true : undefined,
    );
    expect(h.carrier.cancelled).toEqual([]);
    const [key] = await h.database.query<{ state: string; response_status: number; response_body: string }>(
      `SELECT state, response_status, response_body FROM idempotency_keys WHERE key = 'key-1'`,
    );
    expect(key).toEqual({
      state: 'done',
      response_status: 200,
      response_body: JSON.stringify({ success: true, callUuid: placement.callUuid }),
    });
  });

  test('a callback that overtakes the time-out makes the call placed, not unknown', async () => {
    h.carrier.outcomes.push(silence().outcome);
    h.carrier.whilePlacing = async ({ callUuid }) => {
      await h.transitions.apply(callUuid, { type: 'carrier.ringing', carrierCallId: 'leg-1' });
    };
    expect(await placeCall(h.placement, h.newCall())).toMatchObject({ kind: 'placed', status: 'ringing' });
  });

  test('a carrier client that throws counts as unknown and is not asked again', async () => {
    h.carrier.outcomes.push(new Error('bug'));
    expect(await placeCall(h.placement, h.newCall())).toMatchObject({ kind: 'unknown' });
    expect(h.carrier.placed).toHaveLength(1);
  });

  test('while draining or without room nothing is written and the carrier is not asked', async () => {
    const before = await rowCount();
    for (const state of ['draining', 'no_capacity'] as const) {
      h.placement.admission = { state: () => state };
      expect(await placeCall(h.placement, h.newCall())).toEqual({ kind: 'draining' });
    }
    expect(h.carrier.placed).toHaveLength(0);
    expect(await rowCount()).toBe(before);
  });

  test('without anybody to talk to it nothing is dialled; a place that was taken for nothing is given back', async () => {
    const before = await rowCount();
    const released: string[] = [];
    let taken = 0;
    const room = h.placement.room;
    try {
      h.placement.room = { take: () => false, release: (callUuid) => released.push(callUuid) };
      expect(await placeCall(h.placement, h.newCall())).toEqual({
        kind: 'draining',
        code: 'overloaded',
        retryAfterSeconds: 2,
      });
      expect(h.carrier.placed).toHaveLength(0);
      expect(await rowCount()).toBe(before);
      h.placement.room = { take: () => ++taken > 0, release: (callUuid) => released.push(callUuid) };
      h.carrier.outcomes.push({ kind: 'throttled', retryAfterSeconds: 5 });
      expect((await placeCall(h.placement, h.newCall())).kind).toBe('throttled');
      expect(released).toHaveLength(1);
      expect((await placeCall(h.placement, h.newCall())).kind).toBe('placed');
      // A tone needs no voice and no recogniser.
      const tone = { kind: 'tone', name: 'Tone', direction: 'outbound', toneHz: 440 } as const;
      const call = h.newCall();
      expect((await placeCall(h.placement, { ...call, agent: { ...call.agent, definition: tone } })).kind).toBe(
        'placed',
      );
      expect(taken).toBe(2);
      expect(released).toHaveLength(1);
    } finally {
      h.placement.room = room;
    }
  });

  test('over the concurrency limit no row is written: of 12 at once under a limit of 5 exactly 5 are placed', async () => {
    const line = h.newCall().line.id;
    await h.database.query(
      `UPDATE calls SET status = 'failed', ended_reason = 'internal_error', ended_at = now() WHERE ended_at IS NULL`,
    );
    await h.database.query('UPDATE phone_lines SET max_concurrent_calls = 5 WHERE id = $1', [line]);
    const placements = await Promise.all(Array.from({ length: 12 }, () => placeCall(h.placement, h.newCall())));
    await h.database.query('UPDATE phone_lines SET max_concurrent_calls = 100000 WHERE id = $1', [line]);
    expect(placements.filter(({ kind }) => kind === 'placed')).toHaveLength(5);
    expect(placements.filter(({ kind }) => kind === 'limited')).toHaveLength(7);
    expect(h.carrier.placed).toHaveLength(5);
  });
});
