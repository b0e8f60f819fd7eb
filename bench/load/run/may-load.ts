/** Whom a run may load: this machine at any time, others only by the word of whoever starts it. */
import { isIP } from 'node:net';
import { TargetFault } from '../contract/target.ts';

export function isLoopback(url: string): boolean {
  const name = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** Throws a `TargetFault` for an address that is not of this machine, unless `isAllowed`. */
export function assertMayLoad(url: string, isAllowed: boolean): void {
  if (isAllowed || isLoopback(url)) return;
  throw new TargetFault(
    `${new URL(url).host} is not this machine: load that nobody expects is an attack. If it is yours to load, say --i-may-load-this-target`,
  );
}
