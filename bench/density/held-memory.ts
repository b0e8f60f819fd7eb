/**
 * What one further call holds in media's memory: all of its threads collect their garbage when nobody talks, after a
 * few calls have warmed it, and again when all talk. A run of its own, as collecting costs time that is measured
 * elsewhere.
 */
import { readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { MediaGauge, type MediaReading } from '../cascade/media-gauge.ts';
import type { WorkloadInput } from '../load/contract/workload.ts';
import type { DensityRow } from './density-result.ts';
import { type DensityKind, heldWorkloadOf } from './kinds.ts';
import { environmentOf } from './opus-builds.ts';
import { runLoad } from './run-load.ts';

type Held = NonNullable<DensityRow['held']>;

const POLL_MS = 250;
/** Of the number of open files: nobody comes any more, or nobody is there any more. */
const STEADY_POLLS = 3;

/** Rejects where it cannot be told. */
export async function heldMemory(kind: DensityKind, dataDir: string): Promise<Held> {
  const gauge = new MediaGauge();
  const over = new AbortController();
  try {
    const workload: WorkloadInput = heldWorkloadOf(kind);
    const run = runLoad(kind, workload, dataDir, together(environmentOf(kind), gauge.environment)).finally(() =>
      over.abort(new Error('the run was over before all its calls talked')),
    );
    run.catch(() => {});
    const files = async (isThere: (open: number) => boolean): Promise<void> => {
      for (let steady = 0, before = -1; steady < STEADY_POLLS; ) {
        await wait(POLL_MS);
        over.signal.throwIfAborted();
        const open = gauge.pid === null ? -1 : readdirSync(`/proc/${gauge.pid}/fd`).length;
        steady = open >= 0 && open === before && isThere(open) ? steady + 1 : 0;
        before = open;
      }
    };
    let idle = 0;
    await files((open) => {
      idle = open;
      return true;
    });
    await files((open) => open > idle);
    await files((open) => open <= idle + 1);
    const before = await gauge.read();
    await files((open) => open >= idle + kind.calls);
    const busy = await gauge.read();
    const { calls } = await run;
    if (calls.talked < calls.planned) throw new Error(`${calls.talked} of ${calls.planned} calls talked`);
    return heldBetween(before, busy, kind.calls);
  } finally {
    gauge.close();
  }
}

export function heldBetween(idle: MediaReading, busy: MediaReading, calls: number): Held {
  return {
    liveBytesPerCall: ((busy.heapKb - idle.heapKb) * 1_000) / calls,
    residentBytesPerCall: ((busy.residentKb - idle.residentKb) * 1_000) / calls,
  };
}

/** Each of them may load something into processes. */
function together(...all: Record<string, string>[]): Record<string, string> {
  const options = all.map(({ NODE_OPTIONS = '' }) => NODE_OPTIONS).filter((text) => text !== '');
  return Object.assign({}, ...all, options.length === 0 ? {} : { NODE_OPTIONS: options.join(' ') });
}
