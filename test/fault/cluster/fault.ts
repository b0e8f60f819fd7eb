/** What every fault is, and what several of them say of the calls that they met. */
import type { Cluster } from './cluster.ts';
import type { ClusterNode } from './cluster-node.ts';
import { ended, type TalkingCall } from './conversations.ts';
import { kept, moved, type Verdict } from './verdicts.ts';

export interface FaultCase {
  cluster: Cluster;
  /** Whom it meets. */
  victim: ClusterNode;
  calls: readonly TalkingCall[];
  /** What all that talk left of the machine before, 0 to 1; everything runs on it, the phones and the balancer too. */
  restShare: number;
}

export interface Fault {
  name: string;
  /** What it cannot be done without. */
  needs?: 'cables' | 'disks' | 'an older version' | 'libfaketime';
  /** Also in the quick form. */
  isQuick: boolean;
  /** Before there are calls. Resolves when all nodes that should be there are. */
  prepare?(met: Pick<FaultCase, 'cluster' | 'victim'>): Promise<void>;
  /** Resolves when its calls are over and the cluster may be whole again. */
  run(met: FaultCase): Promise<Verdict>;
}

/** Of a machine that says nothing any more. */
export const SILENT_WORD_MS = 12_000;
/** Of one whose sockets are reset. */
export const RESET_WORD_MS = 1_500;
/** What docs/scale.md sizes a machine with. */
const SIZED_REST = 0.4;
const LEAST_REST = 0.1;
export const CUT_MS = 20_000;
export const LATER_CALLS = 6;

/** What waits for the processor has as much longer as less is left of it than a machine is sized with. */
export function asLeft(limitMs: number, { restShare }: Pick<FaultCase, 'restShare'>): number {
  return Math.round(limitMs * Math.max(1, SIZED_REST / Math.max(restShare, LEAST_REST)));
}

/** Those of the victim were taken from it at that time; those of the others noticed nothing. */
export async function afterMoving(
  { cluster, victim, calls }: FaultCase,
  atEpochMs: number,
  wordLimitMs: number,
): Promise<Verdict> {
  const seen = await ended(cluster, calls);
  return joined(
    moved(
      seen.filter(({ node }) => node === victim.name),
      atEpochMs,
      wordLimitMs,
    ),
    kept(
      seen.filter(({ node }) => node !== victim.name),
      'of other nodes',
    ),
  );
}

export function joined(...verdicts: readonly Verdict[]): Verdict {
  return { lines: verdicts.flatMap(({ lines }) => lines), broken: verdicts.flatMap(({ broken }) => broken) };
}

/** `broken` where `isSo` is false. */
export function stated(line: string, isSo: boolean): Verdict {
  return { lines: [line], broken: isSo ? [] : [line] };
}
