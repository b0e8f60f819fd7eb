import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { VOUCHED_HEADER } from '../../../media/contract/vouched.ts';
import { registerCarrierRoutes } from '../../../src/api/carriers/carrier-routes.ts';
import { purgeCarrierCallbacks } from '../../../src/carriers/acted-on.ts';
import { createLastWord } from '../../../src/lifecycle/last-word.ts';
import { createHarness, type Harness, PUBLIC_URL } from '../lifecycle/harness.ts';
import { claimCall, placedCall, talkingCall } from '../lifecycle/talk.ts';

let h: Harness;
let app: FastifyInstance;
let mediaSpeaks = false;
let timesAsked = 0;
const mediaReady = 2;
beforeAll(async () => {
  h = await createHarness();
  app = Fastify();
  const mayStillSpeak = (): boolean => ++timesAsked > 0 && mediaSpeaks;
  const media = { lastWord: createLastWord({ ...h, mayStillSpeak }), ready: () => mediaReady };
  registerCarrierRoutes(app, { ...h, log: h.placement.log, publicUrl: PUBLIC_URL, media });
  await app.ready();
});
afterAll(async () => {
  await app.close();
  await h.close();
});
beforeEach(() => {
  h.carrier.hungUp.length = 0;
  h.logged.length = 0;
});

type Answer = { status: number; body: string; type: string | undefined; vouched: unknown };

async function callback(
  callUuid: string,
  kind: string,
  form: Record<string, string> = {},
  signed = true,
): Promise<Answer> {
  const response = await app.inject({
    method: 'POST',
    url: `/carriers/plivo/${callUuid}/${kind}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...(signed ? { 'x-signed': 'yes' } : {}) },
    payload: new URLSearchParams({ id: 'leg-1', ...form }).toString(),
  });
  return {
    status: response.statusCode,
    body: response.body,
    type: response.headers['content-type'] as string | undefined,
    vouched: response.headers[VOUCHED_HEADER],
  };
}

const tokenIn = (answer: Answer): string => /\/media\/plivo\/([\w-]{43})</.exec(answer.body)?.[1] ?? '';

describe('callbacks of a carrier', () => {
  test('ring, answer and hang-up lead a call through its states; the answer opens the stream at the public address', async () => {
    const callUuid = await placedCall(h);
    expect(await callback(callUuid, 'ring')).toMatchObject({ status: 200, body: '', vouched: 'carrier' });
    expect((await h.call(callUuid)).status).toBe('ringing');
    const answer = await callback(callUuid, 'answer');
    expect(answer).toMatchObject({ status: 200, type: 'application/xml' });
    expect(answer.body).toMatch(/^<stream>ws:\/\/voice\.example\.com\/media\/plivo\/[\w-]{43}<\/stream>$/);
    expect((await h.call(callUuid)).status).toBe('in_progress');
    expect(await callback(callUuid, 'hangup')).toMatchObject({ status: 200, body: '' });
    expect(await h.call(callUuid)).toMatchObject({ status: 'completed', carrierCallId: 'leg-1' });
  });

  test.each(['answer', 'next', 'ring', 'hangup', 'stream'])(
    'an unsigned %s callback is answered 403, changes nothing and is logged once',
    async (kind) => {
      const callUuid = await placedCall(h);
      const before = { call: await h.call(callUuid), log: await h.log(callUuid) };
      h.logged.length = 0;
      for (let time = 0; time < 3; time++) {
        expect(await callback(callUuid, kind, {}, false)).toMatchObject({ status: 403, vouched: undefined });
      }
      expect({ call: await h.call(callUuid), log: await h.log(callUuid) }).toEqual(before);
      expect(h.logged.filter((line) => line.callUuid === callUuid)).toHaveLength(1);
    },
  );

  test('the stored token is a digest: the token itself stands nowhere in the row', async () => {
    const callUuid = await placedCall(h);
    const token = tokenIn(await callback(callUuid, 'answer'));
    expect(token).toHaveLength(43);
    const rows = await h.database.query<{ row: string }>('SELECT c::text AS row FROM calls c WHERE call_uuid = $1', [
      callUuid,
    ]);
    expect(rows[0]!.row).not.toContain(token);
    expect(JSON.stringify(await h.log(callUuid))).not.toContain(token);
  });

  test('a doubled answer gets the same stream, so either of the two documents works, once', async () => {
    const callUuid = await placedCall(h);
    const answers = await Promise.all([callback(callUuid, 'answer'), callback(callUuid, 'answer')]);
    expect(tokenIn(answers[0])).toHaveLength(43);
    expect(tokenIn(answers[0])).toBe(tokenIn(answers[1]));
    expect(await claimCall(h, tokenIn(answers[0]))).toMatchObject({ ok: true });
    expect(await claimCall(h, tokenIn(answers[1]))).toMatchObject({ ok: false, httpStatus: 409 });
    const answered = (await h.log(callUuid)).filter((line) => line.kind === 'carrier.answered');
    expect(answered.map((line) => line.data['late'])).toEqual([undefined, true]);
  });

  test('an answer that is told again while the stream runs does not open a second one', async () => {
    const callUuid = await talkingCall(h);
    expect((await callback(callUuid, 'answer')).body).toBe('<hangup/>');
    expect((await h.call(callUuid)).status).toBe('in_progress');
  });

  test('an answer of a call that is over gets the hang-up document, and the call stays as it ended', async () => {
    const callUuid = await placedCall(h);
    await callback(callUuid, 'hangup', { reason: 'busy' });
    expect((await callback(callUuid, 'answer')).body).toBe('<hangup/>');
    expect(await h.call(callUuid)).toMatchObject({ status: 'no_answer', endedReason: 'busy', answeredAt: null });
    expect(await h.webhooks(callUuid)).toEqual(['call.no_answer']);
  });

  test('the answer of a call that was given up as submission_unknown is hung up, in the document and at the carrier', async () => {
    const callUuid = await placedCall(h);
    await h.transitions.apply(callUuid, { type: 'finish', reason: 'submission_unknown', hangupBy: 'platform' });
    expect((await callback(callUuid, 'answer')).body).toBe('<hangup/>');
    await h.until('the hang-up', () => h.carrier.hungUp[0]);
  });

  test('a doubled hang-up and a ring after it are recorded as late; one terminal event', async () => {
    const callUuid = await placedCall(h);
    for (const kind of ['answer', 'hangup', 'hangup', 'ring']) await callback(callUuid, kind);
    expect(await h.webhooks(callUuid)).toEqual(['call.completed']);
    const late = (await h.log(callUuid)).filter((line) => line.data['late'] === true).map((line) => line.kind);
    expect(late).toEqual(['carrier.ended', 'carrier.ringing']);
  });

  test.each(['0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11', 'no-uuid'])(
    'of the unknown call %s an answer is hung up and the rest is 200, empty',
    async (callUuid) => {
      expect(await callback(callUuid, 'answer')).toMatchObject({ status: 200, body: '<hangup/>' });
      expect(await callback(callUuid, 'hangup')).toMatchObject({ status: 200, body: '' });
    },
  );

  test('a carrier that does not exist is 404; a call of another carrier is unknown there', async () => {
    const response = await app.inject({ method: 'POST', url: '/carriers/nobody/x/answer' });
    expect(response.statusCode).toBe(404);
  });

  test('a stream report is kept in the log of the call', async () => {
    const callUuid = await placedCall(h);
    await callback(callUuid, 'stream');
    expect((await h.log(callUuid)).at(-1)).toEqual({
      kind: 'carrier.stream',
      data: { state: 'started', detail: 'started' },
    });
  });

  test('two stream reports of one call at once are both kept: neither waits for what the other holds', async () => {
    const callUuid = await placedCall(h);
    // Others may still share the row while it is held so: both reports come as far as they can, and then go on at once.
    const reports = await h.database.transaction(async (tx) => {
      await tx.query('SELECT 1 AS one FROM calls WHERE call_uuid = $1 FOR NO KEY UPDATE', [callUuid]);
      const asked = [callback(callUuid, 'stream'), callback(callUuid, 'stream')];
      await h.until('both wait', async () => {
        const [row] = await h.database.query<{ count: number }>(
          `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return row!.count === asked.length;
      });
      return asked;
    });
    expect((await Promise.all(reports)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await h.log(callUuid)).filter(({ kind }) => kind === 'carrier.stream')).toHaveLength(2);
  });

  test('the signature is checked over the public address with its query, and a GET brings its parameters there', async () => {
    const callUuid = await placedCall(h);
    let signedUrl = '';
    const verify = h.carrier.verifyCallback;
    h.carrier.verifyCallback = (request) => {
      signedUrl = request.url;
      return true;
    };
    await app.inject({ method: 'GET', url: `/carriers/plivo/${callUuid}/ring?id=leg-7&a=%20b` });
    h.carrier.verifyCallback = verify;
    expect(signedUrl).toBe(`${PUBLIC_URL}/carriers/plivo/${callUuid}/ring?id=leg-7&a=%20b`);
    expect(await h.call(callUuid)).toMatchObject({ status: 'ringing', carrierCallId: 'leg-7' });
  });

  test('a body of 65 KB is refused before anything is read of it', async () => {
    const callUuid = await placedCall(h);
    expect((await callback(callUuid, 'ring', { pad: 'x'.repeat(65 * 1024) })).status).toBe(413);
    expect((await h.call(callUuid)).status).toBe('dialing');
  });
});

describe('a copy of a callback, with the nonce of one that was acted on', () => {
  const copied = async (
    callUuid: string,
    kind: string,
    nonce: string,
    form: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await app.inject({
      method: 'POST',
      url: `/carriers/plivo/${callUuid}/${kind}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-signed': 'yes', 'x-nonce': nonce },
      payload: new URLSearchParams({ id: 'leg-1', ...form }).toString(),
    });
    const vouched = response.headers[VOUCHED_HEADER];
    return { status: response.statusCode, body: response.body, type: undefined, vouched };
  };
  const state = async (callUuid: string) => ({ call: await h.call(callUuid), log: await h.log(callUuid) });

  test.each(['ring', 'stream', 'hangup'])('%s: 200, and the call and its log are as they were', async (kind) => {
    const callUuid = await placedCall(h);
    expect((await copied(callUuid, kind, 'n1')).vouched).toBe('carrier');
    const before = await state(callUuid);
    const answers = await Promise.all(Array.from({ length: 5 }, () => copied(callUuid, kind, 'n1')));
    // Whoever has got hold of a copy is no carrier.
    expect(answers.map(({ status, body, vouched }) => [status, body, vouched])).toEqual(
      answers.map(() => [200, '', undefined]),
    );
    expect(await state(callUuid)).toEqual(before);
    // The nonce of one call says nothing of another.
    const other = await placedCall(h);
    const log = (await h.log(other)).length;
    await copied(other, kind, 'n1');
    expect((await h.log(other)).length).toBeGreaterThan(log);
  });

  test('of the question for a new stream it is answered with the same stream, as often as it comes; the call goes on', async () => {
    const callUuid = await talkingCall(h);
    const first = await copied(callUuid, 'next', 'n1');
    expect(tokenIn(first)).toHaveLength(43);
    const before = await state(callUuid);
    for (let copy = 0; copy < 5; copy++)
      expect(await copied(callUuid, 'next', 'n1')).toEqual({ ...first, vouched: undefined });
    expect(await state(callUuid)).toEqual(before);
    expect(await claimCall(h, tokenIn(first), 'media-2')).toMatchObject({ ok: true });
    expect((await copied(callUuid, 'next', 'n1')).body).toBe('<hangup/>');
    expect(await h.call(callUuid)).toMatchObject({ status: 'in_progress', ownerMediaId: 'media-2', epoch: 2 });
  });

  test('of an answer gets the same stream while it waits to be opened, and changes nothing', async () => {
    const callUuid = await placedCall(h);
    const answers = await Promise.all([copied(callUuid, 'answer', 'n1'), copied(callUuid, 'answer', 'n1')]);
    expect({ ...answers[0], vouched: null }).toEqual({ ...answers[1], vouched: null });
    expect(tokenIn(answers[0]!)).toHaveLength(43);
    expect((await h.log(callUuid)).filter(({ kind }) => kind === 'carrier.answered')).toHaveLength(1);
  });

  test('one that failed may come again with its nonce, and counts then', async () => {
    const callUuid = await placedCall(h);
    await h.database.query('ALTER TABLE call_events ADD CONSTRAINT refuse_all CHECK (false) NOT VALID');
    try {
      expect((await copied(callUuid, 'ring', 'n1')).status).toBe(500);
    } finally {
      await h.database.query('ALTER TABLE call_events DROP CONSTRAINT refuse_all');
    }
    expect((await h.call(callUuid)).status).toBe('dialing');
    expect((await copied(callUuid, 'ring', 'n1')).status).toBe(200);
    expect((await h.call(callUuid)).status).toBe('ringing');
  });

  test('nonces are kept for the life of the call, and removed when it has long been over', async () => {
    const [live, over] = [await placedCall(h), await placedCall(h)];
    for (const callUuid of [live, over]) await copied(callUuid, 'ring', 'n1');
    await copied(over, 'hangup', 'n2');
    const kept = async (callUuid: string): Promise<number> =>
      (await h.database.query('SELECT 1 AS one FROM carrier_callbacks WHERE call_uuid = $1', [callUuid])).length;
    await purgeCarrierCallbacks(h.database);
    expect([await kept(live), await kept(over)]).toEqual([1, 2]);
    await h.database.query(`UPDATE calls SET ended_at = now() - interval '61 minutes' WHERE call_uuid = $1`, [over]);
    await purgeCarrierCallbacks(h.database);
    expect([await kept(live), await kept(over)]).toEqual([1, 0]);
  });
});

describe('a call whose stream is over though nobody ended it', () => {
  const stored = (turnId: string) => ({
    turnId,
    role: 'user' as const,
    startMs: 1000,
    endMs: 9000,
    text: 'yes',
    heardText: 'yes',
    interrupted: false,
  });

  test('gets another stream; the claim raises the epoch and goes on from the checkpoint, after the last stored turn', async () => {
    const callUuid = await talkingCall(h);
    const checkpoint = { stepId: 'ask', variables: { a: 'b' }, misses: 1, visits: {}, nextTurnNumber: 3, atMs: 4000 };
    const turn = { type: 'turn' as const, turn: stored('t4') };
    await h.messages.handle([{ type: 'checkpoint', callUuid, epoch: 1, checkpoint }]);
    await h.messages.handle([{ type: 'live', callUuid, epoch: 1, atEpochMs: 0, event: turn }]);
    const token = tokenIn(await callback(callUuid, 'next'));
    expect(token).toHaveLength(43);
    const claimed = await claimCall(h, token, 'media-2');
    expect(claimed).toMatchObject({
      ok: true,
      setup: { epoch: 2, checkpoint: { ...checkpoint, nextTurnNumber: 5, atMs: 9000 } },
    });
    expect(await h.call(callUuid)).toMatchObject({ status: 'in_progress', ownerMediaId: 'media-2', epoch: 2 });
  });

  test('a doubled question gets the same stream, which one claim opens', async () => {
    const callUuid = await talkingCall(h);
    const documents = await Promise.all([callback(callUuid, 'next'), callback(callUuid, 'next')]);
    expect(tokenIn(documents[0])).toHaveLength(43);
    expect(tokenIn(documents[0])).toBe(tokenIn(documents[1]));
    expect(await claimCall(h, tokenIn(documents[0]))).toMatchObject({ ok: true });
    expect(await claimCall(h, tokenIn(documents[1]))).toMatchObject({ ok: false, httpStatus: 409 });
  });

  test.each(['agent_hangup', 'api_hangup'] as const)('is hung up when it was ended by us: %s', async (reason) => {
    const callUuid = await talkingCall(h);
    await h.transitions.apply(callUuid, { type: 'end.asked', reason, hangupBy: 'agent' });
    expect((await callback(callUuid, 'next')).body).toBe('<hangup/>');
  });

  test('is hung up when it is terminal, and stays as it ended', async () => {
    const callUuid = await talkingCall(h);
    await h.transitions.apply(callUuid, { type: 'finish', reason: 'node_lost', hangupBy: 'platform' });
    expect((await callback(callUuid, 'next')).body).toBe('<hangup/>');
    expect(await h.webhooks(callUuid)).toEqual(['call.failed']);
  });

  test('comes back three times within a minute; the fourth time it is ended as node_lost', async () => {
    const callUuid = await talkingCall(h);
    for (let time = 1; time <= 3; time++) {
      expect(await claimCall(h, tokenIn(await callback(callUuid, 'next')))).toMatchObject({ ok: true });
    }
    expect((await callback(callUuid, 'next')).body).toBe('<hangup/>');
    expect((await h.call(callUuid)).ending).toMatchObject({ reason: 'node_lost' });
    await callback(callUuid, 'hangup');
    await h.clock.advanceMs(1500);
    await h.reaper.sweep();
    expect(await h.call(callUuid)).toMatchObject({ status: 'failed', endedReason: 'node_lost' });
    expect(await h.webhooks(callUuid)).toEqual(['call.failed']);
  });

  test('waits for the last word of the process that lost its stream, so that its last turn is not refused', async () => {
    const callUuid = await talkingCall(h);
    mediaSpeaks = true;
    let answered = false;
    const asked = callback(callUuid, 'next').then((answer) => {
      answered = true;
      return answer;
    });
    await h.until('the wait', () => (h.clock.pendingTimers > 0 ? true : undefined));
    expect(answered).toBe(false);
    await h.messages.handle([
      { type: 'live', callUuid, epoch: 1, atEpochMs: 0, event: { type: 'turn', turn: stored('t9') } },
    ]);
    await h.messages.handle([
      { type: 'media.stopped', callUuid, epoch: 1, why: 'socket_closed', durationMs: 1, latencies: [] },
    ]);
    h.clock.advanceMs(50);
    const claimed = await claimCall(h, tokenIn(await asked));
    mediaSpeaks = false;
    expect(claimed).toMatchObject({ ok: true, setup: { checkpoint: { nextTurnNumber: 10 } } });
  });

  test('however many callbacks ask at once, one waits for the last word, and all get the same stream', async () => {
    const callUuid = await talkingCall(h);
    mediaSpeaks = true;
    timesAsked = 0;
    const signature = vi.spyOn(h.carrier, 'signatureOf');
    const looked = vi.spyOn(h.database, 'query');
    const asked = [1, 2, 3].map(() => callback(callUuid, 'next'));
    await h.until('all of them', () => (signature.mock.calls.length === 3 ? true : undefined));
    const answered = (): number => looked.mock.results.length;
    for (let known = -1; known !== answered(); ) {
      known = answered();
      await Promise.all(looked.mock.results.map(({ value }) => value));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(timesAsked).toBe(1);
    mediaSpeaks = false;
    h.clock.advanceMs(50);
    const tokens = new Set((await Promise.all(asked)).map(tokenIn));
    vi.restoreAllMocks();
    expect([[...tokens][0]?.length, tokens.size]).toEqual([43, 1]);
  });
});
