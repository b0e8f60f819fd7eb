import { createHmac, hkdfSync } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { settleLead } from '../../../src/leads/lead-calls.ts';
import { changeLead, deleteLead, type Lead, readLead, storeLeads } from '../../../src/leads/lead-store.ts';
import { placeCall } from '../../../src/placement/placement.ts';
import type { NewCall } from '../../../src/placement/ports.ts';
import { createPermitSigner } from '../../../src/suppressions/dial-permit.ts';
import {
  listSuppressions,
  suppress,
  suppressionVersion,
  unsuppress,
} from '../../../src/suppressions/suppression-list.ts';
import { createHarness, type Harness, MASTER_KEY } from '../lifecycle/harness.ts';

let h: Harness;
let workspaceId: string;
let nextNumber = 0;
beforeAll(async () => {
  h = await createHarness();
  workspaceId = h.newCall().workspaceId;
});
afterAll(() => h.close());
afterEach(() => {
  h.carrier.outcomes.length = 0;
  h.carrier.whilePlacing = null;
});

const now = (): Date => new Date(h.clock.epochMs());
const aNumber = (): string => `+1415555${String(1000 + nextNumber++)}`;

async function aLead(phone = aNumber()): Promise<Lead> {
  const consent = { type: 'express_written', source: 'form' };
  const [stored] = await storeLeads(h.database, workspaceId, [{ phone, name: 'Asha', notes: 'n', consent }], now());
  return (await readLead(h.database, workspaceId, stored!.id))!;
}

const ofLead = (lead: Lead, changes: Partial<NewCall> = {}): NewCall =>
  h.newCall({ to: lead.phone, lead: { id: lead.id, values: { notes: 'n' } }, ...changes });

const reread = async ({ id }: Lead): Promise<Lead> => (await readLead(h.database, workspaceId, id))!;

async function placed(call: NewCall): Promise<string> {
  const placement = await placeCall(h.placement, call);
  if (placement.kind !== 'placed') throw new Error(JSON.stringify(placement));
  return placement.callUuid;
}

const permitsOf = (callUuid: string): Promise<{ id: string; body: string; signature: Buffer; phone: string }[]> =>
  h.database.query('SELECT id, body, signature, phone FROM dial_permits WHERE call_uuid = $1', [callUuid]);

async function answer(callUuid: string): Promise<void> {
  await h.transitions.apply(callUuid, { type: 'carrier.answered', carrierCallId: `leg-${callUuid}` });
}

async function end(callUuid: string, reason: 'user_hangup' | 'busy' | 'carrier_error' | 'no_answer'): Promise<void> {
  await h.transitions.apply(callUuid, {
    type: 'carrier.ended',
    carrierCallId: `leg-${callUuid}`,
    end: { reason, hangupBy: 'caller', sipCode: null, carrierCause: null, durationSeconds: null },
  });
}

const NOTHING_LEFT = { perSecond: { limit: 1, remaining: 0 }, concurrent: { limit: 1, remaining: 0 } };

describe('a lead and its calls', () => {
  test('is calling while a call is live, and then what came of it, in the transaction of the terminal state', async () => {
    for (const [reason, answered, status] of [
      ['user_hangup', true, 'contacted'],
      ['busy', false, 'no_answer'],
      ['carrier_error', false, 'failed'],
      ['carrier_error', true, 'failed'],
    ] as const) {
      const lead = await aLead();
      const callUuid = await placed(ofLead(lead));
      expect(await reread(lead)).toMatchObject({ status: 'calling', callCount: 1, lastCallUuid: callUuid });
      if (answered) await answer(callUuid);
      await end(callUuid, reason);
      expect((await reread(lead)).status, reason).toBe(status);
      expect((await h.call(callUuid)).leadId).toBe(lead.id);
    }
  });

  test('goes round again with the next call, and counts it', async () => {
    const lead = await aLead();
    await end(await placed(ofLead(lead)), 'no_answer');
    const second = await placed(ofLead(lead));
    expect(await reread(lead)).toMatchObject({ status: 'calling', callCount: 2, lastCallUuid: second });
    await answer(second);
    await end(second, 'user_hangup');
    expect((await reread(lead)).status).toBe('contacted');
  });

  test('is failed when the carrier refuses, and as it was when the carrier throttles', async () => {
    const lead = await aLead();
    h.carrier.outcomes.push({ kind: 'refused', reason: 'invalid_number', carrierCode: '400', message: 'no' });
    expect(await placeCall(h.placement, ofLead(lead))).toMatchObject({ kind: 'rejected' });
    const before = await reread(lead);
    expect(before).toMatchObject({ status: 'failed', callCount: 1 });
    h.carrier.outcomes.push({ kind: 'throttled', retryAfterSeconds: 9 });
    expect(await placeCall(h.placement, ofLead(lead))).toMatchObject({ kind: 'throttled' });
    expect({ ...(await reread(lead)), updatedAt: 0 }).toEqual({ ...before, updatedAt: 0 });
  });

  test('has one call at a time: of 8 at once one is dialled, and the others are told', async () => {
    const lead = await aLead();
    const dialled = h.carrier.placed.length;
    const all = await Promise.all(Array.from({ length: 8 }, () => placeCall(h.placement, ofLead(lead))));
    expect(all.filter(({ kind }) => kind === 'placed')).toHaveLength(1);
    expect(all.filter((placement) => placement.kind === 'blocked').map(({ code }) => code)).toEqual(
      Array(7).fill('lead_active_call'),
    );
    expect(h.carrier.placed.length - dialled).toBe(1);
    expect((await reread(lead)).callCount).toBe(1);
  });

  test('is not taken when a limit refuses the call', async () => {
    const lead = await aLead();
    const placement = {
      ...h.placement,
      callLimits: {
        ...h.placement.callLimits,
        admit: async () => ({
          ok: false as const,
          code: 'cps_limit' as const,
          retryAfterSeconds: 1,
          left: NOTHING_LEFT,
        }),
      },
    };
    expect(await placeCall(placement, ofLead(lead))).toMatchObject({ kind: 'limited' });
    expect(await reread(lead)).toMatchObject({ status: 'new', callCount: 0, lastCallUuid: null });
  });

  test('that was deleted, or is another workspace’s, is not dialled; one deleted in its call harms nothing', async () => {
    const lead = await aLead();
    const callUuid = await placed(ofLead(lead));
    await deleteLead(h.database, workspaceId, lead.id);
    await answer(callUuid);
    await end(callUuid, 'user_hangup');
    expect((await h.call(callUuid)).status).toBe('completed');
    expect(await placeCall(h.placement, ofLead(lead))).toEqual({ kind: 'blocked', code: 'lead_not_found' });
    const foreign = uuidv7();
    await h.database.query(`INSERT INTO workspaces (id, slug, name) VALUES ($1, 'other', 'Other')`, [foreign]);
    const [theirs] = await storeLeads(h.database, foreign, [{ phone: '+14155550001' }], now());
    expect(await placeCall(h.placement, h.newCall({ lead: { id: theirs!.id, values: {} } }))).toEqual({
      kind: 'blocked',
      code: 'lead_not_found',
    });
  });

  test('that must not be contacted is not called, and stays so when a call of it ends', async () => {
    const lead = await aLead();
    const callUuid = await placed(ofLead(lead));
    await changeLead(h.database, workspaceId, lead.id, { status: 'do_not_contact' }, now());
    await answer(callUuid);
    await end(callUuid, 'user_hangup');
    expect((await reread(lead)).status).toBe('do_not_contact');
    expect(await placeCall(h.placement, ofLead(lead))).toEqual({ kind: 'blocked', code: 'do_not_contact' });
  });

  test('gives its notes to the script, and its own id to the webhook', async () => {
    const lead = await aLead();
    h.toMedia.length = 0;
    const callUuid = await placed(ofLead(lead, { metadata: {} }));
    const prepared = await h.until('the greeting to be prepared', () => h.toMedia[0]);
    expect(prepared).toMatchObject({ placeholders: { notes: 'n' } });
    await end(callUuid, 'no_answer');
    const [event] = await h.database.query<{ body: string }>('SELECT body FROM webhook_events WHERE call_uuid = $1', [
      callUuid,
    ]);
    expect(JSON.parse(event!.body)).toMatchObject({ event: 'call.no_answer', leadId: lead.id });
  });
});

test('an older call that is told of late changes nothing of a lead that was called again', async () => {
  const lead = await aLead();
  const first = await placed(ofLead(lead));
  await end(first, 'busy');
  const second = await placed(ofLead(lead));
  const { status, lastCallUuid } = await reread(lead);
  expect([status, lastCallUuid]).toEqual(['calling', second]);
  const old = await h.call(first);
  expect(await h.database.transaction((tx) => settleLead(tx, old, now()))).toBe(false);
  expect(await reread(lead)).toMatchObject({ status: 'calling', lastCallUuid: second, callCount: 2 });
});

describe('the same call twice', () => {
  test('of a lead: refused while the first is live, unless a key says that it is another', async () => {
    const first = await aLead();
    const second = await aLead(first.phone);
    const callUuid = await placed(ofLead(first));
    expect(await placeCall(h.placement, ofLead(second))).toEqual({ kind: 'blocked', code: 'duplicate_call' });
    const keyed = ofLead(second, { idempotencyKey: 'k1', guardDuplicates: false });
    const other = await placed(keyed);
    await end(other, 'busy');
    await end(callUuid, 'busy');
    await placed(ofLead(second));
  });

  test('by POST /api/outbound-call: let through, and refused 7 of 8 times at once when the workspace wants that', async () => {
    const to = aNumber();
    await placed(h.newCall({ to }));
    await placed(h.newCall({ to }));
    await h.database.query('UPDATE calling_policies SET guard_calls = true WHERE workspace_id = $1', [workspaceId]);
    await h.database.query(
      `INSERT INTO calling_policies (workspace_id, guard_calls) VALUES ($1, true) ON CONFLICT DO NOTHING`,
      [workspaceId],
    );
    const another = aNumber();
    const all = await Promise.all(Array.from({ length: 8 }, () => placeCall(h.placement, h.newCall({ to: another }))));
    expect(all.filter(({ kind }) => kind === 'placed')).toHaveLength(1);
    expect(all).toContainEqual({ kind: 'blocked', code: 'duplicate_call' });
    await h.database.query('UPDATE calling_policies SET guard_calls = false');
  });
});

describe('the suppression list', () => {
  const entry = { reason: null, source: 'api' as const, callUuid: null };

  test('holds for a dial that begins after the entry, until it is taken away; nothing is written for a refused one', async () => {
    const to = aNumber();
    const lead = await aLead(to);
    await suppress(h.database, workspaceId, [to], entry);
    const counts = async (): Promise<unknown> =>
      h.database.query('SELECT (SELECT count(*) FROM calls) AS calls, (SELECT count(*) FROM dial_permits) AS permits');
    const before = await counts();
    const dialled = h.carrier.placed.length;
    expect(await placeCall(h.placement, h.newCall({ to }))).toEqual({ kind: 'blocked', code: 'blocked_suppressed' });
    expect(await placeCall(h.placement, ofLead(lead))).toEqual({ kind: 'blocked', code: 'blocked_suppressed' });
    expect([await counts(), h.carrier.placed.length, (await reread(lead)).status]).toEqual([before, dialled, 'new']);
    await unsuppress(h.database, workspaceId, [to]);
    await placed(ofLead(lead));
  });

  test('sees a number that was added while the request was on its way to placement (between its checks and the dial)', async () => {
    const to = aNumber();
    const call = h.newCall({ to });
    expect(await h.placement.clearance.judge(h.database, call)).toMatchObject({ ok: true });
    await suppress(h.database, workspaceId, [to], entry);
    expect(await placeCall(h.placement, call)).toEqual({ kind: 'blocked', code: 'blocked_suppressed' });
  });

  test('is asked again when a call had to wait for its turn at the line, and before the one repetition of a 429', async () => {
    const to = aNumber();
    const dialled = h.carrier.placed.length;
    const callLimits = {
      ...h.placement.callLimits,
      async turn() {
        await suppress(h.database, workspaceId, [to], entry);
        return 1;
      },
    };
    const waiting = placeCall({ ...h.placement, callLimits }, h.newCall({ to }));
    const { kind } = await h.until('the wait to be over', async () => {
      h.clock.advanceMs(1);
      return Promise.race([waiting, Promise.resolve(undefined)]);
    });
    expect([kind, h.carrier.placed.length]).toEqual(['blocked', dialled]);
    expect(await h.database.query('SELECT 1 AS one FROM calls WHERE to_number = $1', [to])).toEqual([]);

    const other = await aLead();
    h.carrier.outcomes.push({ kind: 'throttled', retryAfterSeconds: 1 });
    h.carrier.whilePlacing = () => suppress(h.database, workspaceId, [other.phone], entry).then(() => {});
    const repeating = placeCall(h.placement, ofLead(other));
    const second = await h.until('the pause to be over', async () => {
      h.clock.advanceMs(50);
      return Promise.race([repeating, Promise.resolve(undefined)]);
    });
    expect(second).toEqual({ kind: 'blocked', code: 'blocked_suppressed' });
    expect(h.carrier.placed.length).toBe(dialled + 1);
    expect(await reread(other)).toMatchObject({ status: 'new', callCount: 0 });
  });

  test('is one workspace’s', async () => {
    const foreign = uuidv7();
    await h.database.query(`INSERT INTO workspaces (id, slug, name) VALUES ($1, 'third', 'Third')`, [foreign]);
    const to = aNumber();
    await suppress(h.database, foreign, [to], entry);
    await placed(h.newCall({ to }));
  });
});

describe('a permit', () => {
  test('is written for every dial: number, lead, consent and the versions, signed with a key that the database has not', async () => {
    const lead = await aLead();
    const callUuid = await placed(ofLead(lead));
    const permits = await permitsOf(callUuid);
    expect(permits).toHaveLength(1);
    const permit = permits[0]!;
    expect((await h.call(callUuid)).compliance).toEqual({ permitId: permit.id, window: null });
    expect(JSON.parse(permit.body)).toEqual({
      permitId: permit.id,
      workspaceId,
      leadId: lead.id,
      phone: lead.phone,
      localTimes: expect.arrayContaining([
        expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d America\/Los_Angeles$|^\d{4}/),
      ]),
      zoneFrom: 'number',
      country: 'US',
      window: null,
      consent: { type: 'express_written', source: 'form' },
      suppressionVersion: await suppressionVersion(h.database, workspaceId),
      policyVersion: 0,
      callUuid,
      at: now().toISOString(),
    });
    const key = Buffer.from(hkdfSync('sha256', Buffer.from(MASTER_KEY, 'hex'), '', 'parley dial permit', 32));
    expect(permit.signature).toEqual(createHmac('sha256', key).update(permit.body).digest());
    const signer = createPermitSigner(MASTER_KEY);
    expect(signer.verify(permit.body, permit.signature)).toBe(true);
    expect(signer.verify(permit.body.replace(lead.phone, '+14155559999'), permit.signature)).toBe(false);
    expect(createPermitSigner('cd'.repeat(32)).verify(permit.body, permit.signature)).toBe(false);
  });

  test('stands beside each of the calls of this file that was dialled', async () => {
    const [row] = await h.database.query<{ without: number; calls: number }>(
      `SELECT count(*) FILTER (WHERE p.id IS NULL)::int AS without, count(*)::int AS calls
       FROM calls c LEFT JOIN dial_permits p ON p.call_uuid = c.call_uuid`,
    );
    expect(row!.calls).toBeGreaterThan(15);
    expect(row!.without).toBe(0);
  });
});

describe('lead.updated', () => {
  test('is told with the outcome, in its transaction, when the workspace asked for it', async () => {
    const told = (): Promise<{ body: string }[]> =>
      h.database.query(`SELECT body FROM webhook_events WHERE event = 'lead.updated' ORDER BY created_at, id`);
    await end(await placed(ofLead(await aLead())), 'busy');
    expect(await told()).toEqual([]);
    await h.database.query(`UPDATE webhook_endpoints SET events = array_append(events, 'lead.updated')`);
    const lead = await aLead();
    h.dispatched.length = 0;
    const callUuid = await placed(ofLead(lead));
    await end(callUuid, 'busy');
    expect(JSON.parse((await told())[0]!.body)).toMatchObject({
      event: 'lead.updated',
      enterprise: 'acme',
      leadId: lead.id,
      lead: { id: lead.id, status: 'no_answer', callCount: 1, lastCallUuid: callUuid },
    });
    expect(h.dispatched).toHaveLength(2);
    await h.database.query(`UPDATE webhook_endpoints SET events = array_remove(events, 'lead.updated')`);
  });
});

describe('an opt-out', () => {
  const suppressed = async (phone: string): Promise<unknown> =>
    (await listSuppressions(h.database, workspaceId, { phone: [phone], before: null, limit: 1 }))[0];

  test('that the agent says: the number is suppressed at once, and every lead with it is do_not_contact', async () => {
    const lead = await aLead();
    const twin = await aLead(lead.phone);
    const callUuid = await placed(ofLead(lead));
    await answer(callUuid);
    await h.transitions.apply(callUuid, { type: 'end.asked', reason: 'opt_out_requested', hangupBy: 'agent' });
    expect(await suppressed(lead.phone)).toMatchObject({ reason: 'opt_out_requested', source: 'call', callUuid });
    const version = await suppressionVersion(h.database, workspaceId);
    await end(callUuid, 'user_hangup');
    expect([(await reread(lead)).status, (await reread(twin)).status]).toEqual(['do_not_contact', 'do_not_contact']);
    expect((await h.call(callUuid)).endedReason).toBe('opt_out_requested');
    expect(await suppressionVersion(h.database, workspaceId)).toBe(version);
    expect(await placeCall(h.placement, ofLead(twin))).toMatchObject({ kind: 'blocked' });
  });

  test.each(['do_not_call', 'opt_out', 'do_not_contact'])('by the disposition %s', async (disposition) => {
    const lead = await aLead();
    const callUuid = await placed(ofLead(lead));
    await answer(callUuid);
    await h.transitions.apply(callUuid, { type: 'end.asked', reason: 'agent_hangup', hangupBy: 'agent', disposition });
    await end(callUuid, 'user_hangup');
    expect((await reread(lead)).status).toBe('do_not_contact');
    expect(await suppressed(lead.phone)).toBeDefined();
  });

  test.each([
    [
      'the script had gone to the step',
      { kind: 'scripted', steps: [{ id: 'bye', end: { reason: 'opt_out_requested' } }] },
      'bye',
    ],
    ['an agent that converses had marked the number', { kind: 'cascade' }, 'do_not_call'],
  ])('counts when the caller hung up during the goodbye: %s', async (_how, definition, optOutStep) => {
    const agentId = uuidv7();
    await h.database.query(`INSERT INTO agents VALUES ($1, $2, 'Opt', 'outbound', 1)`, [agentId, workspaceId]);
    await h.database.query('INSERT INTO agent_versions VALUES ($1, 1, $2)', [agentId, JSON.stringify(definition)]);
    for (const [stepId, status] of [
      ['ask', 'contacted'],
      [optOutStep, 'do_not_contact'],
    ]) {
      const lead = await aLead();
      const agent = { id: agentId, version: 1, definition: h.newCall().agent.definition };
      const callUuid = await placed(ofLead(lead, { agent }));
      await answer(callUuid);
      await h.database.query(`INSERT INTO call_events (call_uuid, kind, data) VALUES ($1, 'step', $2)`, [
        callUuid,
        JSON.stringify({ stepId, atMs: 5_000 }),
      ]);
      await end(callUuid, 'user_hangup');
      expect([(await reread(lead)).status, (await suppressed(lead.phone)) !== undefined]).toEqual([
        status,
        status === 'do_not_contact',
      ]);
    }
  });

  test('that is told after the call is over still counts', async () => {
    const lead = await aLead();
    const callUuid = await placed(ofLead(lead));
    await answer(callUuid);
    await end(callUuid, 'user_hangup');
    await h.transitions.apply(callUuid, { type: 'end.asked', reason: 'opt_out_requested', hangupBy: 'agent' });
    expect((await reread(lead)).status).toBe('do_not_contact');
    expect(await suppressed(lead.phone)).toBeDefined();
  });
});
