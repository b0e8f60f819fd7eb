/**
 * One run: a gateway, an emulated carrier that fails placements in six ways, and clients at an open-loop rate. Called
 * by `main.ts` and, small, by the test. The carrier's own list of dialled numbers is the truth.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { briefAgent } from '../../../bench/harness/brief-agent.ts';
import type { EmulatedCall } from '../../../bench/harness/emulator-process.ts';
import { type Gateway, startGateway } from '../../../bench/harness/gateway.ts';
import { PATIENCE_MS } from '../../../bench/harness/patience.ts';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { placeAsClient } from '../../harness/placing-client.ts';
import { placementPersonas, planPlacements, WAYS } from './plan.ts';
import { type Ended, faultsOfRun, type PlacementOutcome } from './verdict.ts';

export interface RunOptions {
  placements: number;
  perSecond: number;
  random: () => number;
  /**
   * How long a client with a key repeats, and how long after the last answer the ends are waited for; 0: not at all.
   */
  repeatForMs: number;
  endsWithinMs: number;
  /** How long a phone rings that nobody cancels. */
  ringMs: number;
  /** Default: one of the gateway's own. */
  databaseUrl?: string;
  log(line: string): void;
}

export interface RunReport {
  outcomes: PlacementOutcome[];
  dialled: number;
  faults: string[];
  /** What the generator started later than planned, at most. */
  mostLateMs: number;
}

/**
 * What their clients were told had failed is cancelled within this, however slow the machine; what is not shows in the
 * verdict.
 */
const CANCELLED_WITHIN_MS = PATIENCE_MS / 2;
const LOOK_EVERY_MS = 200;
const NO_LIMIT = 100_000;

export async function runPlacements(options: RunOptions): Promise<RunReport> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-placements-'));
  const gateway = await startGateway({
    dataDir,
    // Nobody answers, so it never speaks.
    agent: briefAgent(),
    personas: placementPersonas(options.ringMs),
    concurrentCalls: NO_LIMIT,
    callsPerSecond: NO_LIMIT,
    settings: {
      PARLEY_LOG_LEVEL: 'silent',
      ...(options.databaseUrl === undefined ? {} : { DATABASE_URL: options.databaseUrl }),
    },
    volatileDatabase: true,
    log: options.log,
  });
  try {
    const { outcomes, mostLateMs } = await placeAll(gateway, options);
    const ended = options.endsWithinMs === 0 ? null : await readEnds(gateway, outcomes, options.endsWithinMs);
    const calls = await callsWhenCancelled(gateway, outcomes);
    const dialled = calls.map(({ to, hangup }) => ({ to, hangupName: hangup?.name ?? null }));
    return { outcomes, dialled: dialled.length, faults: faultsOfRun(outcomes, dialled, ended), mostLateMs };
  } finally {
    await gateway.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function placeAll(
  gateway: Gateway,
  options: RunOptions,
): Promise<{ outcomes: PlacementOutcome[]; mostLateMs: number }> {
  const planned = planPlacements(options.placements, options.random);
  const body = { agentId: gateway.agentId, enterprise: gateway.enterprise, from: gateway.lineId };
  const startMs = performance.now();
  const giveUpAtMs = startMs + (planned.length / options.perSecond) * 1_000 + options.repeatForMs;
  let mostLateMs = 0;
  const running: Promise<PlacementOutcome>[] = [];
  for (const [index, one] of planned.entries()) {
    const dueMs = startMs + (index / options.perSecond) * 1_000;
    const inMs = dueMs - performance.now();
    if (inMs > 1) await wait(inMs);
    mostLateMs = Math.max(mostLateMs, performance.now() - dueMs);
    const outcome = placeAsClient(gateway.client, body, one, { giveUpAtMs });
    running.push(outcome.then((told) => ({ planned: one, ...told })));
  }
  return { outcomes: await Promise.all(running), mostLateMs };
}

/** What the carrier saw, once nothing rings of what a client was told had failed. */
async function callsWhenCancelled(gateway: Gateway, outcomes: readonly PlacementOutcome[]): Promise<EmulatedCall[]> {
  // One that was given no call id was refused before it was dialled.
  const failed = outcomes.filter(
    ({ planned, httpStatus, callUuids }) => httpStatus >= 500 && callUuids.size > 0 && WAYS[planned.way].dials,
  );
  const numbers = new Set(failed.map(({ planned }) => planned.number.slice(1)));
  for (const untilMs = performance.now() + CANCELLED_WITHIN_MS; ; await wait(LOOK_EVERY_MS)) {
    const calls = await gateway.emulator.calls();
    const over = new Set(calls.filter(({ hangup }) => hangup !== null).map(({ to }) => to.replace(/^\+/, '')));
    if ([...numbers].every((number) => over.has(number)) || performance.now() > untilMs) return calls;
  }
}

/** By call: its end and how many terminal events it has. */
async function readEnds(
  gateway: Gateway,
  outcomes: readonly PlacementOutcome[],
  withinMs: number,
): Promise<Map<string, Ended>> {
  const database = openPatientDatabase(gateway.service.databaseUrl);
  const wanted = new Set(outcomes.flatMap(({ callUuids }) => [...callUuids]));
  try {
    for (const untilMs = performance.now() + withinMs; ; await wait(1_000)) {
      const rows = await database.query<{ call_uuid: string; status: string; events: number }>(
        `SELECT c.call_uuid, c.status, count(e.id)::int AS events FROM calls c
           LEFT JOIN webhook_events e ON e.call_uuid = c.call_uuid
                AND e.event IN ('call.completed', 'call.no_answer', 'call.failed')
          WHERE c.ended_at IS NOT NULL GROUP BY c.call_uuid, c.status`,
      );
      const ended = new Map(
        rows.map(({ call_uuid, status, events }) => [
          call_uuid,
          { callUuid: call_uuid, status, terminalEvents: events },
        ]),
      );
      if ([...wanted].every((callUuid) => ended.has(callUuid)) || performance.now() > untilMs) return ended;
    }
  } finally {
    await database.close();
  }
}
