/**
 * How the supervisor tells of a setting at fault: its name once, what it must be, and what was given. Pure; called by
 * `service-settings.ts` and `load.ts`.
 */

/** They may hold a password; and what is wrong with a list of proxies names the one that is wrong. */
const UNSHOWN = ['DATABASE_URL', 'REDIS_URL', 'TRUSTED_PROXIES'];

export function settingFault(
  { path, message }: { path: readonly PropertyKey[]; message: string },
  given: Readonly<Record<string, string | undefined>>,
): string {
  const name = path.join('.');
  const value = given[name];
  // An address of the public side may have a password in it all the same.
  const isShown = value !== undefined && !UNSHOWN.includes(name) && !value.includes('@');
  return `  ${name} ${message}${isShown ? `, not ${JSON.stringify(value)}` : ''}`;
}
