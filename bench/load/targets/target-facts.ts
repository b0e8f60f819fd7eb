/** What a result says of a target that is known by its address, and who of it runs on this machine. */
import type { RunResult } from '../contract/run-result.ts';
import { TargetFault } from '../contract/target.ts';
import { isLoopback } from '../run/may-load.ts';
import type { RunFlags } from '../run-flags.ts';
import { processesAt, processesOf } from '../usage/find-processes.ts';
import type { WatchedProcess } from '../usage/process-usage.ts';

/** Without secrets and queries. */
export function factsOf(kind: RunResult['target']['kind'], address: string, protocol: string): RunResult['target'] {
  const { protocol: scheme, host, pathname } = new URL(address);
  const shown = `${scheme}//${host}${pathname === '/' ? '' : pathname}`;
  return { kind, address: shown, protocol, onThisMachine: isLoopback(address), version: null };
}

/** Those that were named; else whoever listens at the port. Throws a `TargetFault`. */
export function processesHere({ pid }: RunFlags, url: string): WatchedProcess[] {
  if (pid.length === 0) return processesAt(url);
  try {
    return processesOf(pid);
  } catch (error) {
    throw new TargetFault((error as Error).message);
  }
}
