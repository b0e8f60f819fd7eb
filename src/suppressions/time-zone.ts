/** The names of time zones that a lead may have and a calling window may be told in. */

/** `Europe/Berlin`; an offset such as `+01:00` is none, because it knows no summer. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
