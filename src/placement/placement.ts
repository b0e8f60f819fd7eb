/**
 * One outbound call, from its turn among all workspaces to the carrier's word. Called by the outbound-call route and by
 * that of leads (steps 11 to 15 of contract §2). In order: a place in the fair queue, clearance, limits, the row, the
 * line's turn at the carrier. `make-call.ts` has the transaction, committed before the carrier is asked, with our id in
 * every callback address; `carrier-word.ts` what the carrier makes of it.
 */
import { v7 as uuidv7 } from 'uuid';
import { usesLocalEngines } from '../../media/contract/agent-definition.ts';
import { callbackBaseOf } from '../carriers/callback-address.ts';
import type { CarrierRegistry } from '../carriers/registry.ts';
import { LEAST_CALL_SECONDS, MOST_CALL_SECONDS } from '../dialling/daily-ceilings.ts';
import type { DialledCalls } from '../lifecycle/dialled-calls.ts';
import type { LineCarriers } from '../lifecycle/line-carriers.ts';
import type { CallLimits } from '../limits/call-limits.ts';
import type { CallRoom } from '../limits/call-room.ts';
import type { FairQueue } from '../limits/fair-queue.ts';
import { askCarrier, type CarrierWordDeps, concluded } from './carrier-word.ts';
import { type Made, type MakeCallDeps, makeCall, RING_TIMEOUT_SECONDS, removeUndialled } from './make-call.ts';
import type { CallAdmission, NewCall, Placement } from './ports.ts';

export interface PlacementDeps extends MakeCallDeps, CarrierWordDeps {
  registry: Pick<CarrierRegistry, 'carrierFor'>;
  dialledCalls: Pick<DialledCalls, 'placed'>;
  lineCarriers: Pick<LineCarriers, 'placedWith'>;
  admission: CallAdmission;
  /** Who will talk to it: taken before the carrier is asked, so that what cannot be served rings nowhere. */
  room: Pick<CallRoom, 'take' | 'release'>;
  callLimits: CallLimits;
  /** Placements under way, of all workspaces in turn: they wait for the carrier. */
  carrierTurns: FairQueue;
  /**
   * The part of them that works in the database. Each needs two connections at once, so fewer
   * than half of those that there are.
   */
  databaseTurns: FairQueue;
  /** No slash at its end. */
  publicUrl: string;
}

const MAX_DURATION_SECONDS = { preset: 1_800, least: LEAST_CALL_SECONDS, most: MOST_CALL_SECONDS };
/** What a client is told that found the queue full or waited its longest in it. */
const OVERLOADED: Placement = { kind: 'draining', code: 'overloaded', retryAfterSeconds: 2 };

export async function placeCall(deps: PlacementDeps, call: NewCall): Promise<Placement> {
  if (deps.admission.state() !== 'open') return { kind: 'draining' };
  const release = await deps.carrierTurns.enter(call.workspaceId, call.priority ?? 'api');
  if (release === null) return OVERLOADED;
  try {
    return await placeWithRoom(deps, call);
  } finally {
    release();
  }
}

/**
 * A place in front of voice and recogniser, kept from before the row until the call is carried
 * or over. What uses neither needs none.
 */
async function placeWithRoom(deps: PlacementDeps, call: NewCall): Promise<Placement> {
  // Its time is that of its row: by it a key's call is found, whatever the machine's clock says.
  const callUuid = uuidv7({ msecs: Math.floor(deps.clock.epochMs()) });
  if (usesLocalEngines(call.agent.definition) && !deps.room.take(callUuid, call.priority ?? 'api')) return OVERLOADED;
  let rings = false;
  try {
    const placement = await placeInTurn(deps, call, callUuid);
    rings = placement.kind === 'placed' || placement.kind === 'unknown';
    return placement;
  } finally {
    if (!rings) deps.room.release(callUuid);
  }
}

async function placeInTurn(deps: PlacementDeps, call: NewCall, callUuid: string): Promise<Placement> {
  const carrier = deps.registry.carrierFor(call.line.carrier, call.line.credentials);
  const scope = { workspaceId: call.workspaceId, lineId: call.line.id };
  const longestSeconds = Math.min(
    MAX_DURATION_SECONDS.most,
    Math.max(MAX_DURATION_SECONDS.least, call.agent.definition.maxDurationSeconds ?? MAX_DURATION_SECONDS.preset),
  );

  const release = await deps.databaseTurns.enter(call.workspaceId, call.priority ?? 'api');
  if (release === null) return OVERLOADED;
  let made: Made;
  try {
    made = await makeCall(deps, call, scope, { callUuid, longestSeconds });
  } finally {
    release();
  }
  if (!made.ok) return made.refused;
  const { left, turn, maxDurationSeconds } = made;
  const { id: lineId, carrier: carrierName, credentialsVersion = null } = call.line;
  deps.dialledCalls.placed({
    callUuid,
    agentId: call.agent.id,
    agentVersion: call.agent.version,
    lineId,
    carrier: carrierName,
    lineCredentialsVersion: credentialsVersion,
  });
  if (credentialsVersion !== null) deps.lineCarriers.placedWith(carrier, { lineId, version: credentialsVersion });

  const outcome = await askCarrier(deps, carrier, call, turn, {
    callUuid,
    to: call.to,
    from: call.line.number,
    ringTimeoutSeconds: RING_TIMEOUT_SECONDS,
    maxDurationSeconds,
    callbackBase: callbackBaseOf(deps.publicUrl, call.line.carrier, callUuid),
  });
  if (outcome.kind === 'no_turn' || outcome.kind === 'blocked') {
    await removeUndialled(deps, callUuid);
    await deps.callLimits.release(scope, callUuid);
    if (outcome.kind === 'blocked') return outcome;
    return { kind: 'limited', code: 'cps_limit', retryAfterSeconds: 1, left };
  }
  const placement = await concluded(deps, callUuid, outcome);
  if (placement.kind === 'throttled') await deps.callLimits.release(scope, callUuid);
  return placement.kind === 'placed' ? { ...placement, left } : placement;
}
