/**
 * What a call tells, as the database can keep it: PostgreSQL stores neither NUL nor half of a surrogate pair, and with
 * one such text all that was told beside it would be lost. Models, recognisers and tools write them now and then. Pure;
 * called by the reporter.
 */

/** As `JSON.stringify` writes them; whole pairs are not escaped. */
const MAY_BE_UNSTORABLE = /\\u(?:0000|[dD][89a-fA-F])/;

export function storable<Value>(value: Value): Value {
  return MAY_BE_UNSTORABLE.test(JSON.stringify(value)) ? (cleaned(value) as Value) : value;
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(String.fromCharCode(0), '').replace(/\p{Surrogate}/gu, '\ufffd');
  }
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [cleaned(key), cleaned(inner)]));
}
