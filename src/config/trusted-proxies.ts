/**
 * `TRUSTED_PROXIES`: the proxies before the service whose word about a client's address is taken. Read by the
 * supervisor's settings.
 */
import ipaddr from 'ipaddr.js';

export type TrustedProxies = { ok: true; cidrs: string[] } | { ok: false; fault: string };

/** Addresses and ranges, separated by commas; an address becomes the range of itself. */
export function readTrustedProxies(list: string): TrustedProxies {
  const cidrs: string[] = [];
  for (const entry of list.split(',').map((part) => part.trim())) {
    if (entry === '') continue;
    const fault = faultOf(entry);
    if (fault !== null) return { ok: false, fault };
    cidrs.push(entry.includes('/') ? entry : `${entry}/${ipaddr.parse(entry).kind() === 'ipv4' ? 32 : 128}`);
  }
  return { ok: true, cidrs };
}

function faultOf(entry: string): string | null {
  const [address = '', bits] = entry.split('/', 2);
  const isWritten = ipaddr.IPv6.isValid(address) || ipaddr.IPv4.isValidFourPartDecimal(address);
  if (!isWritten || (bits !== undefined && !ipaddr.isValidCIDR(entry))) {
    return `names '${entry}', which is no address and no range; write the addresses of your proxies like 10.0.0.5,10.1.0.0/16,fd00::/8`;
  }
  if (bits !== undefined && Number(bits) === 0) {
    return `names '${entry}', which is everybody, who then could say to be anybody; name the addresses of your proxies alone`;
  }
  if (ipaddr.parse(address).range() === 'ipv4Mapped') {
    return `names '${entry}', which is IPv4 inside IPv6; write it as IPv4, like 10.0.0.0/8`;
  }
  return null;
}
