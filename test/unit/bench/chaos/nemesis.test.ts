import { expect, test } from 'vitest';
import { planNemesis } from '../../../../bench/chaos/nemesis.ts';
import { personasOf, planWorkload } from '../../../../bench/chaos/workload.ts';
import { parsePersonas, personaFor } from '../../../../bench/emulators/persona.ts';
import { createRandom } from '../../../../bench/harness/seeded-random.ts';

const plan = (seed: number) =>
  planNemesis({ durationMs: 140_000, everyMs: 7_000, mediaProcesses: 2, random: createRandom(seed) });

test('one seed makes one schedule, another seed another', () => {
  expect(plan(1)).toEqual(plan(1));
  expect(plan(1)).not.toEqual(plan(2));
});

test('140 s of a death every 7 s meet each kind of process and of death, at rising times', () => {
  const steps = plan(3);
  expect(steps.length).toBeGreaterThanOrEqual(14);
  expect([...new Set(steps.map(({ victim }) => victim))].sort()).toEqual(['control', 'database', 'media', 'pipeline']);
  expect(steps.map(({ atMs }) => atMs)).toEqual(steps.map(({ atMs }) => atMs).sort((a, b) => a - b));
  for (const { index, forMs } of steps) {
    expect([0, 1]).toContain(index);
    expect(forMs).toBeGreaterThanOrEqual(500);
    expect(forMs).toBeLessThanOrEqual(4_000);
  }
});

test('a tenth of 1,000 planned calls goes to phones that are busy, unanswered or failing', () => {
  const personas = parsePersonas(personasOf());
  const calls = planWorkload({ calls: 1_000, durationMs: 140_000, random: createRandom(1) });
  const unlucky = calls.filter(({ number }) => {
    const persona = personaFor(personas, number)!;
    return persona.outcome !== 'answer' || persona.faults.placement !== undefined;
  });
  expect(unlucky.length).toBeGreaterThan(75);
  expect(unlucky.length).toBeLessThan(125);
  expect(new Set(calls.map(({ number }) => number)).size).toBe(1_000);
});
