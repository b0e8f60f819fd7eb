/** The name under which what an address does is counted, by limits in control and budgets in media alike. Pure. */

/** Of an IPv4 address within IPv6: all but its last two groups. */
const MAPPED = '0:0:0:0:0:ffff';
const IPV6 = /^[0-9a-f]*:[0-9a-f:.]*(%.*)?$/i;

/**
 * An IPv6 customer has a /64 of addresses, so they count as one; an IPv4 client of an IPv6 socket counts as IPv4,
 * however it is spelled.
 */
export function addressName(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!IPV6.test(address)) return address.slice(0, 64);
  const [head = '', tail] = address.split('%', 1)[0]!.toLowerCase().split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : new Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  const groups = [...left, ...zeros, ...right].map((group) => group.replace(/^0+(?=.)/, ''));
  if (groups.length === 8 && groups.slice(0, 6).join(':') === MAPPED) {
    return groups.slice(6).flatMap(bytesOf).join('.');
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}

function bytesOf(group: string): number[] {
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 255];
}
