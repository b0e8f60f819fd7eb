/**
 * The service while somebody tries to take its public port from everybody: first one address with more slow requests
 * than there is room for requests, then many addresses with a few each. Honest clients work beside it, and everything
 * of theirs is counted.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../bench/harness/free-port.ts';
import type { Gateway } from '../../bench/harness/gateway.ts';
import { runSiege, type SiegeRun, siegeAgent, siegePersonas, slowClients } from '../../bench/siege/run-siege.ts';
import { loopbackAddresses, WEAPONS } from '../../bench/siege/slow-clients.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway } from '../support/test-gateway.ts';

const CALLS = 4;
const FOR_MS = 3_000;
/** What the whole public port once had room for, and some more. */
const MANY = 1_060;

let gateway: Gateway;
let metricsPort = 0;
const lines: string[] = [];
const dataDir = mkdtempSync(join(tmpdir(), 'parley-siege-'));

beforeAll(async () => {
  metricsPort = await freePort();
  gateway = await startTestGateway({
    dataDir,
    agent: siegeAgent,
    personas: siegePersonas(1_500),
    concurrentCalls: 50,
    callsPerSecond: 50,
    keepAudio: false,
    settings: { PARLEY_METRICS_PORT: String(metricsPort), PARLEY_BODY_SECONDS: '2' },
    log: () => {},
    childOutput: (text) => lines.push(...text.split('\n').filter((line) => line.includes('"budget"'))),
  });
});

afterAll(async () => {
  await gateway.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function expectNothingLost({ tally: { kinds, calls } }: SiegeRun): Promise<void> {
  const refused = [...kinds].flatMap(([kind, of]) => of.refused.map((said) => `${kind}: ${said}`));
  expect(refused).toEqual([]);
  for (const kind of ['/livez', '/readyz', 'keyed request', 'stranger', 'embed session', 'placement', 'event stream']) {
    expect(kinds.get(kind)?.answered, kind).toBeGreaterThan(0);
  }
  // Beside a siege its database may be slow to answer; afterwards it is not.
  await eventually('/readyz to say yes', async () => (await fetch(`${gateway.service.publicUrl}/readyz`)).ok);
  // Every one of its callbacks came through: it rang, was answered, talked and was hung up as the carrier had it.
  expect(calls.map((call) => `${call.status}/${call.endedReason}`)).toEqual(
    new Array<string>(CALLS).fill('completed/user_hangup'),
  );
}

async function refusals(): Promise<Record<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const found = [...text.matchAll(/^parley_media_budget_refusals_total\{.*?budget="(\w+)".*?\} (\d+)/gm)];
  return Object.fromEntries(found.map(([, budget, count]) => [budget, Number(count)]));
}

describe('a public port under siege', () => {
  test('by one address with 1,060 slow bodies of embed sessions: nobody else is refused anything', async () => {
    const run = await runSiege({
      gateway,
      attack: slowClients({ weapons: [WEAPONS.session], sources: ['127.0.0.2'], atOnce: MANY, inAll: 6_000 }),
      forMs: FOR_MS,
      calls: CALLS,
    });
    await expectNothingLost(run);
    expect(run.siege?.opened).toBeGreaterThanOrEqual(MANY);
    // Told why, not left hanging.
    expect(run.siege?.ends.get('429')).toBeGreaterThan(100);
    const told = lines.map((line) => JSON.parse(line) as { address?: string; budget?: string });
    expect(told).toContainEqual(expect.objectContaining({ address: '127.0.0.2', budget: 'bodies' }));
    expect(told.length).toBeLessThanOrEqual(10);
    const counted = await eventually('its refusals in the metrics', async () => {
      const of = await refusals();
      return (of['bodies'] ?? 0) > 100 ? of : null;
    });
    expect(counted['room']).toBe(0);
  });

  test('by 60 addresses with everything that is slow: probes, callbacks and keys have lanes of their own', async () => {
    const run = await runSiege({
      gateway,
      attack: slowClients({
        weapons: Object.values(WEAPONS),
        sources: loopbackAddresses(60),
        atOnce: 2 * MANY,
        inAll: 8_000,
      }),
      forMs: FOR_MS,
      calls: CALLS,
    });
    await expectNothingLost(run);
    expect(run.siege?.opened).toBeGreaterThanOrEqual(2 * MANY);
  });
});
