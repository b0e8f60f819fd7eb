/**
 * Runs of the load tester that nobody ran: calls drawn from a seed, gathered as real ones are. For the tests of the
 * comparison, of conditions and of the report.
 */
import { createRandom } from '../../../bench/harness/seeded-random.ts';
import type { MeasuredCall } from '../../../bench/load/contract/measured-call.ts';
import type { RunResult } from '../../../bench/load/contract/run-result.ts';
import { type Workload, type WorkloadInput, workloadSchema } from '../../../bench/load/contract/workload.ts';
import { createGatherer, type RunEnd } from '../../../bench/load/result/gather.ts';
import { createTimes } from '../../../bench/load/result/times.ts';

export interface RunShape {
  seed: number;
  calls: number;
  perSecond: number;
  /** Half of all replies are quicker. */
  replyMs: number;
  /** Of frames: the greater, the longer the tail. */
  lateMs: number;
  gapShare: number;
  refusedShare: number;
  lostShare: number;
  /** Where recordings lie, by the index of the call. */
  recordings?: ReadonlyMap<number, string>;
}

export const STEADY: RunShape = {
  seed: 11,
  calls: 240,
  perSecond: 4,
  replyMs: 620,
  lateMs: 0.7,
  gapShare: 0.03,
  refusedShare: 0,
  lostShare: 0,
};

/** Drawn evenly, and so that half of them are below `median` and few far above. */
function createDraws(seed: number) {
  const random = createRandom(seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return {
    random,
    between: (least: number, most: number) => least + (most - least) * random(),
    around: (median: number, spread: number) => median * Math.exp(spread * normal()),
    gap: (perSecond: number) => (-1_000 * Math.log(1 - random())) / perSecond,
  };
}

type Draws = ReturnType<typeof createDraws>;

export function madeCalls(shape: RunShape): MeasuredCall[] {
  const draws = createDraws(shape.seed);
  let plannedAtMs = 0;
  return Array.from({ length: shape.calls }, (_, index) => {
    plannedAtMs += draws.gap(shape.perSecond);
    return madeCall(index, plannedAtMs, shape, draws);
  });
}

export function plainCall(index: number, plannedAtMs: number, changes: Partial<MeasuredCall> = {}): MeasuredCall {
  return {
    index,
    caller: 'caller',
    by: 'phone',
    fate: 'talked',
    code: null,
    why: null,
    plannedAtMs,
    begunAtMs: plannedAtMs,
    placementMs: null,
    dialledMs: null,
    answeredAtMs: null,
    endedAtMs: null,
    endedBy: null,
    firstWordMs: null,
    replies: [],
    unanswered: 0,
    bargeIns: [],
    sound: null,
    webhookMs: null,
    resumes: [],
    recordingPath: null,
    ...changes,
  };
}

function madeCall(index: number, plannedAtMs: number, shape: RunShape, draws: Draws): MeasuredCall {
  const begunAtMs = plannedAtMs + draws.between(0, 1.5);
  const isBrowser = draws.random() < 0.2;
  const caller = isBrowser ? 'visitor' : 'phone caller';
  if (draws.random() < shape.refusedShare) {
    const endedAtMs = begunAtMs + 12;
    const code = draws.random() < 0.7 ? 'capacity_exhausted' : 'HTTP 503';
    return plainCall(index, plannedAtMs, {
      ...{ caller, begunAtMs, endedAtMs, code, fate: 'refused', by: isBrowser ? 'browser' : 'phone' },
      why: 'The service takes no more calls at the moment.',
    });
  }
  const placementMs = draws.around(18, 0.4);
  const dialledMs = placementMs + draws.around(30, 0.3);
  const answeredAtMs = plannedAtMs + dialledMs + 300;
  const lengthMs = draws.between(15_000, 25_000);
  const isLost = draws.random() < shape.lostShare;
  const endedAtMs = answeredAtMs + (isLost ? lengthMs / 2 : lengthMs);
  const talk = madeTalk(answeredAtMs, endedAtMs, shape, draws);
  return plainCall(index, plannedAtMs, {
    ...{ caller, begunAtMs, placementMs, dialledMs, answeredAtMs, endedAtMs, ...talk },
    by: isBrowser ? 'browser' : 'phone',
    fate: isLost ? 'lost' : 'talked',
    code: isLost ? 'close 1006' : null,
    why: isLost ? 'The socket closed without a word.' : null,
    endedBy: isLost ? 'target' : 'far_end',
    firstWordMs: draws.around(240, 0.25),
    webhookMs: draws.around(90, 0.5),
    recordingPath: shape.recordings?.get(index) ?? null,
  });
}

function madeTalk(fromMs: number, toMs: number, shape: RunShape, draws: Draws) {
  const replies: MeasuredCall['replies'] = [];
  const bargeIns: MeasuredCall['bargeIns'] = [];
  const gaps: { atMs: number; gapMs: number }[] = [];
  for (let atMs = fromMs + 2_500; atMs < toMs - 2_000; atMs += draws.between(3_500, 6_000)) {
    const replyMs = draws.around(shape.replyMs, 0.22);
    replies.push({ atMs, replyMs });
    if (draws.random() < 0.12) {
      bargeIns.push({
        atMs: atMs + replyMs + 900,
        stoppedAfterMs: draws.random() < 0.96 ? draws.around(260, 0.2) : null,
      });
    }
    if (draws.random() < shape.gapShare) gaps.push({ atMs: atMs + replyMs + 400, gapMs: 20 + draws.around(50, 0.7) });
  }
  const audioMs = Math.round((toMs - fromMs) / 20) * 20;
  const lateMs = Array.from({ length: 60 }, (_, at) =>
    Math.round(
      (audioMs / 20) * (at === 0 ? 0.72 : 0.28 * Math.exp(-at / shape.lateMs) * (Math.exp(1 / shape.lateMs) - 1)),
    ),
  );
  return {
    replies,
    bargeIns,
    sound: {
      ...{ frames: audioMs / 20, audioMs, streamedMs: audioMs * draws.between(0.9995, 1.0012), lateMs, gaps },
      ...{ lostMs: null, repeatedMs: null },
    },
  };
}

export function workloadOf(input: Partial<WorkloadInput> = {}): Workload {
  return workloadSchema.parse({
    ...{ version: 1, name: 'steady', about: 'Phone callers and visitors, four a second.' },
    phases: [{ arrivals: 'poisson', perSecond: 4, forSeconds: 60 }],
    callers: [
      { name: 'phone caller', weight: 4 },
      { name: 'visitor', by: 'browser', codec: 'opus' },
    ],
    ...input,
  });
}

export function endOf(changes: Partial<RunEnd> = {}): RunEnd {
  const sent = createTimes();
  for (let i = 0; i < 4_000; i++) sent.add(i % 50 === 0 ? 2.4 : 0.3);
  return {
    ...{ complete: true, incompleteBecause: null, startedAt: '2026-11-20T10:15:00.000Z', tookMs: 91_300 },
    tool: { version: '0.1.0', commit: null, node: 'v20.20.2' },
    machine: {
      ...{ cpu: 'An ordinary processor', cores: 8, memoryBytes: 32e9, system: 'Linux 6.1' },
      ...{ loadBefore: 0.21, noiseP99Ms: 0.4, stealShare: 0.001 },
    },
    target: {
      ...{ kind: 'parley', address: 'https://voice.example.com', protocol: null, onThisMachine: false },
      version: '0.1.0',
    },
    usage: {
      processes: [
        { name: 'media', cpuMeanCores: 0.62, cpuMaxCores: 0.97, residentMaxBytes: 412e6 },
        { name: 'control', cpuMeanCores: 0.11, cpuMaxCores: 0.35, residentMaxBytes: 180e6 },
        { name: 'postgres', cpuMeanCores: 0.08, cpuMaxCores: 0.2, residentMaxBytes: 220e6 },
        { name: 'tool: far end 1', cpuMeanCores: 0.31, cpuMaxCores: 0.44, residentMaxBytes: 150e6 },
      ],
      ...{ cpuMsPerCallSecond: 1.34, residentBytesPerCall: 640e3, garbageBytesPerFramePair: 410 },
      ...{ commitsPerCall: 11.2, walBytesPerCall: 21e3 },
    },
    knee: null,
    generator: { limitMs: 10, frameLatenessMs: sent.distribution(), cpuShare: 0.44 },
    ...changes,
  };
}

export function madeRun(shape: RunShape, end: Partial<RunEnd> = {}, workload: Partial<WorkloadInput> = {}): RunResult {
  const gatherer = createGatherer({ workload: workloadOf(workload) });
  const calls = madeCalls(shape);
  for (const call of calls) gatherer.add(call);
  tickAll(gatherer, Math.max(...calls.map(({ endedAtMs }) => endedAtMs ?? 0)), shape.seed);
  return gatherer.finish(endOf(end));
}

function tickAll(gatherer: ReturnType<typeof createGatherer>, untilMs: number, seed: number): void {
  const draws = createDraws(seed + 1);
  for (let atMs = 500; atMs < untilMs; atMs += 1_000) {
    const load = Math.min(1, atMs / 20_000, (untilMs - atMs) / 20_000 + 0.05);
    gatherer.tick({
      atMs,
      cpuCores: {
        media: draws.around(0.85 * load, 0.06),
        control: draws.around(0.14 * load, 0.2),
        postgres: draws.around(0.1 * load, 0.2),
        'tool: far end 1': draws.around(0.38 * load, 0.05),
      },
      eventLoopDelayP99Ms: draws.around(1.2 + load, 0.2),
      frameLateP99Ms: draws.around(2 + 2 * load, 0.2),
    });
  }
}
