/**
 * One run: a service of its own, a call that warms it up, a while in which nothing happens, and the calls. What a call
 * costs is what the calls cost less what the same time costs without them.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { packageRoot } from '../../src/config/built-entry.ts';
import type { PersonaInput } from '../emulators/persona.ts';
import type { Gateway, startGateway } from '../harness/gateway.ts';
import { between, type Cost, PostgresCounts, SETTLE_MS } from './counts.ts';
import { readingAgent } from './reading-agent.ts';

export interface RunResult {
  /** Of one call, without what the service does anyway. */
  call: Omit<Cost, 'byText'>;
  /** A second without calls. */
  idle: Omit<Cost, 'byText'>;
  /** Of all calls: each text, and how often and how long a call. */
  byText: { text: string; calls: number; ms: number }[];
}

/** Calls begin within so long, evenly. */
const SPREAD_MS = 10_000;
const IDLE_MS = 24_000;
const NUMBER = '+14155550123';
const NO_LIMIT = 100_000;
/** No call is over before; then it is looked each so often whether all are. */
const CALL_MS = 25_000;
const LOOK_EVERY_MS = 2_000;

/** `root`: a built clone, whose service is measured. */
export async function measure(root: string, calls: number): Promise<RunResult> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-database-'));
  const { agent, personas } = workload(calls);
  const harness = (await import(pathToFileURL(join(root, 'dist/bench/harness/gateway.js')).href)) as {
    startGateway: typeof startGateway;
  };
  const gateway = await harness.startGateway({
    dataDir,
    agent,
    personas,
    concurrentCalls: NO_LIMIT,
    callsPerSecond: NO_LIMIT,
    settings: { PARLEY_LOG_LEVEL: 'error' },
    keepAudio: false,
    log: () => {},
  });
  try {
    const postgres = gateway.service.postgres!;
    const counts = await PostgresCounts.open(gateway.service.databaseUrl, () =>
      process.kill(postgres.pid()!, 'SIGINT'),
    );
    await pause(5_000);
    await holdCalls(gateway, counts, 1);
    await pause(SETTLE_MS);

    const idleFrom = await counts.read();
    await pause(IDLE_MS);
    const from = await counts.read();
    const fromMs = performance.now();
    await holdCalls(gateway, counts, calls);
    await pause(SETTLE_MS);
    const to = await counts.read();
    const seconds = (performance.now() - fromMs) / 1_000;
    await counts.close();

    const idle = scaled(between(idleFrom, from), 1_000 / IDLE_MS);
    const spent = between(from, to);
    return {
      idle: withoutTexts(idle),
      call: withoutTexts(scaled(less(spent, scaled(idle, seconds)), 1 / calls)),
      byText: [...spent.byText]
        .map(([text, { calls: times, ms }]) => {
          const own = idle.byText.get(text);
          return {
            text,
            calls: (times - (own?.calls ?? 0) * seconds) / calls,
            ms: (ms - (own?.ms ?? 0) * seconds) / calls,
          };
        })
        .filter(({ calls: times }) => times > 0.005)
        .sort((one, other) => other.calls - one.calls),
    };
  } finally {
    await gateway.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** One call is the demo's conversation; many are read to, because so many recognisers fit on few machines. */
function workload(calls: number): { agent: AgentDefinition; personas: PersonaInput[] } {
  const read = (path: string): unknown => JSON.parse(readFileSync(join(packageRoot(), path), 'utf8'));
  if (calls === 1) {
    return {
      agent: read('bench/demo/agent.json') as AgentDefinition,
      personas: read('bench/emulators/personas/demo.json') as PersonaInput[],
    };
  }
  return { agent: readingAgent, personas: [{ kind: 'silent', name: 'listener', number: NUMBER, ringMs: 2_500 }] };
}

async function holdCalls(
  { client, agentId, enterprise, lineId: from }: Gateway,
  counts: PostgresCounts,
  calls: number,
): Promise<void> {
  const placed = Array.from({ length: calls }, async (_none, index) => {
    await pause((index * SPREAD_MS) / calls);
    const { body } = await client.place({ to: NUMBER, agentId, enterprise, from, name: 'Dana' });
    if (body.callUuid === undefined) throw new Error(`a placement was refused: ${body.message}`);
  });
  await Promise.all(placed);
  // Nobody asks the service how it goes: that would be counted.
  await pause(CALL_MS);
  while (!(await counts.allSettled())) await pause(LOOK_EVERY_MS);
}

function scaled(cost: Cost, factor: number): Cost {
  const byText = [...cost.byText].map(
    ([text, { calls, ms }]) => [text, { calls: calls * factor, ms: ms * factor }] as const,
  );
  return { ...numbersOf(cost, (value) => value * factor), byText: new Map(byText) };
}

function less(cost: Cost, idle: Cost): Cost {
  return { ...numbersOf(cost, (value, name) => value - idle[name]), byText: cost.byText };
}

const NUMBERS = ['commits', 'sessions', 'statements', 'walBytes', 'controlCpuMs', 'postgresCpuMs'] as const;
type Numbers = Omit<Cost, 'byText'>;

function numbersOf(cost: Cost, change: (value: number, name: keyof Numbers) => number): Numbers {
  return Object.fromEntries(NUMBERS.map((name) => [name, change(cost[name], name)])) as unknown as Numbers;
}

function withoutTexts(cost: Cost): Numbers {
  return numbersOf(cost, (value) => value);
}
