/**
 * Are the credentials of a line of any use? They are opened and held to what the carrier wants, and the carrier is
 * asked once, by a request that places no call. Called by the settings API; `parley doctor` opens lines by the same.
 */
import type { Carrier } from '../carriers/carrier.ts';
import type { CarrierRegistry } from '../carriers/registry.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { sealedPlace } from '../sealing/sealed-places.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Queryable } from '../store/database.ts';

export const LINE_FAULTS = ['none_stored', 'sealed', 'incomplete', 'refused', 'unreachable'] as const;

export interface LineTrial {
  ok: boolean;
  fault: (typeof LINE_FAULTS)[number] | null;
  /** What is wrong, and the way out; null: nothing. */
  problem: string | null;
  carrier: string;
  ms: number;
  /** What our clock is ahead of the carrier's, to a second; null: it did not say. */
  clockAheadMs: number | null;
}

export interface LineTrialDeps {
  sealer: Pick<Sealer, 'open'>;
  registry: Pick<CarrierRegistry, 'carrierFor'>;
}

interface SealedLine {
  id: string;
  workspace_id: string;
  carrier: string;
  sealed: Buffer;
}

export type OpenedCarrier =
  | { kind: 'open'; carrier: Carrier }
  /** Stored under another master key. */
  | { kind: 'sealed' }
  | { kind: 'incomplete'; missing: string[] };

export function openCarrier({ sealer, registry }: LineTrialDeps, line: SealedLine): OpenedCarrier {
  let credentials: Record<string, string>;
  try {
    const text = sealer.open(line.sealed, sealedPlace.lineCredentials(line.workspace_id, line.id));
    credentials = JSON.parse(text) as Record<string, string>;
  } catch {
    return { kind: 'sealed' };
  }
  const carrier = registry.carrierFor(line.carrier, credentials);
  const missing = carrier.missingCredentials();
  return missing.length > 0 ? { kind: 'incomplete', missing } : { kind: 'open', carrier };
}

/** A carrier's `Date` has whole seconds: half of one is lost on average. */
const HALF_SECOND_MS = 500;

/** Throws an `OperatorError` where the workspace has no such line. */
export async function tryLine(
  database: Queryable,
  deps: LineTrialDeps & { clock: { nowMs(): number; epochMs(): number } },
  { workspaceId, lineId }: { workspaceId: string; lineId: string },
): Promise<LineTrial> {
  const [line] = await database.query<{ carrier: string; sealed: Buffer | null }>(
    `SELECT carrier, credentials_sealed AS sealed FROM phone_lines
     WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL`,
    [workspaceId, lineId],
  );
  if (line === undefined) throw new OperatorError('not_found', 'There is no such line');
  const { carrier: name } = line;
  const sinceMs = deps.clock.nowMs();
  const told = (fault: LineTrial['fault'], problem: string | null, clockAheadMs: number | null = null): LineTrial => {
    const ms = Math.round(deps.clock.nowMs() - sinceMs);
    return { ok: fault === null, fault, problem, carrier: name, ms, clockAheadMs };
  };
  if (line.sealed === null) return told('none_stored', `No credentials of ${name} are stored: set them.`);
  const opened = openCarrier(deps, { id: lineId, workspace_id: workspaceId, carrier: name, sealed: line.sealed });
  if (opened.kind === 'sealed') {
    return told('sealed', 'They were stored under another master key: set them again.');
  }
  if (opened.kind === 'incomplete')
    return told('incomplete', `They lack ${opened.missing.join(', ')}: set them again.`);
  if (opened.carrier.checkAccess === undefined) return told(null, null);
  const { outcome, detail, serverEpochMs } = await opened.carrier.checkAccess();
  const clockAheadMs =
    serverEpochMs === null ? null : Math.round(deps.clock.epochMs() - serverEpochMs - HALF_SECOND_MS);
  if (outcome === 'ok') return told(null, null, clockAheadMs);
  if (outcome === 'refused') {
    return told('refused', `${name} refuses them (${detail}): look them up there, and set them again.`, clockAheadMs);
  }
  return told('unreachable', `${name} could not be asked (${detail}): try again, or look at the network.`);
}
