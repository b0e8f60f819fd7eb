/**
 * The paper without which nothing is dialled (contract §15): who, when, by which clock, under which list and policy.
 * Written in the transaction that makes the call, and signed with a key that the database does not hold, so that a row
 * which was changed or made up later shows. The text that is signed is kept as it is.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { type GivenKeys, hkdfKeys } from '../sealing/master-keys.ts';
import type { Place, Write } from '../store/joint-write.ts';

export interface PermitFacts {
  workspaceId: string;
  callUuid: string;
  leadId: string | null;
  phone: string;
  atEpochMs: number;
  /** At the called person's: `2026-11-21T09:30:00 America/Los_Angeles`, one for each zone that it may be. */
  localTimes: string[];
  /** How the zones were found. */
  zoneFrom: 'lead' | 'policy' | 'number' | 'none';
  country: string | null;
  /** `09:00-20:00 recipient`; null: there is none. */
  window: string | null;
  consent: unknown;
  suppressionVersion: number;
  policyVersion: number;
}

export interface PermitSigner {
  sign(body: string): Buffer;
  verify(body: string, signature: Uint8Array): boolean;
}

export function createPermitSigner(masterKeys: GivenKeys): PermitSigner {
  const keys = hkdfKeys(masterKeys, 'parley dial permit');
  const signed = (body: string, key: Buffer): Buffer => createHmac('sha256', key).update(body).digest();
  return {
    sign: (body) => signed(body, keys.current()),
    verify: (body, signature) =>
      keys.all().some((key) => {
        const right = signed(body, key);
        return signature.length === right.length && timingSafeEqual(signature, right);
      }),
  };
}

export function newPermit(signer: PermitSigner, facts: PermitFacts): { permitId: string; write: Write } {
  const permitId = uuidv7();
  const { atEpochMs, ...rest } = facts;
  const body = JSON.stringify({ permitId, ...rest, at: new Date(atEpochMs).toISOString() });
  const values = [
    permitId,
    facts.workspaceId,
    facts.callUuid,
    facts.phone,
    body,
    signer.sign(body),
    new Date(atEpochMs),
  ];
  const write = {
    sql: (place: Place) =>
      `INSERT INTO dial_permits (id, workspace_id, call_uuid, phone, body, signature, created_at)
       VALUES (${values.map(place).join(', ')})`,
  };
  return { permitId, write };
}
