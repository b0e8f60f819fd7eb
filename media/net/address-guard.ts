/**
 * Which addresses a URL that a user gave may lead to: public unicast, and the ranges that the operator allowed. Used when
 * such a URL is saved and, for every DNS answer, right before connecting. Must judge parsed addresses, never their text:
 * `127.1`, `0x7f000001` and `[::ffff:7f00:1]` are one place.
 */
import ipaddr from 'ipaddr.js';

export interface AddressGuard {
  /** The operator's setting that allows more, for what is told. */
  readonly setting: string;
  /** Null when `address` (a literal IPv4 or IPv6 address) may be dialled; else why not, for a person. */
  refusal(address: string): string | null;
  /** True when the operator named a range that holds it; only there is plain http spoken. */
  isAllowedByOperator(address: string): boolean;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** RFC 4291 §2.5.5.1, deprecated: `::7f00:1` is 127.0.0.1 to some stacks, and ipaddr.js calls it unicast. */
const IPV4_COMPATIBLE = ipaddr.parseCIDR('::/96');

/** `allowCidrs` as in WEBHOOK_ALLOW_CIDRS, or in another `setting` of its kind; a malformed one throws. */
export function createAddressGuard(allowCidrs: readonly string[], setting = 'WEBHOOK_ALLOW_CIDRS'): AddressGuard {
  const allowed = allowCidrs.map((cidr) => parseRange(cidr, setting));

  const isAllowed = (address: Address): boolean =>
    allowed.some(([base, bits]) => address.kind() === base.kind() && address.match([base, bits] as never));

  return {
    setting,
    refusal(text) {
      const address = parseAddress(text);
      if (address === null) return `${text} is not an address`;
      if (isAllowed(address)) return null;
      const range = rangeOf(address);
      if (range === 'unicast') return null;
      return `${text} lies in a private or reserved range (${range}); to allow it, add its range to ${setting}`;
    },
    isAllowedByOperator(text) {
      const address = parseAddress(text);
      return address !== null && isAllowed(address);
    },
  };
}

/** IPv4-mapped addresses (`::ffff:127.0.0.1`) become the IPv4 address that the system would connect to. */
function parseAddress(text: string): Address | null {
  // A zone (`fe80::1%eth0`) has no business in an address that a user or a public resolver gave.
  if (text.includes('%')) return null;
  try {
    return ipaddr.process(text);
  } catch {
    return null;
  }
}

function rangeOf(address: Address): string {
  if (address instanceof ipaddr.IPv6 && address.match(IPV4_COMPATIBLE as [ipaddr.IPv6, number])) {
    return address.range() === 'unicast' ? 'ipv4Compatible' : address.range();
  }
  return address.range();
}

function parseRange(cidr: string, setting: string): Range {
  try {
    return ipaddr.parseCIDR(cidr);
  } catch {
    throw new Error(`${setting} holds ${cidr}, which is not a range like 10.0.0.0/8 or fd00::/8`);
  }
}
