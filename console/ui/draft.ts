/**
 * A value that outlives the page that holds it, until it is saved or the window closes: what somebody types when their
 * session ends, the service restarts or they look something up elsewhere is there when they are back.
 */
import { useEffect, useState } from 'preact/hooks';

const PREFIX = 'parley.draft.';
const OWNER = 'owner';

export function readDraft(key: string): string | null {
  try {
    return sessionStorage.getItem(PREFIX + key);
  } catch {
    return null;
  }
}

export function writeDraft(key: string, value: string | null): void {
  try {
    if (value === null) sessionStorage.removeItem(PREFIX + key);
    else sessionStorage.setItem(PREFIX + key, value);
  } catch {
    // Full, or switched off: the page holds it all the same.
  }
}

/** Whose drafts they are; null: nobody's any more. Another person at the same window begins without them. */
export function keepDraftsOf(userId: string | null): void {
  if (readDraft(OWNER) === userId) return;
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
  } catch {
    // Switched off: there are none.
  }
  writeDraft(OWNER, userId);
}

/**
 * As `useState` of a text; what is the same as `start` is no draft. `of` names the state that `start` is of: `basedOn`
 * says of which one the draft was begun, also when the page has read a newer one since.
 */
export function useDraft(
  key: string,
  start: string,
  of: string | null = null,
): { value: string; set(value: string): void; forget(): void; basedOn: string | null } {
  const [value, setValue] = useState(() => readDraft(key) ?? start);
  useEffect(() => setValue(readDraft(key) ?? start), [key, start]);
  const base = `${key}.of`;
  const forget = (): void => {
    writeDraft(key, null);
    writeDraft(base, null);
  };
  const set = (next: string): void => {
    setValue(next);
    if (next === start) forget();
    else {
      if (readDraft(key) === null) writeDraft(base, of);
      writeDraft(key, next);
    }
  };
  return { value, set, forget, basedOn: readDraft(key) === null ? of : (readDraft(base) ?? of) };
}

/** What is kept in this browser for good: a choice of looks, saved views. */
export function remembered<Value>(key: string, otherwise: Value): Value {
  try {
    const text = localStorage.getItem(`parley.${key}`);
    return text === null ? otherwise : (JSON.parse(text) as Value);
  } catch {
    return otherwise;
  }
}

export function remember(key: string, value: unknown): void {
  try {
    localStorage.setItem(`parley.${key}`, JSON.stringify(value));
  } catch {
    // Not kept, then.
  }
}
