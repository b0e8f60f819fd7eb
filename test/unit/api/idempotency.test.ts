import type { LightMyRequestResponse } from 'fastify';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { NewCall } from '../../../src/placement/ports.ts';
import { purgeIdempotencyKeys, settleIdempotency } from '../../../src/store/idempotency-keys.ts';
import { eventually } from '../../support/eventually.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());
afterEach(async () => {
  api.placements.length = 0;
  api.place = async () => ({ kind: 'placed', callUuid: uuidv7(), status: 'dialing' });
  await api.database.query('DELETE FROM idempotency_keys');
  await api.database.query('DELETE FROM calls');
});

const withKey = (key: string, change: object = {}): Promise<LightMyRequestResponse> =>
  api.call(change, { headers: { 'idempotency-key': key } });

const summary = (answer: LightMyRequestResponse): unknown[] => [
  answer.statusCode,
  answer.json().message ?? answer.json().callUuid,
  answer.headers['x-error-code'],
];

/** What placement writes before it asks the carrier. */
const insertAsPlacementDoes = (call: NewCall, submission: string | null): Promise<string> =>
  api.insertCall(api.acme, { idempotency_key: call.idempotencyKey, submission });

const ageKeys = (interval: string): Promise<object[]> =>
  api.database.query(`UPDATE idempotency_keys SET created_at = created_at - interval '${interval}'`);

describe('a request with an Idempotency-Key', () => {
  it('is placed once; a repeat gets the stored status, body and call headers with Idempotent-Replayed', async () => {
    const first = await withKey('key-1', { metadata: { a: '1', b: '2' } });
    const again = await withKey('key-1', { metadata: { b: '2', a: '1' } });
    expect([again.statusCode, again.body]).toEqual([200, first.body]);
    expect(again.headers).toMatchObject({
      'idempotent-replayed': 'true',
      'x-call-uuid': first.json().callUuid,
      'x-call-status': 'dialing',
    });
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
    expect(api.placements).toHaveLength(1);
    expect(api.placements[0]).toMatchObject({ idempotencyKey: 'key-1', lateAcceptance: 'continue' });
  });

  it('is placed exactly once of 20 at the same time; the others get 409 or the answer', async () => {
    const callUuid = uuidv7();
    api.place = async () => {
      await api.database.query('SELECT pg_sleep(0.05)');
      return { kind: 'placed', callUuid, status: 'dialing' };
    };
    const answers = await Promise.all(Array.from({ length: 20 }, () => withKey('key-2')));
    expect(api.placements).toHaveLength(1);
    for (const answer of answers) {
      if (answer.statusCode === 200) expect(answer.json().callUuid).toBe(callUuid);
      else {
        expect(summary(answer)).toEqual([409, 'Request in progress', 'request_in_progress']);
        expect(answer.headers['retry-after']).toBe('1');
      }
    }
    expect((await withKey('key-2')).headers['idempotent-replayed']).toBe('true');
  });

  it('and another body gives 422, also while the first runs', async () => {
    let during: LightMyRequestResponse | undefined;
    api.place = async () => {
      during = await withKey('key-3', { name: 'Other' });
      return { kind: 'placed', callUuid: uuidv7(), status: 'dialing' };
    };
    await withKey('key-3');
    for (const answer of [during!, await withKey('key-3', { name: 'Other' })]) {
      expect(summary(answer)).toEqual([422, 'Idempotency-Key reused with a different body', 'idempotency_key_reused']);
    }
    expect(api.placements).toHaveLength(1);
  });

  it('may be in quotes, as the draft has it, and must be 1 to 255 letters, digits, _ or -', async () => {
    expect((await withKey(`"${'k'.repeat(255)}"`)).statusCode).toBe(200);
    expect((await withKey('k'.repeat(255))).headers['idempotent-replayed']).toBe('true');
    for (const key of ['', 'k'.repeat(256), 'a b', 'ä', '"a', 'a, b', '""']) {
      expect(summary(await withKey(key)), key).toEqual([400, 'Invalid Idempotency-Key', 'invalid_idempotency_key']);
    }
  });

  it('of another workspace is another key', async () => {
    await withKey('key-4');
    const { other } = api;
    const answer = await api.call(
      { enterprise: 'other', from: other.lineId, agentId: other.agentId },
      { headers: { 'idempotency-key': 'key-4', authorization: `Bearer ${other.key}` } },
    );
    expect(answer.headers).not.toHaveProperty('idempotent-replayed');
    expect(api.placements).toHaveLength(2);
  });

  it.each([
    ['4', { to: null }, 'missing_fields'],
    ['5', { from: 'line-1' }, 'invalid_from'],
    ['6', { to: 'x' }, 'invalid_to'],
    ['6', { metadata: { '1': 'x' } }, 'invalid_metadata'],
    ['7', { enterprise: 'other' }, 'unauthorized'],
    ['9', { from: uuidv7() }, 'invalid_from'],
  ])('is free for the mended request when the first was refused at step %s (%j)', async (_step, change, code) => {
    const key = uuidv7();
    expect((await withKey(key, change)).headers['x-error-code']).toBe(code);
    const mended = await withKey(key);
    expect([mended.statusCode, mended.headers['idempotent-replayed']]).toEqual([200, undefined]);
    expect(await withKey(key)).toMatchObject({ body: mended.body, headers: { 'idempotent-replayed': 'true' } });
  });

  it('is free for the request that comes when the workspace has credentials (step 8)', async () => {
    const sealed = await api.database.query<{ id: string; credentials_sealed: Buffer }>(
      'SELECT id, credentials_sealed FROM phone_lines WHERE workspace_id = $1',
      [api.acme.workspaceId],
    );
    const set = (value: Buffer | null): Promise<object[]> =>
      api.database.query('UPDATE phone_lines SET credentials_sealed = $2 WHERE id = $1', [sealed[0]!.id, value]);
    await set(null);
    expect((await withKey('key-0')).headers['x-error-code']).toBe('credentials_missing');
    await set(sealed[0]!.credentials_sealed);
    expect((await withKey('key-0')).statusCode).toBe(200);
  });

  it('replays what judged the call itself, with its code and its call: steps 10, 11 and 14', async () => {
    const absent = { agentId: uuidv7() };
    const callUuid = uuidv7();
    const refusals = [
      { key: 'key-10', change: absent, place: null, answer: [404, 'Agent not found', 'agent_not_found'] },
      {
        key: 'key-11',
        change: {},
        place: { kind: 'blocked', code: 'blocked_suppressed' } as const,
        answer: [403, 'Call blocked by compliance policy', 'blocked_suppressed'],
      },
      {
        key: 'key-14',
        change: {},
        place: { kind: 'rejected', callUuid, code: 'carrier_rejected' } as const,
        answer: [502, 'Carrier rejected the call', 'carrier_rejected'],
      },
    ];
    for (const { key, change, place, answer } of refusals) {
      if (place !== null) api.place = async () => place;
      expect(summary(await withKey(key, change))).toEqual(answer);
      api.place = async () => ({ kind: 'placed', callUuid: uuidv7(), status: 'dialing' });
      const again = await withKey(key, change);
      expect(summary(again)).toEqual(answer);
      expect(again.headers['idempotent-replayed']).toBe('true');
      if (key === 'key-14') expect(again.headers['x-call-uuid']).toBe(callUuid);
    }
    expect(api.placements).toHaveLength(2);
  });

  it('is free again after 429 and 503', async () => {
    const callUuid = uuidv7();
    const refusals = [
      { kind: 'limited', code: 'cps_limit', retryAfterSeconds: 1 },
      { kind: 'throttled', retryAfterSeconds: 1 },
      { kind: 'draining' },
    ] as const;
    for (const refusal of refusals) {
      api.place = async () => refusal;
      expect((await withKey('key-6')).statusCode).toBeGreaterThanOrEqual(429);
    }
    api.place = async () => ({ kind: 'placed', callUuid, status: 'dialing' });
    expect(summary(await withKey('key-6'))).toEqual([200, callUuid, undefined]);
    expect(api.placements).toHaveLength(4);
  });

  it('is free again after a throw before any call was begun', async () => {
    api.place = async () => {
      throw new Error('database away');
    };
    expect(summary(await withKey('key-7'))).toEqual([500, 'Internal server error', 'internal_error']);
    api.place = async () => ({ kind: 'placed', callUuid: uuidv7(), status: 'dialing' });
    expect((await withKey('key-7')).statusCode).toBe(200);
  });

  it('is held after a throw in the middle of a call, so that nothing is dialled twice', async () => {
    api.place = async (call) => {
      await insertAsPlacementDoes(call, null);
      throw new Error('database away');
    };
    await withKey('key-8');
    expect(summary(await withKey('key-8'))).toEqual([
      409,
      'Outcome of the first request is not known yet',
      'idempotency_state_unknown',
    ]);
    expect(api.placements).toHaveLength(1);
  });
});

describe('an unknown outcome', () => {
  async function unknownCall(key: string): Promise<string> {
    let callUuid = '';
    api.place = async (call) => {
      callUuid = await insertAsPlacementDoes(call, 'unknown');
      return { kind: 'unknown', callUuid };
    };
    expect(summary(await withKey(key))).toEqual([500, 'Internal server error', 'submission_unknown']);
    const held = await withKey(key);
    expect(held.headers['x-error-code']).toBe('idempotency_state_unknown');
    expect(Number(held.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    return callUuid;
  }
  const settle = (callUuid: string, outcome: 'accepted' | 'failed'): Promise<void> =>
    api.database.transaction((tx) => settleIdempotency(tx, { callUuid, leadId: null }, outcome));

  it('holds the key with 409 until accepted late; then a repeat gets 200 with the first callUuid', async () => {
    const callUuid = await unknownCall('key-a');
    await settle(callUuid, 'accepted');
    const again = await withKey('key-a');
    expect(summary(again)).toEqual([200, callUuid, undefined]);
    expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true', 'x-call-uuid': callUuid });
    expect(api.placements).toHaveLength(1);
  });

  it('that came to nothing is replayed as the 500 with its callUuid, and settling again changes nothing', async () => {
    const callUuid = await unknownCall('key-b');
    await settle(callUuid, 'failed');
    await settle(callUuid, 'accepted');
    const again = await withKey('key-b');
    expect(summary(again)).toEqual([500, 'Internal server error', 'submission_unknown']);
    expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true', 'x-call-uuid': callUuid });
  });

  it('that is settled before the first request is answered keeps what it was settled to', async () => {
    let callUuid = '';
    api.place = async (call) => {
      callUuid = await insertAsPlacementDoes(call, 'accepted');
      await settle(callUuid, 'accepted');
      return { kind: 'unknown', callUuid };
    };
    await withKey('key-c');
    expect(summary(await withKey('key-c'))).toEqual([200, callUuid, undefined]);
  });

  it('of a call without a key settles nothing', async () => {
    await withKey('key-d');
    await settle(await api.insertCall(api.acme), 'failed');
    expect((await withKey('key-d')).statusCode).toBe(200);
  });

  it('is kept beyond 24 h, while answered keys are forgotten', async () => {
    await unknownCall('key-e');
    api.place = async () => ({ kind: 'placed', callUuid: uuidv7(), status: 'dialing' });
    await withKey('key-f');
    await ageKeys('25 hours');
    await purgeIdempotencyKeys(api.database);
    const left = await api.database.query<{ key: string }>('SELECT key FROM idempotency_keys');
    expect(left).toEqual([{ key: 'key-e' }]);
    expect((await withKey('key-e')).headers['x-error-code']).toBe('idempotency_state_unknown');
  });
});

describe('a process that died while it answered', () => {
  const leaveRunning = async (): Promise<void> => {
    await api.database.query(`UPDATE idempotency_keys SET state = 'running'`);
    await ageKeys('61 seconds');
  };

  it('before it dialled: after 60 s a repeat is placed, one of many', async () => {
    await withKey('key-g');
    await leaveRunning();
    // The first is under way until the others have been answered.
    let answered = 0;
    api.place = async () => {
      await eventually('the answers of the others', () => answered === 4);
      return { kind: 'placed', callUuid: uuidv7(), status: 'dialing' };
    };
    api.placements.length = 0;
    // All wait for the key's row, so that all find it stale at the same moment.
    const waiting: Promise<LightMyRequestResponse>[] = [];
    await api.database.transaction(async (tx) => {
      await tx.query('SELECT 1 FROM idempotency_keys FOR UPDATE');
      for (let repeat = 0; repeat < 5; repeat++) waiting.push(withKey('key-g').finally(() => answered++));
      for (let blocked = 0; blocked < 5; ) {
        const [row] = await api.database.query<{ count: number }>(
          `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        blocked = row?.count ?? 0;
      }
    });
    const answers = await Promise.all(waiting);
    expect(api.placements).toHaveLength(1);
    expect(answers.map((answer) => answer.statusCode).toSorted()).toEqual([200, 409, 409, 409, 409]);
  });

  for (const [submission, expected] of [
    ['accepted', [200, 'uuid', undefined]],
    [null, [409, 'Outcome of the first request is not known yet', 'idempotency_state_unknown']],
  ] as const) {
    it(`after it dialled (submission ${submission}): a repeat is never placed again`, async () => {
      let callUuid = '';
      api.place = async (call) => {
        callUuid = await insertAsPlacementDoes(call, submission);
        await api.database.query(`UPDATE calls SET created_at = created_at - interval '61 seconds'`);
        return { kind: 'placed', callUuid, status: 'dialing' };
      };
      await withKey('key-h');
      await leaveRunning();
      const [status, message, code] = expected;
      expect(summary(await withKey('key-h'))).toEqual([status, message === 'uuid' ? callUuid : message, code]);
      expect(api.placements).toHaveLength(1);
    });
  }

  it('after the carrier refused: a repeat gets the refusal, and is not placed again', async () => {
    let callUuid = '';
    api.place = async (call) => {
      callUuid = await insertAsPlacementDoes(call, 'refused');
      await api.database.query(
        `UPDATE calls SET status = 'failed', ended_reason = 'carrier_rejected', ended_at = now(), deadline_at = NULL,
                          created_at = created_at - interval '61 seconds'`,
      );
      return { kind: 'rejected', callUuid, code: 'carrier_rejected' };
    };
    const first = await withKey('key-r');
    await leaveRunning();
    const again = await withKey('key-r');
    expect([summary(again), again.body]).toEqual([summary(first), first.body]);
    expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true', 'x-call-uuid': callUuid });
    expect(api.placements).toHaveLength(1);
  });

  it('more than 24 h ago: the key is a new one', async () => {
    const first = await withKey('key-i');
    await ageKeys('25 hours');
    const again = await withKey('key-i', { name: 'Other' });
    expect(again.statusCode).toBe(200);
    expect(again.json().callUuid).not.toBe(first.json().callUuid);
  });
});
