/**
 * A one-time link as whoever passes it on reaches the console: the service makes it for its public address, which may
 * be another name of the same place, and a passkey belongs to the name at which it is made.
 */
export const linkHere = (link: string, at: Pick<Location, 'origin' | 'pathname'> = location): string =>
  `${at.origin}${at.pathname}${new URL(link).hash}`;

/** Such an address is this machine's own: nobody elsewhere can open it. */
export const isHere = (hostname: string): boolean =>
  hostname === 'localhost' || hostname.endsWith('.localhost') || /^127\.|^\[?::1\]?$/.test(hostname);
