/**
 * Reads a workload file, or one of the ready scenarios by its name, and says of each fault where it is and what to
 * write instead. Paths in it count from the file's own folder and are absolute afterwards. Called by `main.ts`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { z } from 'zod';
import { packageRoot } from '../../../src/config/built-entry.ts';
import { type Workload, workloadSchema } from '../contract/workload.ts';

/** Wrong use: the message names the file, each fault's place in it, and the way out. */
export class WorkloadFault extends Error {
  override name = 'WorkloadFault';
}

const SCENARIOS = 'bench/load/workload/scenarios';

/** Names that `--scenario` takes, in alphabetical order. */
export function scenarioNames(): string[] {
  return readdirSync(join(packageRoot(), SCENARIOS))
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .sort();
}

/** The path of a ready scenario. Throws a `WorkloadFault` with those that there are. */
export function scenarioPath(name: string): string {
  const names = scenarioNames();
  if (!names.includes(name)) {
    throw new WorkloadFault(
      `--scenario ${name}: there is none of that name; take one of ${names.join(', ')}, or a file of your own with --workload <file>`,
    );
  }
  return join(packageRoot(), SCENARIOS, `${name}.json`);
}

/** Throws a `WorkloadFault`. */
export function readWorkload(path: string): Workload {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = String(Reflect.get(error as object, 'code') ?? error);
    throw new WorkloadFault(`${path} cannot be read (${code}); name a workload file with --workload <file>`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new WorkloadFault(`${path} is no JSON: ${(error as Error).message}`);
  }
  return withAbsolutePaths(parseWorkload(value, path), dirname(resolve(path)));
}

/** `source` is what messages call it. Throws a `WorkloadFault` with every fault, a line each. */
export function parseWorkload(value: unknown, source: string): Workload {
  const parsed = workloadSchema.safeParse(value);
  const faults = parsed.success ? faultsBetweenFields(parsed.data) : parsed.error.issues.map(sentenceOf);
  if (parsed.success && faults.length === 0) return parsed.data;
  throw new WorkloadFault(
    [`${source} is no workload that can be run:`, ...faults.map((fault) => `  ${fault}`)].join('\n'),
  );
}

function sentenceOf(issue: z.core.$ZodIssue): string {
  const where = pathOf(issue.path);
  if (issue.code === 'unrecognized_keys') {
    return `${where}: ${issue.keys.map((key) => `"${key}"`).join(', ')} is no field of it; docs/load-testing.md lists those that are`;
  }
  // The union's own words name no field.
  if (issue.code === 'invalid_union' && 'discriminator' in issue && issue.discriminator !== undefined) {
    const kinds = where.startsWith('phases') ? 'poisson, ramp, burst, level, replay' : 'silent, on-off, turns';
    return `${where}: must be one of ${kinds}`;
  }
  if (issue.code === 'invalid_union') return `${where}: must be a number of seconds, or [least, most]`;
  return `${where}: ${issue.message}`;
}

/** `callers[0].talk.kind` */
function pathOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return '(the whole file)';
  return path
    .map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${String(part)}`))
    .join('');
}

function faultsBetweenFields(workload: Workload): string[] {
  const faults: string[] = [];
  const names = new Set<string>();
  for (const [at, caller] of workload.callers.entries()) {
    if (names.has(caller.name)) faults.push(`callers[${at}].name: "${caller.name}" is taken; each needs its own`);
    names.add(caller.name);
    const { noAnswer, busy, declined } = caller.unanswered;
    if (noAnswer + busy + declined > 1) {
      faults.push(`callers[${at}].unanswered: noAnswer, busy and declined come to more than 1 together`);
    }
    if (caller.by === 'phone' && caller.resumeShare > 0) {
      faults.push(`callers[${at}].resumeShare: only browser sessions resume; set "by": "browser", or leave it out`);
    }
  }
  const { knee } = workload;
  if (knee !== undefined && knee.from >= knee.to) faults.push('knee.from: must be less than knee.to');
  return faults;
}

function withAbsolutePaths(workload: Workload, folder: string): Workload {
  const absolute = (path: string, where: string): string => {
    const whole = isAbsolute(path) ? path : join(folder, path);
    if (existsSync(whole)) return whole;
    throw new WorkloadFault(`${where}: there is no file ${whole}; paths count from the workload file's own folder`);
  };
  return {
    ...workload,
    phases: workload.phases.map((phase, at) =>
      phase.arrivals === 'replay' ? { ...phase, path: absolute(phase.path, `phases[${at}].path`) } : phase,
    ),
    callers: workload.callers.map((caller, at) =>
      caller.talk.kind === 'turns'
        ? {
            ...caller,
            talk: {
              ...caller.talk,
              clips: caller.talk.clips.map((clip, i) => absolute(clip, `callers[${at}].talk.clips[${i}]`)),
            },
          }
        : caller,
    ),
  };
}
