/** What the database can hold. Asked of texts and JSON that come from outside, before they get to a query. */

/** PostgreSQL stores neither NUL nor half of a surrogate pair. */
export function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\u0000') && !/\p{Surrogate}/u.test(value);
  if (Array.isArray(value)) return value.every(isStorable);
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).every(([key, inner]) => isStorable(key) && isStorable(inner));
  }
  return true;
}
