import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import pino from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CallSetup, ClaimAnswer } from '../../../media/contract/link-messages.ts';
import { resumeTokenOf } from '../../../media/io/legs/web/resume-token.ts';
import { importAgent } from '../../../src/agents/stored-agents.ts';
import { createEmbed, type Embed } from '../../../src/embed/embed.ts';
import { createResumeKeys } from '../../../src/embed/resume-keys.ts';
import { createSessionTokens } from '../../../src/embed/session-token.ts';
import { createSigningKeys } from '../../../src/embed/signing-keys.ts';
import { changeOrigins, createWidgetKey } from '../../../src/embed/widget-keys.ts';
import { type CallRoom, createCallRoom } from '../../../src/limits/call-room.ts';
import { createEmbedLimits } from '../../../src/limits/embed-limits.ts';
import { createPostgresStore } from '../../../src/limits/postgres-store.ts';
import { createUnwrittenTalk } from '../../../src/media-link/unwritten-talk.ts';
import { createSealer } from '../../../src/sealing/sealer.ts';
import { longPromises } from '../../support/long-promises.ts';
import { sampleAgent } from '../../support/sample-agent.ts';
import { createHarness, type Harness, MASTER_KEY, PUBLIC_URL } from '../lifecycle/harness.ts';

const ORIGIN = 'https://example.com';
let harness: Harness;
let embed: Embed;
let publicKey: string;
let agentId: string;
let address = 0;
let unwritten = false;
let room: CallRoom;
let moreCalls = Number.POSITIVE_INFINITY;

beforeAll(async () => {
  harness = await createHarness();
  const { database, clock, pool } = harness;
  const slots = longPromises(createPostgresStore(database));
  room = createCallRoom({
    source: { room: () => ({ moreCalls, alwaysCalls: 0, carriesCalls: 0, scarce: null }) },
    clock,
    refusing() {},
  });
  embed = createEmbed({
    database,
    clock,
    log: pino({ level: 'silent' }),
    bus: { publish() {} },
    sealer: createSealer(MASTER_KEY),
    masterKeys: MASTER_KEY,
    publicUrl: PUBLIC_URL,
    limits: createEmbedLimits({ store: slots, postgres: slots, database, clock }),
    superseded: pool.superseded,
    prepare: () => {},
    isDraining: () => false,
    hasRoom: () => room.has('web'),
    room,
    allWritten: createUnwrittenTalk({ clock, hurry() {}, hasUnwritten: () => unwritten }).allWritten,
  });
  await database.query('UPDATE workspaces SET max_web_sessions = 100000');
  publicKey = (await createWidgetKey(database, { slug: 'acme', name: 'site', allow: [ORIGIN] })).publicKey;
  agentId = (await importAgent(database, { slug: 'acme', definition: sampleAgent({ direction: 'web' }) })).id;
});
afterAll(() => harness.close());
beforeEach(() => void address++);

async function tokenOf(change: object = {}): Promise<string> {
  const answer = await embed.issueSession({
    body: { publicKey, agentId, parentOrigin: ORIGIN, ...change },
    origin: ORIGIN,
    remoteAddress: `198.51.100.${address}`,
  });
  if (!answer.ok) throw new Error(answer.code);
  return answer.token;
}

function claim(token: string, upgradeRequest: object = {}, mediaId = 'media-1'): Promise<ClaimAnswer> {
  return embed.claimSession(
    { runId: mediaId, mediaId },
    {
      carrier: 'web',
      token,
      url: '/ws/live',
      host: '',
      headers: {},
      live: { parentOrigin: ORIGIN, origin: ORIGIN, remoteAddress: `198.51.100.${address}`, ...upgradeRequest },
    },
  );
}

async function begun(): Promise<CallSetup> {
  const answer = await claim(await tokenOf());
  if (!answer.ok) throw new Error(answer.why);
  return answer.setup;
}

const codeOf = (answer: ClaimAnswer) => (answer.ok ? 'ok' : answer.code);

describe('a socket with a session token', () => {
  it('gets a web call in progress, with a lease of its own', async () => {
    const setup = await begun();
    expect(setup).toMatchObject({ epoch: 1, carrier: 'web', checkpoint: null, web: { origin: ORIGIN, resumed: null } });
    expect(setup.maxDurationMs).toBe(900_000);
    const call = await harness.call(setup.callUuid);
    expect(call).toMatchObject({
      channel: 'web',
      direction: 'inbound',
      toNumber: `web:${ORIGIN}`,
      lineId: null,
      status: 'in_progress',
      ownerMediaId: 'media-1',
      epoch: 1,
    });
    expect(call.answeredAt).not.toBeNull();
  });

  it('is one of 100 in parallel with the same token: exactly one wins', async () => {
    const token = await tokenOf();
    const answers = await Promise.all(Array.from({ length: 100 }, () => claim(token)));
    const codes = answers.map(codeOf);
    expect(codes.filter((code) => code === 'ok')).toHaveLength(1);
    expect(codes.filter((code) => code === 'token_used')).toHaveLength(99);
  });

  it('takes its place in the room when it is claimed: tokens hold none, and who finds none may come back with its token', async () => {
    const before = room.expected;
    const tokens = [await tokenOf(), await tokenOf(), await tokenOf()];
    expect(room.expected).toBe(before);
    moreCalls = room.expected + 1;
    try {
      expect(codeOf(await claim(tokens[0]!))).toBe('ok');
      expect(await claim(tokens[1]!)).toMatchObject({ ok: false, httpStatus: 429, code: 'concurrency_limit' });
      expect(room.expected).toBe(before + 1);
      await expect(tokenOf()).rejects.toThrow('draining');
    } finally {
      moreCalls = Number.POSITIVE_INFINITY;
    }
    expect(codeOf(await claim(tokens[1]!))).toBe('ok');
    expect(room.expected).toBe(before + 2);
  });

  it('gives its place back when its claim fails, but not the one of another socket with the token that won', async () => {
    const before = room.expected;
    const token = await tokenOf();
    const answers = await Promise.all(Array.from({ length: 10 }, () => claim(token)));
    expect(room.expected).toBe(before + 1);
    expect(codeOf(await claim(token))).toBe('token_used');
    expect(room.expected).toBe(before + 1);
    for (const answer of answers) if (answer.ok) room.carried(answer.setup.callUuid);
    harness.clock.advanceMs(500);
    expect(room.expected).toBe(before);
    expect(codeOf(await claim(token))).toBe('token_used');
    expect(room.expected).toBe(before);
    const second = await tokenOf();
    await harness.database.query('UPDATE workspaces SET max_web_sessions = 0');
    expect(codeOf(await claim(second))).toBe('concurrency_limit');
    expect(room.expected).toBe(before);
    await harness.database.query('UPDATE workspaces SET max_web_sessions = 100000');
    expect(codeOf(await claim(second))).toBe('ok');
  });

  it('is refused after 60 s and the 5 s that clocks may differ', async () => {
    const token = await tokenOf();
    const late = await tokenOf();
    harness.clock.advanceMs(63_000);
    expect(codeOf(await claim(token))).toBe('ok');
    harness.clock.advanceMs(3_000);
    expect(codeOf(await claim(late))).toBe('token_expired');
  });

  it.each([
    ['another parentOrigin', { parentOrigin: 'https://evil.com' }],
    ['another Origin header', { origin: 'https://evil.com' }],
    ['the Origin null', { origin: 'null' }],
    ['no parentOrigin', { parentOrigin: '' }],
  ])('is refused from %s, and may still be used from the right one', async (_case, upgradeRequest) => {
    const token = await tokenOf();
    expect(codeOf(await claim(token, upgradeRequest))).toBe('origin_not_allowed');
    expect(codeOf(await claim(token))).toBe('ok');
  });

  it('needs no Origin header: a client that is no browser sends none', async () => {
    expect(codeOf(await claim(await tokenOf(), { origin: null }))).toBe('ok');
  });

  it('is refused when its origin was taken off the list meanwhile', async () => {
    const key = await createWidgetKey(harness.database, { slug: 'acme', name: 'x', allow: [ORIGIN] });
    const token = await tokenOf({ publicKey: key.publicKey });
    await changeOrigins(harness.database, { publicKey: key.publicKey, allow: [], deny: [ORIGIN] });
    expect(codeOf(await claim(token))).toBe('origin_not_allowed');
  });

  it('may be the fifth of an address, but not the sixth', async () => {
    for (let i = 0; i < 5; i++) await begun();
    await expect(tokenOf()).rejects.toThrow('concurrency_limit');
  });

  it('takes its place among those of its address and its workspace when it is claimed; its token took none', async () => {
    const inUse = async (): Promise<number> => {
      const [row] = await harness.database.query<{ count: number }>(
        `SELECT (SELECT count(*) FROM limit_leases WHERE name ~ '^(calls|web|embed:address):')::int
              + (SELECT count(*) FROM calls WHERE status = 'in_progress')::int AS count`,
      );
      return row!.count;
    };
    const before = await inUse();
    const key = await createWidgetKey(harness.database, { slug: 'acme', name: 'six', allow: [ORIGIN] });
    const tokens: string[] = [];
    while (tokens.length < 6) tokens.push(await tokenOf({ publicKey: key.publicKey }));
    expect(await inUse()).toBe(before);
    const codes = [];
    for (const token of tokens) codes.push(codeOf(await claim(token)));
    expect(codes).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'concurrency_limit']);
    // Each has a row, and a lease of its address.
    expect(await inUse()).toBe(before + 10);
  });

  it('keeps the slot of its address for longer than the promise of its row', async () => {
    const { callUuid } = await begun();
    const [lease] = await harness.database.query<{ seconds: number }>(
      'SELECT extract(epoch FROM until - clock_timestamp())::float8 AS seconds FROM limit_leases WHERE holder = $1',
      [callUuid],
    );
    expect(lease!.seconds).toBeGreaterThan(30);
  });

  it.each([
    ['nothing', ''],
    ['no JWT', 'abc'],
    ['three dots', 'a.b.c'],
    ['alg none', `${base64({ alg: 'none', typ: 'JWT' })}.${base64({ iss: PUBLIC_URL, aud: 'ws/live' })}.`],
  ])('is refused with %s', async (_case, token) => expect(codeOf(await claim(token))).toBe('token_invalid'));

  it.each([
    ['another audience', { aud: 'ws/monitor' }],
    ['another issuer', { iss: 'https://elsewhere.example' }],
    ['another subject', { sub: 'monitor' }],
    ['no jti', { jti: undefined }],
    ['a jti that is no UUID', { jti: 'x' }],
    ['another version', { v: 2 }],
    ['no agent', { agentId: undefined }],
    ['a lifetime of a year', { iat: 1, exp: 4_000_000_000 }],
    ['an unknown kid', { kid: '1999-01' }],
    ['a foreign key under our kid', { foreign: true }],
    ['another type', { typ: 'at+jwt' }],
  ])('is refused with %s', async (_case, change) => {
    const code = codeOf(await claim(await signed(change)));
    expect(['token_invalid', 'token_expired']).toContain(code);
  });
});

/** A token by our own key, changed. */
async function signed(change: Record<string, unknown>): Promise<string> {
  const keys = createSigningKeys({ ...harness, sealer: createSealer(MASTER_KEY) });
  const { kid, privateKey } = await keys.current();
  const { kid: otherKid, foreign, typ, ...claims } = change;
  const nowSeconds = Math.floor(harness.clock.epochMs() / 1000);
  const payload = {
    iss: PUBLIC_URL,
    aud: 'ws/live',
    sub: 'embed',
    jti: uuidv7(),
    iat: nowSeconds,
    nbf: nowSeconds,
    exp: nowSeconds + 60,
    ent: 'acme',
    agentId,
    origin: ORIGIN,
    pk: publicKey,
    v: 1,
    ...claims,
  };
  return new SignJWT(payload)
    .setProtectedHeader({ alg: 'EdDSA', kid: String(otherKid ?? kid), typ: String(typ ?? 'JWT') })
    .sign(foreign === true ? generateKeyPairSync('ed25519').privateKey : privateKey);
}

function base64(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

describe('signing keys', () => {
  it('a kid that is unknown or none reaches no statement: of 1,000 claims one reads what other nodes have made', async () => {
    const { database, clock } = harness;
    const statements: string[] = [];
    const counted = {
      ...database,
      query: <Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> => {
        statements.push(`${sql} ${JSON.stringify(parameters)}`);
        return database.query<Row>(sql, parameters);
      },
    };
    const sealer = createSealer(MASTER_KEY);
    const tokens = createSessionTokens({
      keys: createSigningKeys({ database: counted, clock, sealer }),
      clock,
      issuer: PUBLIC_URL,
    });
    const kids = ['\u0000', "2026-11'; SELECT 1", 'x'.repeat(2_000), '', '2026-11-9999', '2026-11\n', 7, null, ['a']];
    const claimWithKid = async (kid: unknown): Promise<void> => {
      const token = `${base64({ alg: 'EdDSA', typ: 'JWT', kid })}.${base64({ iss: PUBLIC_URL })}.AAAA`;
      expect(await tokens.verify(token)).toEqual({ ok: false, code: 'token_invalid' });
    };
    for (const kid of kids) await claimWithKid(kid);
    expect(statements).toEqual([]);
    await Promise.all(Array.from({ length: 500 }, (_none, nth) => claimWithKid(`1999-01-${nth}`)));
    for (let nth = 0; nth < 500; nth++) await claimWithKid(`1999-01-${nth}`);
    expect(statements).toHaveLength(1);
    expect(statements[0]).not.toContain('1999-01');
    // What another node made is known 5 s later, and a token of it is taken at once when nobody has asked before.
    clock.advanceMs(5_000);
    expect(await tokens.verify(await signed({}))).toMatchObject({ ok: true });
    expect(statements).toHaveLength(1);
  });

  it('sign for 30 days, and are accepted for 24 h longer', async () => {
    const { database, clock } = harness;
    const deps = { database, clock, sealer: createSealer(MASTER_KEY) };
    const keys = createSigningKeys(deps);
    const tokens = createSessionTokens({ keys, clock, issuer: PUBLIC_URL });
    const first = (await keys.current()).kid;
    clock.advanceMs(29 * 86_400_000);
    expect((await keys.current()).kid).toBe(first);
    clock.advanceMs(86_400_000);
    const second = (await keys.current()).kid;
    expect(second).not.toBe(first);
    expect((await createSigningKeys(deps).current()).kid).toBe(second);
    expect(await keys.publicKeyOf(first)).not.toBeNull();
    clock.advanceMs(86_400_000);
    expect(await keys.publicKeyOf(first)).toBeNull();
    const token = await tokens.sign({ jti: uuidv7(), ent: 'acme', agentId, origin: ORIGIN, pk: publicKey });
    expect((await tokens.verify(token)).ok).toBe(true);
  });
});

describe('a socket with a resume token', () => {
  const resume = (setup: CallSetup, number = 1) =>
    resumeTokenOf({ callUuid: setup.callUuid, epoch: setup.epoch, number, keyHex: setup.web!.resumeKeyHex });

  it('gets its call back under a higher epoch, in another process, and the first is told to let go', async () => {
    const setup = await begun();
    const answer = await claim(resume(setup), {}, 'media-2');
    if (!answer.ok) throw new Error(answer.why);
    expect(answer.setup).toMatchObject({ callUuid: setup.callUuid, epoch: 2 });
    expect(answer.setup.web?.resumed).toEqual({ audio: null, turns: [] });
    expect(harness.toMedia.at(-1)).toEqual({ type: 'stop', callUuid: setup.callUuid, reason: null, superseded: true });
  });

  it('is one of 20 in parallel: exactly one wins', async () => {
    const token = resume(await begun());
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => claim(token, {}, `media-${i}`)));
    expect(answers.map(codeOf).filter((code) => code === 'ok')).toHaveLength(1);
  });

  it('is refused from another origin, with a changed token, after a newer token, and when the call is over', async () => {
    const setup = await begun();
    const token = resume(setup, 1);
    expect(codeOf(await claim(token, { origin: 'https://evil.com' }))).toBe('origin_not_allowed');
    expect(codeOf(await claim(`${token.slice(0, -2)}xx`))).toBe('token_invalid');
    expect(createResumeKeys('cd'.repeat(32)).verify(token)).toBeNull();
    const { callUuid, epoch } = setup;
    const audio = { input: setup.format, output: setup.format };
    await harness.messages.handle([
      {
        type: 'web.session',
        callUuid,
        epoch,
        visitor: { name: 'Asha', metadata: { page: '/' } },
        audio,
        resumeNumber: 2,
      },
    ]);
    expect(codeOf(await claim(token))).toBe('token_used');
    expect(await harness.call(callUuid)).toMatchObject({ name: 'Asha', metadata: { page: '/' } });
    await harness.messages.handle([
      { type: 'media.stopped', callUuid, epoch, why: 'socket_closed', durationMs: 10, latencies: [] },
    ]);
    expect(codeOf(await claim(resume(setup, 2)))).toBe('session_over');
  });
});

describe('a session that was ended', () => {
  const resume = (setup: CallSetup) =>
    resumeTokenOf({ callUuid: setup.callUuid, epoch: setup.epoch, number: 1, keyHex: setup.web!.resumeKeyHex });

  it('is over for its token at once, before the last word of its conversation is written', async () => {
    const setup = await begun();
    const { callUuid, epoch } = setup;
    await harness.messages.handle([{ type: 'web.ended', callUuid, epoch, why: 'socket_closed' }]);
    expect((await harness.call(callUuid)).status).toBe('in_progress');
    expect(codeOf(await claim(resume(setup)))).toBe('session_over');
    await harness.messages.handle([
      { type: 'media.stopped', callUuid, epoch, why: 'socket_closed', durationMs: 10, latencies: [] },
    ]);
    expect(await harness.call(callUuid)).toMatchObject({ endedReason: 'user_hangup', hangupBy: 'caller', epoch: 1 });
  });

  it('is over too where control has read its end and not yet written it', async () => {
    const setup = await begun();
    const { callUuid, epoch } = setup;
    unwritten = true;
    const claimed = claim(resume(setup));
    await harness.messages.handle([{ type: 'web.ended', callUuid, epoch, why: 'socket_closed' }]);
    unwritten = false;
    let isAnswered = false;
    void claimed.then(() => {
      isAnswered = true;
    });
    await harness.until('the answer', async () => {
      harness.clock.advanceMs(10);
      return isAnswered || undefined;
    });
    expect(codeOf(await claimed)).toBe('session_over');
  });

  it('by a fault keeps the fault', async () => {
    const { callUuid, epoch } = await begun();
    await harness.messages.handle([{ type: 'web.ended', callUuid, epoch, why: 'failed' }]);
    await harness.messages.handle([
      { type: 'media.stopped', callUuid, epoch, why: 'failed', durationMs: 10, latencies: [] },
    ]);
    expect(await harness.call(callUuid)).toMatchObject({ status: 'failed', endedReason: 'internal_error' });
  });
});

describe('the end of a web call', () => {
  it("gives the visitor's slot back and forgets the address", async () => {
    const calls = [];
    for (let i = 0; i < 5; i++) calls.push(await begun());
    const { callUuid, epoch } = calls[0]!;
    await harness.messages.handle([
      { type: 'media.stopped', callUuid, epoch, why: 'socket_closed', durationMs: 10, latencies: [] },
    ]);
    embed.callEnded({ callUuid, channel: 'web' });
    await harness.until('the address to be forgotten', async () => {
      const [row] = await harness.database.query<{ address: string | null }>(
        'SELECT address FROM web_sessions WHERE call_uuid = $1',
        [callUuid],
      );
      return row?.address === null ? true : undefined;
    });
    await begun();
  });

  it('is told by media alone: completed, user_hangup, by the caller, with its webhook', async () => {
    const { callUuid, epoch } = await begun();
    await harness.messages.handle([
      { type: 'media.stopped', callUuid, epoch, why: 'socket_closed', durationMs: 10, latencies: [] },
    ]);
    expect(await harness.call(callUuid)).toMatchObject({
      status: 'completed',
      endedReason: 'user_hangup',
      hangupBy: 'caller',
      fault: 'none',
    });
    expect(await harness.webhooks(callUuid)).toEqual(['call.completed']);
  });

  it('keeps the reason that the agent gave', async () => {
    const { callUuid, epoch } = await begun();
    const common = { callUuid, epoch };
    await harness.messages.handle([
      { type: 'agent.ended', ...common, reason: 'agent_hangup', disposition: null, error: null },
    ]);
    expect((await harness.call(callUuid)).status).toBe('in_progress');
    await harness.messages.handle([
      { type: 'media.stopped', ...common, why: 'stopped', durationMs: 10, latencies: [] },
    ]);
    expect(await harness.call(callUuid)).toMatchObject({ endedReason: 'agent_hangup', hangupBy: 'agent' });
  });

  it('comes 33 s after its process was lost, when nobody has come back', async () => {
    const { callUuid } = await begun();
    const { reaper, clock, database } = harness;
    await database.query('UPDATE calls SET lease_until = $2, deadline_at = $2 WHERE call_uuid = $1', [
      callUuid,
      new Date(clock.epochMs()),
    ]);
    clock.advanceMs(30_000);
    await reaper.sweep();
    expect((await harness.call(callUuid)).status).toBe('in_progress');
    clock.advanceMs(3_001);
    await database.query('UPDATE calls SET deadline_at = $2 WHERE call_uuid = $1', [
      callUuid,
      new Date(clock.epochMs()),
    ]);
    await reaper.sweep();
    expect(await harness.call(callUuid)).toMatchObject({ status: 'failed', endedReason: 'node_lost' });
  });
});
