/** The names under which limits stand in both stores. Those of call slots are known to the function of migration 0006 too. */
import { isIPv6 } from 'node:net';
import type { CallScope } from './call-limit-settings.ts';

export const slotNames = {
  /** Live calls of a workspace, phone and web. */
  workspaceCalls: (workspaceId: string): string => `calls:${workspaceId}`,
  lineCalls: ({ workspaceId, lineId }: CallScope): string => `calls:${workspaceId}:${lineId}`,
  webSessions: (workspaceId: string): string => `web:${workspaceId}`,
  embedAddress: (address: string): string => `embed:address:${addressName(address)}`,
};

export const rateNames = {
  apiKey: (keyId: string): string => `api:key:${keyId}`,
  failedAuth: (address: string): string => `auth:address:${addressName(address)}`,
  workspaceCalls: (workspaceId: string): string => `cps:workspace:${workspaceId}`,
  lineCalls: (lineId: string): string => `cps:line:${lineId}`,
  /** When the next call of the line may be sent to the carrier. */
  linePace: (lineId: string): string => `pace:line:${lineId}`,
  embedAddress: (address: string): string => `embed:address:${addressName(address)}`,
  embedKey: (publicKey: string): string => `embed:key:${publicKey.slice(0, 128)}`,
};

/** An IPv6 customer has a /64 of addresses, so they count as one; an IPv4 client of an IPv6 socket counts as IPv4. */
export function addressName(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address.slice(0, 64);
  const [head = '', tail] = address.split('%', 1)[0]!.toLowerCase().split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : new Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  const groups = [...left, ...zeros, ...right].slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ''));
  return `${groups.join(':')}::/64`;
}
