/**
 * Deliveries that this process has written lately: to whom, and of which call. So that who sends them need not look
 * that up, and does not try the second event of a call while the first is under way. Where their first attempts are
 * started here (`start.ts`) they are claimed as they are written, with all that an attempt needs: it asks the database
 * for nothing then. A loss of it costs a statement; of the time of a claim too, what is left of that.
 */

export interface WrittenDelivery {
  endpointId: string;
  /** Null: of no call. */
  callUuid: string | null;
  /** Of a claim that was made with it; null: none was. */
  claimedUntil: Date | null;
}

/** What a claim gives, as the row was written. */
export interface WrittenClaim {
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
const starters = new Set<() => readonly string[]>();

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

/**
 * From now on first attempts of what is written here start here, but at the receivers of `busy`, which may not get to
 * it before a claim ends. Returns what ends that.
 */
export function startFirstAttempts(busy: () => readonly string[]): () => void {
  const starter = (): readonly string[] => busy();
  starters.add(starter);
  return () => void starters.delete(starter);
}

/** At all receivers but these; null: at none. */
export function startsFirstAttempts(): { except: string[] } | null {
  return starters.size === 0 ? null : { except: [...starters].flatMap((busy) => busy()) };
}

function keep<Value>(kept: Map<string, Value>, id: string, value: Value, most: number): void {
  kept.set(id, value);
  if (kept.size > most) kept.delete(kept.keys().next().value!);
}
