/**
 * `{{ key }}` and `{{key | fallback}}` in what an agent says (contract §3). One pass only: a value that holds braces is
 * not expanded again. An unresolved key becomes its fallback or nothing, never raw braces, and is reported. Somebody
 * whose name nobody gave is "Customer", where the agent has no better word for them: `{{customer_name | there}}`.
 */
const PLACEHOLDER = /\{\{\s*([A-Za-z_][A-Za-z0-9_.-]{0,63})\s*(?:\|([^{}]*))?\}\}/g;

/** The value of `customer_name` where no name was given. */
export const NAMELESS = 'Customer';

/** `shown`: a value as it stands in the text; a fallback stands as it is. */
export function fillPlaceholders(
  text: string,
  lookUp: (key: string) => string | undefined,
  shown: (value: string) => string = (value) => value,
): { text: string; unresolved: string[] } {
  const unresolved: string[] = [];
  const filled = text.replace(PLACEHOLDER, (_match, key: string, fallback: string | undefined) => {
    const value = lookUp(key);
    const isBetterUnnamed = key === 'customer_name' && value === NAMELESS && fallback !== undefined;
    if (value !== undefined && !isBetterUnnamed) return shown(value);
    if (fallback !== undefined) return fallback.trim();
    unresolved.push(key);
    return '';
  });
  return { text: filled.replace(/[ \t]{2,}/g, ' '), unresolved };
}

/** A placeholder's value as text: scalars as they are, null as nothing, the rest as compact JSON. */
export function placeholderText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return JSON.stringify(value);
}
