/**
 * Opens a connection to where a URL leads, with no gap between checking an address and using it: the name is looked up
 * once, every answer is checked, and only the checked addresses are dialled. Called by `guarded-dial.ts`.
 */
import net from 'node:net';
import tls from 'node:tls';
import type { AddressGuard } from './address-guard.ts';
import type { ResolveName } from './name-lookup.ts';
import { literalAddressOf, plainHttpProblem } from './target-url.ts';

/** The destination is forbidden; nothing was sent. The message is a clause for a person. */
export class RefusedAddress extends Error {}

/** How long one address may take before the next is tried beside it (RFC 8305 §5). */
const NEXT_ADDRESS_AFTER_MS = 250;

/** One private address among the answers refuses all: a name that mixes them is either a mistake or an attack. */
export async function checkedAddresses(
  url: URL,
  guard: AddressGuard,
  resolveName: ResolveName,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const literal = literalAddressOf(url);
  const addresses = literal === null ? await resolveName(url.hostname, signal) : [literal];
  if (addresses.length === 0) throw new Error(`${url.hostname} has no address`);
  for (const address of addresses) {
    const refusal = guard.refusal(address);
    if (refusal !== null) {
      throw new RefusedAddress(literal === null ? `${url.hostname} leads to ${address}: ${refusal}` : refusal);
    }
    if (url.protocol === 'http:' && !guard.isAllowedByOperator(address)) {
      throw new RefusedAddress(`the URL ${plainHttpProblem(guard)}`);
    }
  }
  return addresses;
}

/** `addresses` have been checked. The certificate is checked against the URL's name; `ca` adds to nothing, it replaces. */
export function dial(url: URL, addresses: readonly string[], ca: string | undefined): net.Socket {
  const literal = literalAddressOf(url);
  const secure = url.protocol === 'https:';
  const options = {
    host: literal ?? url.hostname,
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    noDelay: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    lookup: pinnedLookup(addresses),
  };
  if (!secure) return net.connect(options);
  return tls.connect({
    ...options,
    // Server Name Indication must not hold an address (RFC 6066 §3).
    servername: literal === null ? url.hostname : '',
    ALPNProtocols: ['http/1.1'],
    ...(ca === undefined ? {} : { ca }),
  });
}

/** Node asks this instead of the system; it can only answer with what was checked. */
function pinnedLookup(addresses: readonly string[]): net.LookupFunction {
  const answers = addresses.map((address) => ({ address, family: net.isIP(address) }));
  return (_hostname, options, callback) => {
    const first = answers[0]!;
    if (options.all === true) callback(null, answers);
    else callback(null, first.address, first.family);
  };
}
