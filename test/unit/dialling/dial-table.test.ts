/**
 * The table of numbers by kind and country, on a real database up to the carrier: what is
 * dialled, and what is allowed by whom.
 */
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { calledAndRefusedNow } from '../../../src/dialling/dial-overview.ts';
import { changeDialPolicy, type DialPolicy, NEW_DIAL_POLICY } from '../../../src/dialling/dial-policy.ts';
import { storeLeads } from '../../../src/leads/lead-store.ts';
import { placeCall } from '../../../src/placement/placement.ts';
import { changeCallingSettings } from '../../../src/suppressions/calling-policy.ts';
import { createHarness, type Harness } from '../lifecycle/harness.ts';
import { COSTLY, type KnownDestination, OWN } from './destinations.ts';

let h: Harness;
let workspaceId: string;
beforeAll(async () => {
  h = await createHarness();
  ({ workspaceId } = h.newCall());
});
afterAll(() => h.close());
beforeEach(async () => {
  h.carrier.placed.length = 0;
  await operator(NEW_DIAL_POLICY);
});

const BY = { actor: 'key:AbCdEfGh' } as const;
const operator = (change: Partial<DialPolicy>): Promise<DialPolicy> =>
  changeDialPolicy(h.database, { slug: 'acme', change });

async function dial(phone: string, changes: Parameters<Harness['newCall']>[0] = {}): Promise<string> {
  const placement = await placeCall(h.placement, h.newCall({ to: phone, keyId: 'AbCdEfGh', by: BY, ...changes }));
  return 'code' in placement && placement.code !== undefined ? placement.code : placement.kind;
}

const dialledNumbers = (): string[] => h.carrier.placed.map(({ to }) => to);

const allowing = ({ country, kinds }: KnownDestination): Partial<DialPolicy> => ({
  countries: country === null ? [] : [country],
  kinds,
});

describe('a new workspace with a line in the United States', () => {
  it.each(OWN)('calls $phone, $what', async ({ phone }) => {
    expect(await dial(phone)).toBe('placed');
    expect(dialledNumbers()).toEqual([phone]);
  });

  it.each(COSTLY)('does not call $phone, $what, until the operator has allowed all of it', async (destination) => {
    const { phone, country, kinds } = destination;
    expect(await dial(phone)).toBe('blocked_destination');
    // All that it needs but one thing is not enough.
    for (const missing of kinds) {
      await operator({ countries: null, kinds: kinds.filter((kind) => kind !== missing) });
      expect(await dial(phone), `without ${missing}`).toBe('blocked_destination');
    }
    if (country !== null && country !== 'US') {
      await operator({ countries: [], kinds });
      expect(await dial(phone), `without ${country}`).toBe('blocked_destination');
    }
    expect(dialledNumbers()).toEqual([]);
    await operator(allowing(destination));
    expect(await dial(phone)).toBe('placed');
    if (country !== null) {
      await operator({ blockedCountries: [country] });
      expect(await dial(phone)).toBe('blocked_destination');
    }
    expect(dialledNumbers()).toEqual([phone]);
  });

  it('does not call them for a lead either, and the lead stays as it was', async () => {
    const phone = '+881612345678';
    const [stored] = await storeLeads(h.database, workspaceId, [{ phone, name: 'Asha' }], new Date());
    expect(await dial(phone, { lead: { id: stored!.id, values: {} } })).toBe('blocked_destination');
    const [lead] = await h.database.query('SELECT status FROM leads WHERE id = $1', [stored!.id]);
    expect(lead).toEqual({ status: 'new' });
    expect(dialledNumbers()).toEqual([]);
  });

  it('is told so before limits and room are asked, also while nothing is dialled at all', async () => {
    const check = (to: string) =>
      h.placement.clearance.check({ workspaceId, to, leadId: null, lineNumber: '+14155550100' });
    expect(await check('+881612345678')).toEqual({ allowed: false, code: 'blocked_destination' });
    expect(await check('+14155550123')).toEqual({ allowed: true });
  });
});

describe('what the workspace sets by itself', () => {
  it('narrows what the operator allows, and widens nothing', async () => {
    await changeCallingSettings(h.database, workspaceId, { allowedCountries: ['LV', 'GB'] }, BY);
    expect(await dial('+37129123456')).toBe('blocked_destination');
    await operator({ countries: ['LV'] });
    expect([await dial('+37129123456'), await dial('+442079460958')]).toEqual(['placed', 'blocked_destination']);
    expect(await dial('+14155550123')).toBe('blocked_country');
    await changeCallingSettings(h.database, workspaceId, { allowedCountries: null }, BY);
  });

  it("a line that it adds opens its country for calls from that line; one of the operator's opens it for all", async () => {
    const { credentials } = h.newCall().line;
    const british = { id: uuidv7(), number: '+442079460000', carrier: 'plivo', credentials };
    await h.database.query(
      `INSERT INTO phone_lines (id, workspace_id, number, carrier, credentials_sealed, opens_country, max_calls_per_second)
       VALUES ($1, $2, $3, 'plivo', '', false, 1000)`,
      [british.id, workspaceId, british.number],
    );
    expect(await dial('+442079460958')).toBe('blocked_destination');
    expect(await dial('+442079460958', { line: british })).toBe('placed');
    expect(await dial('+449012345678', { line: british })).toBe('blocked_destination');
    await h.database.query('UPDATE phone_lines SET opens_country = true WHERE id = $1', [british.id]);
    expect(await dial('+442079460958')).toBe('placed');
    await h.database.query('UPDATE phone_lines SET deleted_at = now() WHERE id = $1', [british.id]);
    expect(await dial('+442079460958')).toBe('blocked_destination');
  });
});

describe('what a key tried', () => {
  it('stands in the audit once a day for each country and kind, without the number', async () => {
    const tried = (): Promise<{ actor: string; target: string; after: string }[]> =>
      h.database.query(`SELECT actor, target, after FROM audit_log WHERE action = 'call.destination_refused'
                        AND target = 'key:Tries123' ORDER BY at`);
    const mallory = { keyId: 'Tries123', by: { actor: 'key:Tries123' } } as const;
    for (const phone of ['+881612345678', '+881812345678', '+37190012345', '+881612345678']) {
      expect(await dial(phone, mallory)).toBe('blocked_destination');
    }
    expect(await tried()).toEqual([
      { actor: 'key:Tries123', target: 'key:Tries123', after: JSON.stringify({ country: null, kinds: ['satellite'] }) },
      { actor: 'key:Tries123', target: 'key:Tries123', after: JSON.stringify({ country: 'LV', kinds: ['premium'] }) },
    ]);
    expect(JSON.stringify(await tried())).not.toMatch(/\d{5}/);
  });
});

describe('a workspace that called elsewhere before there was a policy', () => {
  it('is not allowed it silently, and its operator is shown where it called', async () => {
    await operator({ countries: ['GB', 'LV'], kinds: ['premium'] });
    for (const phone of ['+442079460958', '+442079460959', '+37190012345']) expect(await dial(phone)).toBe('placed');
    expect(await calledAndRefusedNow(h.database, workspaceId)).not.toContainEqual(
      expect.objectContaining({ country: 'GB', kinds: [] }),
    );
    await operator({ countries: [], kinds: [] });
    const shut = await calledAndRefusedNow(h.database, workspaceId);
    expect(shut).toContainEqual({ country: 'LV', kinds: ['premium'], calls: expect.any(Number) });
    expect(shut.find(({ country, kinds }) => country === 'GB' && kinds.length === 0)?.calls).toBeGreaterThanOrEqual(2);
    expect(shut.find(({ country, kinds }) => country === 'US' && kinds.length === 0)).toBeUndefined();
  });
});
