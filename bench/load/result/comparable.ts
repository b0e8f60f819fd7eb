/** Whether two results can be laid beside each other at all. Used by `compare` before it judges. */
import { isDeepStrictEqual } from 'node:util';
import type { RunResult } from '../contract/run-result.ts';

export interface Comparability {
  /** What makes a verdict mean nothing, unless it was asked for. */
  objections: string[];
  /** What the reader should know. */
  warnings: string[];
}

/** Kinds whose address the tool chooses itself: a port that is free. */
const OWN_ADDRESS: ReadonlySet<RunResult['target']['kind']> = new Set(['own', 'naive', 'ws']);
const MEMORY_TOLERANCE = 0.05;

export function comparabilityOf(before: RunResult, after: RunResult): Comparability {
  return { objections: objectionsOf(before, after), warnings: warningsOf(before, after) };
}

function objectionsOf(before: RunResult, after: RunResult): string[] {
  const objections: string[] = [];
  const differing = differingFields(before.workload, after.workload);
  if (differing.length > 0) objections.push(`the workloads differ in: ${differing.join(', ')}`);
  const [old, fresh] = [before.target, after.target];
  if (old.kind !== fresh.kind || old.protocol !== fresh.protocol) {
    objections.push(`the targets are of different kinds: ${kindOf(old)} and ${kindOf(fresh)}`);
  } else if (!OWN_ADDRESS.has(old.kind) && old.address !== fresh.address) {
    objections.push(`the targets have different addresses: ${old.address} and ${fresh.address}`);
  }
  for (const [name, { complete, incompleteBecause }] of [['first', before] as const, ['second', after] as const])
    if (!complete) objections.push(`the ${name} run is incomplete: ${incompleteBecause ?? 'it was stopped'}`);
  return objections;
}

const kindOf = ({ kind, protocol }: RunResult['target']): string =>
  protocol === null ? kind : `${kind} (${protocol})`;

/** The text about it may change; what callers do may not. */
function differingFields(before: RunResult['workload'], after: RunResult['workload']): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof RunResult['workload']>;
  names.delete('about');
  return [...names].filter((name) => !isDeepStrictEqual(before[name], after[name]));
}

function warningsOf(before: RunResult, after: RunResult): string[] {
  const [old, fresh] = [before.machine, after.machine];
  const differing = [
    old.cpu !== fresh.cpu && `processor (${old.cpu}; ${fresh.cpu})`,
    old.cores !== fresh.cores && `cores (${old.cores}; ${fresh.cores})`,
    Math.abs(old.memoryBytes - fresh.memoryBytes) > MEMORY_TOLERANCE * old.memoryBytes && 'memory',
    old.system !== fresh.system && `system (${old.system}; ${fresh.system})`,
    before.tool.node !== after.tool.node && `Node.js (${before.tool.node}; ${after.tool.node})`,
  ].filter((name) => name !== false);
  return differing.length === 0
    ? []
    : [`The machines differ in ${differing.join(', ')}: what is measured may come of that alone.`];
}

/** What is wrong with the tool's own part in them; null: both may be believed. */
export function unjudgedBecause(before: RunResult, after: RunResult): string | null {
  const reasons = [['first', before] as const, ['second', after] as const]
    .filter(([, { generator }]) => !generator.judged)
    .map(([name, { generator }]) => `the ${name} run could not judge: ${generator.why}`);
  return reasons.length === 0 ? null : reasons.join('; ');
}
