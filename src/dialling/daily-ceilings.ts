/**
 * May one more call begin today, and how long may it become? Pure. Every active call holds the longest that it may
 * still become, so that whatever is let through together stays within the ceiling: near its end a call gets what is
 * left, and where less than the shortest call is left, none begins.
 */

/** Set by the operator; null: none. 0 lets nothing through. */
export interface DailyCeilings {
  callsPerDay: number | null;
  minutesPerDay: number | null;
  /** Of each key, with the keys that it has made. */
  keyCallsPerDay: number | null;
  keyMinutesPerDay: number | null;
}

/** Of the workspace, or of one key. */
export interface DayUsage {
  calls: number;
  usedSeconds: number;
  reservedSeconds: number;
}

export type CeilingName = 'calls_per_day' | 'minutes_per_day' | 'key_calls_per_day' | 'key_minutes_per_day';

export interface Reached {
  name: CeilingName;
  /** The ceiling. */
  value: number;
  /** Active calls will not give any of it back: only the next day, or the operator, lets another call begin. */
  isSpent: boolean;
}

/** What an agent may say of its calls. */
export const LEAST_CALL_SECONDS = 30;
export const MOST_CALL_SECONDS = 14_400;

export const NOTHING_USED: DayUsage = { calls: 0, usedSeconds: 0, reservedSeconds: 0 };

/** `key`: null where no key asked. */
export function judgeDay(
  ceilings: DailyCeilings,
  usage: { workspace: DayUsage; key: DayUsage | null },
  wantedSeconds: number,
): { ok: true; seconds: number } | { ok: false; reached: Reached } {
  const { workspace, key } = usage;
  const refusals: Reached[] = [];
  let seconds = wantedSeconds;
  const count = (name: CeilingName, value: number | null, used: DayUsage): void => {
    if (value !== null && used.calls >= value) refusals.push({ name, value, isSpent: true });
  };
  const measure = (name: CeilingName, value: number | null, used: DayUsage): void => {
    if (value === null) return;
    const unspent = value * 60 - used.usedSeconds;
    const left = unspent - used.reservedSeconds;
    if (left < LEAST_CALL_SECONDS) refusals.push({ name, value, isSpent: unspent < LEAST_CALL_SECONDS });
    seconds = Math.min(seconds, left);
  };
  count('calls_per_day', ceilings.callsPerDay, workspace);
  measure('minutes_per_day', ceilings.minutesPerDay, workspace);
  if (key !== null) {
    count('key_calls_per_day', ceilings.keyCallsPerDay, key);
    measure('key_minutes_per_day', ceilings.keyMinutesPerDay, key);
  }
  const reached = refusals.find(({ isSpent }) => isSpent) ?? refusals[0];
  return reached === undefined ? { ok: true, seconds } : { ok: false, reached };
}
