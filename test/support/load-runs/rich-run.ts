/**
 * A run in which a bit of everything went wrong, with sound, a knee, foreign text that would be a script; and one of
 * nothing.
 */
import { join } from 'node:path';
import type { MeasuredCall } from '../../../bench/load/contract/measured-call.ts';
import type { RunResult } from '../../../bench/load/contract/run-result.ts';
import { createGatherer } from '../../../bench/load/result/gather.ts';
import type { SecondFigures } from '../../../bench/load/result/timeline.ts';
import { endOf, madeCalls, plainCall, STEADY, workloadOf } from './make-run.ts';
import { writeTalk } from './sound-file.ts';

export const HOSTILE = '</script><script>document.title="owned"</script><img src=x onerror=alert(1)>"\'&';

/** `folder` takes the recordings. */
export function richRun(folder: string): RunResult {
  const gatherer = createGatherer({
    workload: workloadOf({
      name: 'burst',
      warmUpSeconds: 5,
      restartsAtSeconds: [40],
      callers: [{ name: 'phone caller', weight: 4 }, { name: HOSTILE.slice(0, 60) }],
    }),
  });
  const calls = madeCalls({ ...STEADY, refusedShare: 0.02, lostShare: 0.008, gapShare: 0.05 });
  for (const call of [...calls.map((call) => recorded(call, folder)), ...hostileCalls()]) gatherer.add(call);
  const lastMs = Math.max(...calls.map(({ endedAtMs }) => endedAtMs ?? 0));
  for (let atMs = 0; atMs < lastMs; atMs += 1_000) gatherer.tick(figuresAt(atMs, lastMs));
  return gatherer.finish(
    endOf({ knee: KNEE, warnings: ['The machine was busy before the run: load 2.1 on 8 cores.'] }),
  );
}

/** Sound for those that may stand out. */
function recorded(call: MeasuredCall, folder: string): MeasuredCall {
  const gap = call.sound?.gaps.find(({ gapMs }) => gapMs > 110);
  const isWorth = call.fate === 'lost' || gap !== undefined || call.bargeIns.some((one) => one.stoppedAfterMs === null);
  if (!isWorth || call.answeredAtMs === null || call.endedAtMs === null) return call;
  const recordingPath = join(folder, `call-${call.index}.wav`);
  const seconds = Math.ceil((call.endedAtMs - call.answeredAtMs) / 1_000);
  const hole = gap === undefined ? {} : { holeAtMs: gap.atMs - call.answeredAtMs, holeMs: gap.gapMs };
  writeTalk(recordingPath, { seconds, seed: call.index, ...hole });
  return { ...call, recordingPath };
}

function hostileCalls(): MeasuredCall[] {
  const hostile = { caller: HOSTILE, code: HOSTILE, why: HOSTILE, endedAtMs: 50_000 };
  return [
    plainCall(900, 49_000, { ...hostile, fate: 'failed' }),
    plainCall(901, 49_500, { ...hostile, fate: 'refused', code: '__proto__' }),
    plainCall(902, 52_000, { fate: 'held_back' }),
  ];
}

function figuresAt(atMs: number, lastMs: number): SecondFigures {
  const load = Math.min(1, atMs / 20_000, (lastMs - atMs) / 20_000);
  const wave = 1 + 0.1 * Math.sin(atMs / 2_300);
  return {
    atMs,
    cpuCores: {
      media: 0.85 * load * wave,
      control: 0.14 * load,
      postgres: 0.1 * load * wave,
      [HOSTILE.slice(0, 30)]: 0.05,
    },
    eventLoopDelayP99Ms: 1.2 + load,
    frameLateP99Ms: 2 + 2 * load * wave + (Math.abs(atMs - 41_000) < 2_000 ? 14 : 0),
  };
}

const step = (load: number, good: boolean, replyP95Ms: number, frameLateP99Ms: number) => ({
  ...{ load, good, replyP95Ms, frameLateP99Ms, why: good ? [] : ['gaps.perCallMinute>1: it is 4.2'] },
  ...{ gapsPerCallMinute: good ? 0.1 : 4.2, errorShare: good ? 0 : 0.02, cpuCores: load / 320 },
});

const KNEE: RunResult['knee'] = {
  of: 'calls',
  steps: [
    step(50, true, 700, 1.2),
    step(200, true, 720, 2.1),
    step(800, false, 2_900, 120),
    step(500, true, 840, 6.4),
    step(650, false, 1_500, 31),
    step(575, true, 930, 9.2),
    step(612, false, 1_180, 17),
    step(590, true, 960, 9.8),
  ],
  ...{ carried: 590, notCarried: 612, low: 575, high: 600 },
};

/** Stopped before anything was measured. */
export function emptyRun(): RunResult {
  return createGatherer({ workload: workloadOf({ name: 'quick' }) }).finish(
    endOf({
      ...{ complete: false, incompleteBecause: 'Ctrl-C after 1 s', tookMs: 1_000, knee: null },
      usage: {
        ...{ processes: [], cpuMsPerCallSecond: null, residentBytesPerCall: null },
        ...{ garbageBytesPerFramePair: null, commitsPerCall: null, walBytesPerCall: null },
      },
    }),
  );
}
