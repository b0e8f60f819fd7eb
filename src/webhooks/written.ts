/**
 * Deliveries that this process has written lately: to whom, and of which call. So that who sends them need not look
 * that up, and does not try the second event of a call while the first is under way. Where their first attempts are
 * started here (`start.ts`) they are claimed as they are written, with all that an attempt needs: it asks the database
 * for nothing then. A loss of it costs statements only; of a claim, the time until it ends.
 */

export interface WrittenDelivery {
  endpointId: string;
  /** Null: of no call. */
  callUuid: string | null;
}

/** What a claim gives, as the row was written. */
export interface WrittenClaim {
  until: Date;
  createdAt: Date;
  eventId: string;
  event: string;
  body: string;
  url: string;
  secretSealed: Buffer;
  previousSecretSealed: Buffer | null;
  workspaceId: string;
  knownHealthy: boolean;
}

const MOST_REMEMBERED = 5_000;
/** They hold bodies. */
const MOST_CLAIMS = 500;
const remembered = new Map<string, WrittenDelivery>();
const claims = new Map<string, WrittenClaim>();
let startedHere = 0;

export function rememberWritten(id: string, written: WrittenDelivery, claim: WrittenClaim | null): void {
  keep(remembered, id, written, MOST_REMEMBERED);
  if (claim !== null) keep(claims, id, claim, MOST_CLAIMS);
}

export function writtenHere(id: string): WrittenDelivery | undefined {
  return remembered.get(id);
}

/** Once: the claim is the taker's. */
export function takeWrittenClaim(id: string): WrittenClaim | undefined {
  const claim = claims.get(id);
  claims.delete(id);
  return claim;
}

/** From now on first attempts of what is written here start here; returns what ends that. */
export function startFirstAttempts(): () => void {
  startedHere++;
  return () => void startedHere--;
}

export function startsFirstAttempts(): boolean {
  return startedHere > 0;
}

function keep<Value>(kept: Map<string, Value>, id: string, value: Value, most: number): void {
  kept.set(id, value);
  if (kept.size > most) kept.delete(kept.keys().next().value!);
}
