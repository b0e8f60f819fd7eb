/** Which version of the API a Parley has: each of its answers says so. Pure; used by the checks before a run. */

/** Null: it does not say. */
export function serviceVersionOf(headers: Readonly<Record<string, string | string[] | undefined>>): string | null {
  const version = headers['service-version'];
  return typeof version === 'string' ? `API ${version}` : null;
}
