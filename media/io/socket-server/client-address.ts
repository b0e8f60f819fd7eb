/**
 * Whose request is it, when proxies stand before us? Asked once for each request and each upgrade, at the entrance; all
 * that comes after has the answer as `remoteAddress`. Pure.
 *
 * What the connection says counts, unless it comes from a trusted proxy. Then the list that proxies write is read from
 * its right end, where the nearest one wrote: each trusted proxy vouches for the address on its left, and the first
 * address that is no trusted proxy's is the client. So whatever a client writes into the list itself stands left of its
 * own address and is never reached. What is no address (`unknown`, `_hidden`, a slip, an attack) ends the walk at the
 * last that was believed.
 *
 * There are two such lists, `X-Forwarded-For` and `Forwarded` (RFC 7239), and a proxy that writes the one passes the
 * other on as the client sent it. So only one is read: `X-Forwarded-For` wins where both are there (nearly all proxies
 * write it), and `Forwarded` counts where it is alone. Where the proxies write `Forwarded` only, a client could bring
 * an `X-Forwarded-For` of its own: the setting names the header then.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { HeaderList } from './http-exchange.ts';

/** `auto`: `X-Forwarded-For`, or `Forwarded` where that is alone. */
export type ProxyHeader = 'auto' | 'x-forwarded-for' | 'forwarded';

export interface ProxyTrust {
  /** Ranges in which proxies stand whose word is taken. */
  cidrs: readonly string[];
  header: ProxyHeader;
}

export interface ClientAddresses {
  /**
   * `peer`: of the connection, as its socket has it. `headers`: lower-case names; one that came twice is there twice.
   */
  of(peer: string, headers: HeaderList): string;
  /** `address` as `addressOfPeer` gives it. */
  isTrusted(address: string): boolean;
}

export const TRUST_NOBODY: ProxyTrust = { cidrs: [], header: 'auto' };

/** Of a connection that went before it could be asked: nobody's address, in no range but that of all. */
const NOBODY = '0.0.0.0';
const BRACKETED = /^\[([^\]]+)\](?::\d{1,5})?$/;
const WITH_PORT = /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/;
const PAIR = /^([A-Za-z-]+)=(?:"([^"\\]*)"|([^\s",;=]+))$/;

export function createClientAddresses({ cidrs, header }: ProxyTrust): ClientAddresses {
  const ranges = cidrs.map((cidr) => ipaddr.parseCIDR(cidr));

  function isTrusted(text: string): boolean {
    const address = ipaddr.parse(text);
    return ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
  }

  return {
    isTrusted,
    of(peer, headers) {
      let address = addressOfPeer(peer);
      if (!isTrusted(address)) return address;
      const { entries, read } = listIn(headers, header);
      for (let entry = entries.pop(); entry !== undefined; entry = entries.pop()) {
        const hop = read(entry);
        if (hop === null) break;
        address = hop;
        if (!isTrusted(address)) break;
      }
      return address;
    },
  };
}

/** In one spelling, whatever the socket library's is: IPv4 inside IPv6 is IPv4, IPv6 is short and has no zone. */
export function addressOfPeer(peer: string): string {
  return addressIn(peer.split('%', 1)[0] ?? '') ?? NOBODY;
}

/** From left to right, as they were passed, and how one of them is read; null: it is no address. */
function listIn(headers: HeaderList, header: ProxyHeader): { entries: string[]; read(entry: string): string | null } {
  const of = (wanted: string): string[] =>
    headers.filter(([name]) => name === wanted).flatMap(([, value]) => value.split(','));
  const entries = header === 'forwarded' ? [] : of('x-forwarded-for');
  if (entries.length > 0 || header === 'x-forwarded-for') return { entries, read: addressIn };
  return { entries: of('forwarded'), read: forwardedFor };
}

/**
 * The `for` of one element, like `for="[2001:db8::1]:4711";proto=https`. The list was cut at every comma, quoted or
 * not: a quotation mark that a client opened must not swallow what the proxy wrote after it.
 */
function forwardedFor(element: string): string | null {
  let found: string | null = null;
  for (const part of element.split(';')) {
    const pair = PAIR.exec(part.trim());
    if (pair === null) return null;
    if (pair[1]?.toLowerCase() !== 'for') continue;
    if (found !== null) return null;
    found = addressIn(pair[2] ?? pair[3] ?? '');
    if (found === null) return null;
  }
  return found;
}

/** `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]:4711`; null: none of them. */
function addressIn(text: string): string | null {
  const node = text.trim();
  const address = BRACKETED.exec(node)?.[1] ?? WITH_PORT.exec(node)?.[1] ?? node;
  // Node's own judgement first: the library takes 127.1 and 0x7f.1 for addresses too. A zone is of use only where it
  // was written.
  if (isIP(address) === 0 || address.includes('%') || !ipaddr.isValid(address)) return null;
  return ipaddr.process(address).toString();
}
