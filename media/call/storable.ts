/**
 * What a call tells, as the database can keep it: PostgreSQL stores neither NUL nor half of a surrogate pair, and with
 * one such text all that was told beside it would be lost. Models, recognisers and tools write them now and then. Pure;
 * called by the reporter.
 */

const NUL = String.fromCharCode(0);
/** Whole pairs too: they are looked at closely then. */
const SURROGATE = /[\ud800-\udfff]/;

export function storable<Value>(value: Value): Value {
  return isSuspect(value) ? (cleaned(value) as Value) : value;
}

/** Asked of all that a call tells, so it makes nothing. */
function isSuspect(value: unknown): boolean {
  if (typeof value === 'string') return value.includes(NUL) || SURROGATE.test(value);
  if (typeof value !== 'object' || value === null) return false;
  for (const key in value) if (isSuspect(key) || isSuspect((value as Record<string, unknown>)[key])) return true;
  return false;
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(NUL, '').replace(/\p{Surrogate}/gu, '\ufffd');
  }
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [cleaned(key), cleaned(inner)]));
}
