/**
 * Who can reach the metrics port: a public one without a token is refused at start, by supervisor and control alike.
 */
import ipaddr from 'ipaddr.js';

const PRIVATE_RANGES = new Set(['loopback', 'private', 'uniqueLocal', 'linkLocal']);
const SHORTEST_TOKEN = 16;

/** Null, or what is wrong and the way out; never shows the token. */
export function faultOfMetrics(environment: Readonly<Record<string, string | undefined>>): string | null {
  const host = environment['PARLEY_METRICS_HOST'] || '127.0.0.1';
  const token = environment['PARLEY_METRICS_TOKEN'] || null;
  if (token !== null && (token.length < SHORTEST_TOKEN || !/^[\x21-\x7e]+$/.test(token))) {
    return `PARLEY_METRICS_TOKEN must be at least ${SHORTEST_TOKEN} printable characters without blanks (openssl rand -hex 32)`;
  }
  if (Number(environment['PARLEY_METRICS_PORT'] || 9464) === 0 || token !== null || isPrivateAddress(host)) return null;
  return `PARLEY_METRICS_HOST is ${host}, which others can reach: set PARLEY_METRICS_TOKEN (openssl rand -hex 32) and give it to your Prometheus as bearer token, or let it be a private address (127.0.0.1), or set PARLEY_METRICS_PORT to 0`;
}

/** One address of this machine in a private network; 0.0.0.0 and :: are all of them, and a name may be any. */
export function isPrivateAddress(host: string): boolean {
  if (host === 'localhost') return true;
  return ipaddr.isValid(host) && PRIVATE_RANGES.has(ipaddr.process(host).range());
}
