/**
 * Was any phone rung twice for one request, or one left ringing that the client was told had failed? Judges what the
 * carrier saw against what the clients were told; pure. Called by `run.ts`.
 */
import type { ClientOutcome } from '../../harness/placing-client.ts';
import { type PlannedPlacement, WAYS } from './plan.ts';

/** What one client asked for, and what it was told. */
export interface PlacementOutcome extends ClientOutcome {
  planned: PlannedPlacement;
}

/** What the carrier saw of one dialled number. */
export interface Dialled {
  /** Digits, with or without a plus. */
  to: string;
  /** The words of its end; null while it rings. */
  hangupName: string | null;
}

/** How a call ended at the gateway. */
export interface Ended {
  callUuid: string;
  status: string;
  terminalEvents: number;
}

const CANCELLED = 'Cancelled';
/** So long the carrier's answer is waited for: sooner nobody is told that it did not come. */
const CARRIER_LIMIT_MS = 5_000;

/** Faults in plain words; empty when all is well. `ended` null: the calls' ends are not waited for. */
export function faultsOfRun(
  outcomes: readonly PlacementOutcome[],
  dialled: readonly Dialled[],
  ended: ReadonlyMap<string, Ended> | null,
): string[] {
  const faults: string[] = [];
  const byNumber = new Map<string, Dialled[]>();
  for (const one of dialled) {
    const digits = one.to.replace(/^\+/, '');
    byNumber.set(digits, [...(byNumber.get(digits) ?? []), one]);
  }
  for (const { planned, callUuids, httpStatus, tookMs } of outcomes) {
    const rung = byNumber.get(planned.number.slice(1)) ?? [];
    const name = `${planned.number} (${planned.way}, ${planned.idempotencyKey === null ? 'no key' : 'with key'})`;
    // Refused before a call existed (contract §2, step 12), and a client without a key does not ask again.
    const isRefused = httpStatus === 503 && planned.idempotencyKey === null && callUuids.size === 0;
    if (isRefused && rung.length > 0) faults.push(`${name} was dialled although its client was told 503`);
    if (isRefused) continue;
    const expected = WAYS[planned.way].dials ? 1 : 0;
    if (rung.length > 1) faults.push(`${name} was dialled ${rung.length} times`);
    if (rung.length < expected) faults.push(`${name} was never dialled; the last answer was ${httpStatus}`);
    if (callUuids.size !== 1) faults.push(`${name} was given ${callUuids.size} call ids`);
    const cancelled = rung[0]?.hangupName === CANCELLED;
    if (rung.length === 1 && httpStatus === 200 && cancelled) {
      faults.push(`${name} was cancelled although its client was told 200`);
    }
    // On a busy machine the carrier's answer may come too late of an ordinary one, which is busy and over by then.
    const isOrdinary = WAYS[planned.way].fault === null;
    const wasOver = isOrdinary && tookMs >= CARRIER_LIMIT_MS && rung[0]?.hangupName !== null;
    if (rung.length === 1 && httpStatus >= 500 && !cancelled && !wasOver) {
      faults.push(`${name} rang on after its client was told ${httpStatus}: ${rung[0]?.hangupName ?? 'still rings'}`);
    }
    if (ended === null) continue;
    for (const callUuid of callUuids) {
      const end = ended.get(callUuid);
      if (end === undefined) faults.push(`${name}: call ${callUuid} has no end`);
      else if (end.terminalEvents !== 1) faults.push(`${name}: ${end.terminalEvents} terminal events of ${callUuid}`);
    }
  }
  return faults;
}
