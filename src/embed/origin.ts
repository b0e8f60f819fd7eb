/**
 * Web origins: what a page may claim to be, and what an operator allows. Admission is equality of whole strings; a host
 * is never searched, cut or matched by pattern, apart from the one wildcard below. Pure. Used by the embed session and
 * the operator's commands.
 *
 * WHATWG URL puts an origin into one form (lower case, punycode, no default port). A request must already have that
 * form, because a browser's `Origin` header does; an operator's entry is brought into it.
 */

/** `https://*.example.com`: one or more labels before `example.com`, never `example.com` itself. */
const WILDCARD = /^(https?:\/\/)?\*\./i;
const LONGEST_ORIGIN = 300;
/** After WHATWG URL has put it into its form: a name, an IPv4 address, or an IPv6 address in brackets. */
const WEB_HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/;

/**
 * Is this a bare web origin, letter for letter as a browser would send it? `null`, paths, user
 * names, default ports: no.
 */
export function isOrigin(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > LONGEST_ORIGIN) return false;
  const url = parsed(value);
  return url !== null && url.origin === value && isWebHost(url);
}

/** Plain http is for one's own machine: a microphone wants a secure context (contract §17). */
export function isSecure(origin: string): boolean {
  const url = parsed(origin);
  return url !== null && (url.protocol === 'https:' || isLocal(url.hostname));
}

export type AllowEntry = { ok: true; entry: string } | { ok: false; why: string };

/**
 * An operator's entry in its stored form: `https://example.com`, `https://example.com:8443`, `https://*.example.com`,
 * `http://localhost:3000`. The scheme may be left out.
 */
export function readAllowEntry(typed: string): AllowEntry {
  const text = typed.trim();
  const wildcard = WILDCARD.exec(text);
  const withoutStar = wildcard === null ? text : `${wildcard[1] ?? ''}${text.slice(wildcard[0].length)}`;
  const url = parsed(/^[a-z][a-z0-9+.-]*:\/\//i.test(withoutStar) ? withoutStar : `https://${withoutStar}`);
  if (url === null || !isWebHost(url)) {
    return {
      ok: false,
      why: `'${typed}' is no web origin; give one like https://example.com or https://*.example.com`,
    };
  }
  if (url.username !== '' || url.password !== '' || url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    return {
      ok: false,
      why: `'${typed}' holds more than an origin; leave path, query and user name away: ${url.origin}`,
    };
  }
  if (!isSecure(url.origin)) {
    return { ok: false, why: `'${typed}' is plain http, in which browsers give no microphone; only localhost may` };
  }
  if (wildcard === null) return { ok: true, entry: url.origin };
  if (!isDomain(url.hostname) || url.hostname.split('.').length < 2) {
    return { ok: false, why: `'${typed}' would allow too much; a wildcard needs a domain of two labels or more` };
  }
  return { ok: true, entry: url.origin.replace('://', '://*.') };
}

/** `entries` are stored forms; `origin` has passed `isOrigin`. An empty list allows nothing. */
export function isAllowed(origin: string, entries: readonly string[]): boolean {
  if (!isSecure(origin)) return false;
  return entries.some((entry) => entry === origin || fitsWildcard(origin, entry));
}

function fitsWildcard(origin: string, entry: string): boolean {
  const starAt = entry.indexOf('://*.');
  if (starAt < 0) return false;
  const scheme = entry.slice(0, starAt + 3);
  // `.example.com` or `.example.com:8443`: the port must be the same too.
  const tail = entry.slice(starAt + 4);
  if (!origin.startsWith(scheme) || !origin.endsWith(tail)) return false;
  const labels = origin.slice(scheme.length, origin.length - tail.length);
  return labels !== '' && labels.split('.').every((label) => label !== '');
}

function parsed(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}

/** A trailing dot names another origin than the one without; nobody means it. */
function isWebHost(url: URL): boolean {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return false;
  return WEB_HOST.test(url.hostname) && url.hostname !== 'null' && !url.hostname.endsWith('.');
}

function isDomain(hostname: string): boolean {
  return !hostname.startsWith('[') && !/^[\d.]+$/.test(hostname);
}

function isLocal(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]';
}
