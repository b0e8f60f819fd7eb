/**
 * Step 11 of contract §2, asked in the transaction that makes the call, so that a number which was suppressed a moment
 * before is not dialled: may this number be dialled, for this lead, now? `judge` decides and locks, its `grant` writes
 * the permit and takes the lead. Implements the port that placement asks; nothing is dialled without it.
 */

import type { Clock } from '../../media/contract/clock.ts';
import { ACTIVE } from '../calls/active-statuses.ts';
import { judgeDestination } from '../dialling/destination-rule.ts';
import { type DialPolicy, dialPolicyOf, hasCeilings, NEW_DIAL_POLICY } from '../dialling/dial-policy.ts';
import { auditRefusedDestination } from '../dialling/limit-reached.ts';
import { giveLeadBack, lockLead, takenLead } from '../leads/lead-calls.ts';
import { readLead } from '../leads/lead-store.ts';
import type { GivenKeys } from '../sealing/master-keys.ts';
import type { Queryable } from '../store/database.ts';
import { readTogether } from '../store/joint-read.ts';
import { policyFor } from '../suppressions/calling-policy.ts';
import { createPermitSigner, newPermit, type PermitFacts } from '../suppressions/dial-permit.ts';
import { applyRules } from '../suppressions/dial-rules.ts';
import type { CompliancePolicy, DialClearance, DialRefusal, NewCall } from './ports.ts';

type Attempt = Pick<NewCall, 'workspaceId' | 'to' | 'lead' | 'agent' | 'line' | 'guardDuplicates'> &
  Pick<NewCall, 'keyId' | 'requestId' | 'by'>;
type PermitPart = Omit<PermitFacts, 'callUuid' | 'atEpochMs'>;
type Verdict = { ok: true; permit: PermitPart; dialPolicy: DialPolicy } | DialRefusal;

export function createDialClearance(deps: {
  database: Queryable;
  clock: Clock;
  masterKeys: GivenKeys;
}): DialClearance & CompliancePolicy {
  const signer = createPermitSigner(deps.masterKeys);

  async function decide(tx: Queryable, attempt: Attempt): Promise<Verdict> {
    const { workspaceId, to } = attempt;
    const lead = attempt.lead === null ? null : await lockLead(tx, workspaceId, attempt.lead.id);
    if (lead === undefined) return { ok: false, code: 'lead_not_found' };
    const { policy, dialPolicy } = await readRules(tx, workspaceId, to);
    if (policy.suppressed) return { ok: false, code: 'blocked_suppressed' };
    if (lead?.status === 'do_not_contact') return { ok: false, code: 'do_not_contact' };
    if (lead?.active === true) return { ok: false, code: 'lead_active_call' };
    const dial = { phone: to, timezone: lead?.timezone ?? null, atEpochMs: deps.clock.epochMs() };
    const { code, facts } = applyRules(policy, dial);
    if (code !== null) return { ok: false, code };
    const asked = { workspaceId, phone: to, lineNumber: attempt.line.number };
    const destination = await judgeDestination(tx, dialPolicy, asked);
    if (destination.refused !== null) {
      await auditRefusedDestination(tx, attempt, destination);
      return { ok: false, code: 'blocked_destination' };
    }
    const guarded = attempt.lead === null ? policy.guardCalls : policy.guardLeads;
    if (attempt.guardDuplicates && guarded && (await hasDuplicate(tx, attempt))) {
      return { ok: false, code: 'duplicate_call' };
    }
    return {
      ok: true,
      dialPolicy,
      permit: {
        workspaceId,
        leadId: attempt.lead?.id ?? null,
        phone: to,
        ...facts,
        consent: lead?.consent ?? null,
        suppressionVersion: policy.suppressionVersion,
        policyVersion: policy.version,
      },
    };
  }

  return {
    async check(attempt) {
      const { workspaceId, to, leadId, lineNumber } = attempt;
      const { policy, dialPolicy } = await readRules(deps.database, workspaceId, to);
      if (policy.suppressed) return { allowed: false, code: 'blocked_suppressed' };
      const lead = leadId === null ? undefined : await readLead(deps.database, workspaceId, leadId);
      if (lead?.status === 'do_not_contact') return { allowed: false, code: 'do_not_contact' };
      const dial = { phone: to, timezone: lead?.timezone ?? null, atEpochMs: deps.clock.epochMs() };
      const { code } = applyRules(policy, dial);
      if (code !== null) return { allowed: false, code };
      const destination = await judgeDestination(deps.database, dialPolicy, { workspaceId, phone: to, lineNumber });
      return destination.refused === null ? { allowed: true } : { allowed: false, code: 'blocked_destination' };
    },
    async judge(tx, call) {
      const verdict = await decide(tx, call);
      if (!verdict.ok) return verdict;
      const { dialPolicy } = verdict;
      return {
        ok: true,
        ceilings: hasCeilings(dialPolicy) ? dialPolicy : null,
        maxCallSeconds: dialPolicy.maxCallSeconds,
        grant(callUuid) {
          const atEpochMs = deps.clock.epochMs();
          const { permitId, write } = newPermit(signer, { ...verdict.permit, callUuid, atEpochMs });
          const { workspaceId, lead } = call;
          const leads =
            lead === null ? [] : [takenLead({ workspaceId, leadId: lead.id, callUuid }, new Date(atEpochMs))];
          return { compliance: { permitId, window: verdict.permit.window }, writes: [write, ...leads] };
        },
      };
    },
    withdraw: (tx, call) => giveLeadBack(tx, call),
  };
}

/** Of the workspace and of the operator. */
async function readRules(tx: Queryable, workspaceId: string, phone: string) {
  const [policy, dialPolicy] = await readTogether(tx, policyFor(workspaceId, phone), dialPolicyOf(workspaceId));
  return { policy: policy!, dialPolicy: dialPolicy ?? NEW_DIAL_POLICY };
}

/** Two of the same at once: the lock makes the second wait until the first one's row is there. */
async function hasDuplicate(tx: Queryable, { workspaceId, to, agent, line }: Attempt): Promise<boolean> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('same-call:' || $1, 0))`, [
    [workspaceId, to, agent.id, line.id].join(' '),
  ]);
  const rows = await tx.query(
    `SELECT 1 AS one FROM calls
     WHERE workspace_id = $1 AND to_number = $2 AND agent_id = $3 AND line_id = $4 AND status IN ${ACTIVE} LIMIT 1`,
    [workspaceId, to, agent.id, line.id],
  );
  return rows.length > 0;
}
