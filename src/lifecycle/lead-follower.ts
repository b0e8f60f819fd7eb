/**
 * What follows from a change of a call, in its transaction: its lead's status, and the suppression of a number whose
 * owner asked not to be called again. An opt-out counts however the call ends: an agent that says goodbye to somebody
 * who has hung up already was still told. Called by `src/lifecycle/transition.ts`.
 */
import { DO_NOT_CALL_STEP } from '../../media/contract/agent-definition.ts';
import type { Clock } from '../../media/contract/clock.ts';
import type { CallRow } from '../calls/call-row.ts';
import { markDoNotContact, settleLead } from '../leads/lead-calls.ts';
import { tellOfLead } from '../leads/lead-event.ts';
import { normalisePhone } from '../leads/phone-number.ts';
import type { Queryable } from '../store/database.ts';
import { suppress } from '../suppressions/suppression-list.ts';
import type { Observation } from './observe.ts';
import type { TransitionDeps } from './transition.ts';

/** What a script's `end.disposition` may say for `reason: "opt_out_requested"`. */
const OPT_OUT_DISPOSITIONS = ['do_not_call', 'do_not_contact', 'opt_out'];

/**
 * The script went to a step that ends the call for an opt-out, whether its goodbye was heard or not; or an agent that
 * converses marked the number.
 */
const REACHED_OPT_OUT = `
  SELECT 1 AS one
  FROM call_events e JOIN agent_versions v ON v.agent_id = $2 AND v.version = $3
  WHERE e.call_uuid = $1 AND e.kind = 'step' AND e.data ->> 'stepId' = '${DO_NOT_CALL_STEP}' AND v.definition ->> 'kind' = 'cascade'
  UNION ALL
  SELECT 1 AS one
  FROM agent_versions v, jsonb_path_query(v.definition, '$.steps[*]') AS step
  WHERE v.agent_id = $2 AND v.version = $3
    AND (step -> 'end' ->> 'reason' = 'opt_out_requested' OR step -> 'end' ->> 'disposition' = ANY ($4::text[]))
    AND EXISTS (SELECT 1 FROM call_events e WHERE e.call_uuid = $1 AND e.kind = 'step' AND e.data ->> 'stepId' = step ->> 'id')
  LIMIT 1`;

export function createLeadFollower({ clock }: { clock: Clock }): TransitionDeps['follow'] {
  return async (tx, call, observation, finished) => {
    const now = new Date(clock.epochMs());
    const changed = new Set<string>();
    if (saysOptOut(observation) || (finished && (await endedByOptOut(tx, call)))) {
      for (const id of await optOut(tx, call, now)) changed.add(id);
    }
    if (finished && call.leadId !== null && (await settleLead(tx, call, now))) changed.add(call.leadId);
    const deliveryIds: string[] = [];
    for (const leadId of changed) {
      deliveryIds.push(...(await tellOfLead(tx, { workspaceId: call.workspaceId, leadId }, clock)));
    }
    return deliveryIds;
  };
}

function saysOptOut(observation: Observation): boolean {
  if (observation.type !== 'end.asked') return false;
  return observation.reason === 'opt_out_requested' || OPT_OUT_DISPOSITIONS.includes(observation.disposition ?? '');
}

async function endedByOptOut(tx: Queryable, call: CallRow): Promise<boolean> {
  if (call.endedReason === 'opt_out_requested') return true;
  if (call.answeredAt === null) return false;
  const { callUuid, agentId, agentVersion } = call;
  return (await tx.query(REACHED_OPT_OUT, [callUuid, agentId, agentVersion, OPT_OUT_DISPOSITIONS])).length > 0;
}

async function optOut(tx: Queryable, call: CallRow, now: Date): Promise<string[]> {
  const phone = normalisePhone(call.direction === 'inbound' ? call.fromNumber : call.toNumber);
  // A visitor of a website has no number that could be called.
  if (phone === null) return [];
  const { workspaceId, callUuid } = call;
  await suppress(tx, workspaceId, [phone], { reason: 'opt_out_requested', source: 'call', callUuid });
  return markDoNotContact(tx, workspaceId, phone, now);
}
