/**
 * `before` and `after` of an audit row as canonical JSON: keys sorted, secrets blanked by name and by look, bounded.
 * Callers leave secrets out by themselves; this is for the one that forgets. Of people whose data may have to be
 * erased, callers give ids and the names of changed fields, not the data: a chain cannot forget.
 */
import { createHash } from 'node:crypto';

const SECRET_NAME =
  /secret|token|password|passphrase|credential|authorization|cookie|signature|sealed|private|api_?key$|master_?key|(^|_)pin$/i;
const PIN_NAME = /(^|_)pin$/i;
const SECRET_TEXT =
  /sv_(?:live|oper)_[0-9A-Za-z]{8}_[0-9A-Za-z]+|whsec_[A-Za-z0-9+/=_-]+|\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/g;
const BLANK = '[secret]';
const MOST_CHARACTERS = 16_384;
const DEEPEST = 16;

/** Null for null and undefined. What is longer than 16 Ki characters is kept as its SHA-256 and length. */
export function auditedJson(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const text = JSON.stringify(cleaned(value, 0)) ?? null;
  if (text === null || text.length <= MOST_CHARACTERS) return text;
  const sha256 = createHash('sha256').update(text).digest('hex');
  return JSON.stringify({ cut: { characters: text.length, sha256 } });
}

function cleaned(value: unknown, depth: number): unknown {
  if (depth > DEEPEST) return '[deep]';
  if (typeof value === 'string') return value.replace(SECRET_TEXT, BLANK);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Buffer.isBuffer(value) || value instanceof Uint8Array) return BLANK;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((item) => cleaned(item, depth + 1));
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, blankOf(name, inner, depth)]));
}

/** `hasCredentials: true` is a fact about a secret and `resealed: 5` counts some; a PIN may be a number. */
function blankOf(name: string, inner: unknown, depth: number): unknown {
  const isFact = inner === null || typeof inner === 'boolean' || (typeof inner === 'number' && !PIN_NAME.test(name));
  if (isFact || !SECRET_NAME.test(name)) return cleaned(inner, depth + 1);
  return inner instanceof Date ? inner.toISOString() : BLANK;
}
