/**
 * `npm run bench -- api --burst 2000 [--burst-seconds 1] [--bursts 3] [--nodes 2]`: so many placements a second for a
 * moment, open loop, to several nodes on one PostgreSQL; then a pause until all that it brought is worked off: answers,
 * the carrier's callbacks, ends of calls, webhooks. Says what was full first and at what, and judges that every request
 * was answered and nothing acknowledged is lost. Called by `main.ts`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { percentiles } from '../harness/percentile.ts';
import { type BurstStage, MOST_NODES, startBurstStage } from './burst-stage.ts';
import { answersByKind, burstFaults } from './burst-verdict.ts';
import { type OfferedAnswer, offerTo } from './offer.ts';
import { firstFull, type Part, POSTGRES, type Pressure, watchPressure, withChildren } from './pressure.ts';

export interface BurstOptions {
  perSecond: number;
  seconds: number;
  bursts: number;
  nodes: number;
}

interface Burst {
  answers: Record<string, number>;
  /** The last answer, and the end of all that followed, in s since the first request. */
  answeredSeconds: number;
  workedOffSeconds: number;
  /** A second, until the last answer. */
  placedPerSecond: number;
  answerMs: { p50: number; p99: number; max: number };
  placedMs: { p50: number; p99: number; max: number };
  lateMs: { p50: number; p99: number; max: number };
  pressure: Pressure;
  faults: string[];
}

/** Codes are compiled, statements prepared, keys known, and the first minute's work is over. */
const WARM_UP = { perSecond: 50, seconds: 8 };
const PAUSE_MS = 5_000;
const LOOK_EVERY_MS = 250;
const WORKED_OFF_LIMIT_MS = 120_000;
/** So that a request waits for the node, not here for a connection. */
const CONNECTIONS = 1_024;
const FIRST_NUMBER = 5_550_000;
/** One of them ends each call. */
const END_EVENTS = new Set(['call.completed', 'call.no_answer', 'call.failed']);

/** True when nothing was at fault. */
export async function runBursts(options: BurstOptions): Promise<boolean> {
  if (options.nodes > MOST_NODES)
    throw new Error(`At most ${MOST_NODES} nodes: the embedded PostgreSQL has 100 sessions.`);
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-bursts-'));
  const stage = await startBurstStage({
    folder,
    nodes: options.nodes,
    log: (line) => process.stderr.write(`${line}\n`),
  });
  try {
    let offered = 0;
    const numberOf = (index: number): string => `+1415${FIRST_NUMBER + index}`;
    const next = (perSecond: number, seconds: number): readonly string[] => {
      const numbers = Array.from({ length: perSecond * seconds }, (_none, index) => numberOf(offered + index));
      offered += numbers.length;
      return numbers;
    };
    await offerNumbers(stage, next(WARM_UP.perSecond, WARM_UP.seconds), WARM_UP.perSecond);
    if (!(await workedOff(stage))) throw new Error('What warms up was not worked off in two minutes.');
    const bursts: Burst[] = [];
    for (let index = 0; index < options.bursts; index++) {
      await pause(PAUSE_MS);
      const burst = await oneBurst(stage, next(options.perSecond, options.seconds), options.perSecond);
      bursts.push(burst);
      for (const line of linesOf(burst, `burst ${index + 1}`)) console.log(line);
    }
    mkdirSync('data/bench', { recursive: true });
    writeFileSync('data/bench/api-bursts.json', JSON.stringify({ ...options, bursts }, null, 2));
    console.log('written: data/bench/api-bursts.json');
    return bursts.every(({ faults }) => faults.length === 0);
  } finally {
    await stage.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Nodes in turn, and workspaces in turn at each. */
function offerNumbers(
  { nodes, workspaces }: BurstStage,
  numbers: readonly string[],
  perSecond: number,
): Promise<OfferedAnswer[]> {
  const targets = workspaces.flatMap((workspace) =>
    nodes.map(({ service }) => ({ ...workspace, baseUrl: service.publicUrl })),
  );
  return offerTo(targets, {
    perSecond,
    seconds: numbers.length / perSecond,
    connections: CONNECTIONS,
    body(index) {
      const { agentId, enterprise, lineId: from } = targets[index % targets.length]!;
      return { to: numbers[index]!, agentId, enterprise, from };
    },
  });
}

async function oneBurst(stage: BurstStage, numbers: readonly string[], perSecond: number): Promise<Burst> {
  const watch = watchPressure(stage.database, partsOf(stage));
  const fromMs = performance.now();
  const secondsSince = (): number => (performance.now() - fromMs) / 1_000;
  const answers = await offerNumbers(stage, numbers, perSecond);
  const answeredSeconds = secondsSince();
  const pressure = await watch.end();
  const isOver = await workedOff(stage);
  const workedOffSeconds = secondsSince();
  const placed = answers.filter(({ status }) => status === 200);
  return {
    answers: Object.fromEntries(answersByKind(answers)),
    answeredSeconds,
    workedOffSeconds,
    placedPerSecond: placed.length / answeredSeconds,
    answerMs: spread(answers.map(({ ms }) => ms)),
    placedMs: spread(placed.map(({ ms }) => ms)),
    lateMs: spread(answers.map(({ lateMs }) => lateMs)),
    pressure,
    faults: [
      ...(isOver ? [] : ['what it brought was not worked off in two minutes']),
      ...(await judged(stage, numbers, answers)),
    ],
  };
}

function partsOf({ nodes, postgres, emulator }: BurstStage): Part[] {
  return [
    ...nodes.flatMap(({ name, service }) => [
      { name: `control ${name}`, pids: () => pidsOf(service.control.pid()) },
      ...service.media.map((media) => ({ name: `media ${name}`, pids: () => pidsOf(media.pid()) })),
    ]),
    { name: POSTGRES, pids: () => pidsOf(postgres.pid()).flatMap(withChildren) },
    { name: 'the emulated carrier', pids: () => pidsOf(emulator.pid) },
    { name: 'this client and receiver', pids: () => [process.pid] },
  ];
}

const pidsOf = (pid: number | undefined): number[] => (pid === undefined ? [] : [pid]);

/** False: not within the limit. */
async function workedOff({ database }: BurstStage): Promise<boolean> {
  for (
    const untilMs = performance.now() + WORKED_OFF_LIMIT_MS;
    performance.now() < untilMs;
    await pause(LOOK_EVERY_MS)
  ) {
    const [row] = await database.query<{ isOpen: boolean }>(
      `SELECT EXISTS (SELECT 1 FROM calls WHERE status IN ('queued', 'dialing', 'ringing', 'in_progress'))
           OR EXISTS (SELECT 1 FROM webhook_deliveries WHERE state = 'pending') AS "isOpen"`,
    );
    if (row?.isOpen === false) return true;
  }
  return false;
}

async function judged(
  stage: BurstStage,
  numbers: readonly string[],
  answers: readonly OfferedAnswer[],
): Promise<string[]> {
  const wanted = new Set(numbers);
  const dialled = (await stage.emulator.calls())
    .map(({ to }) => `+${to.replace(/^\+/, '')}`)
    .filter((to) => wanted.has(to));
  const rows = await stage.database.query<{ callUuid: string }>(
    'SELECT call_uuid::text AS "callUuid" FROM calls WHERE to_number = ANY ($1)',
    [numbers],
  );
  const requests = answers.map((answer, index) => ({ to: numbers[index]!, answer }));
  const told = new Set(
    stage.receiver.received().flatMap(({ event, callUuid }) => (END_EVENTS.has(event) ? [callUuid] : [])),
  );
  const untold = answers.filter(({ status, body }) => status === 200 && !told.has(body.callUuid ?? '')).length;
  return [
    ...burstFaults({ requests, dialled, stored: new Set(rows.map(({ callUuid }) => callUuid)) }),
    ...(untold === 0 ? [] : [`${untold} were acknowledged and no webhook told of their end`]),
  ];
}

function spread(all: readonly number[]): { p50: number; p99: number; max: number } {
  const [p50 = 0, p99 = 0, max = 0] = all.length === 0 ? [] : percentiles(all, [0.5, 0.99, 1]);
  return { p50, p99, max };
}

function linesOf(burst: Burst, title: string): string[] {
  const shown = ({ p50, p99, max }: Burst['answerMs']): string =>
    `p50 ${p50.toFixed(0)}  p99 ${p99.toFixed(0)}  max ${max.toFixed(0)} ms`;
  const { pressure } = burst;
  const first = firstFull(pressure);
  return [
    `${title}: ${Object.entries(burst.answers)
      .map(([kind, count]) => `${count} × ${kind}`)
      .join(', ')}`,
    `  answered within ${burst.answeredSeconds.toFixed(1)} s, ${burst.placedPerSecond.toFixed(0)} placed a second; all worked off after ${burst.workedOffSeconds.toFixed(1)} s`,
    `  every answer ${shown(burst.answerMs)}; of those placed ${shown(burst.placedMs)}; sent too late ${shown(burst.lateMs)}`,
    ...pressure.parts.map(({ name, ranCores, waitedCores, fullFromMs }) => {
      const full = fullFromMs === null ? '' : `, full from ${(fullFromMs / 1_000).toFixed(1)} s on`;
      return `  ${name.padEnd(26)}ran ${ranCores.toFixed(2)} cores, stood ready ${waitedCores.toFixed(2)}${full}`;
    }),
    `  sessions of PostgreSQL: ${pressure.sessions.map(([what, mean]) => `${what} ${mean.toFixed(1)}`).join(', ')}`,
    `  full first: ${first === null ? 'nothing' : `${first.name}, ${(first.fullFromMs! / 1_000).toFixed(1)} s after the first request`}`,
    ...burst.faults.map((fault) => `  FAULT ${fault}`),
  ];
}
