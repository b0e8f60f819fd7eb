import { describe, expect, test } from 'vitest';
import { parsePersonas, personaFor } from '../../../bench/emulators/persona.ts';
import { createRandom } from '../../../bench/harness/seeded-random.ts';
import type { Service } from '../../../src/supervisor/service.ts';
import { personasOf, planWorkload } from '../../fault/chaos/workload.ts';
import { runNemesis } from '../../fault/nemesis/nemesis.ts';
import { type NemesisStep, planOnceEach, planRounds, type Victim } from '../../fault/nemesis/nemesis-plan.ts';

const plan = (seed: number) =>
  planRounds({ durationMs: 140_000, everyMs: 7_000, mediaProcesses: 2, random: createRandom(seed) });

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

describe('a schedule in which each comes once', () => {
  const draw = (seed: number, hasQueueServer = true): NemesisStep[] =>
    planOnceEach({ random: createRandom(seed), lengthMs: 10_000, hasQueueServer });

  test('has every kind, in time, in another order for another seed and in the same for the same', () => {
    const kindsOf = (seed: number) => draw(seed).map(({ victim, act }) => (victim === 'receiver' ? act : victim));
    expect(kindsOf(1)).not.toEqual(kindsOf(2));
    expect(kindsOf(1).sort()).toEqual(['control', 'database', 'fail', 'hang', 'media', 'queue', 'refuse']);
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
    for (const [index, { atMs }] of draw(3).entries()) {
      expect(atMs).toBeGreaterThanOrEqual(index === 0 ? 0 : draw(3)[index - 1]!.atMs);
      expect(atMs).toBeLessThanOrEqual(10_000);
    }
  });

  test('strikes no queue server where there is none', () => {
    expect(draw(1, false).some(({ victim }) => victim === 'queue')).toBe(false);
  });
});

/** Beyond what any system gives to a process. */
const NOBODYS_ID = 2 ** 31 - 1;

describe('a schedule is carried out', () => {
  const step = (victim: Victim): NemesisStep => ({ victim, act: 'kill', atMs: 0, index: 0, forMs: 0 });
  /** Of processes with these ids; undefined: it is being started again. */
  const serviceOf = (control: number | undefined, database?: number): Service => {
    const child = (pid: number | undefined) => ({ pid: () => pid });
    return { control: child(control), postgres: child(database), media: [] } as unknown as Service;
  };
  const run = (service: Service, ...victims: Victim[]) => {
    const said: string[] = [];
    const missed = runNemesis({ service }, victims.map(step), (line) => said.push(line));
    return { said, missed };
  };

  test('with a victim that is not there, or just went, counted as missed', async () => {
    const { missed, said } = run(serviceOf(undefined, NOBODYS_ID), 'control', 'media', 'database');
    expect(await missed).toBe(3);
    expect(said.map((line) => line.includes(' missed: '))).toEqual([true, true, true]);
  });

  test('and a step that fails for another reason is no victim that was gone', async () => {
    const noId = 2 ** 40;
    await expect(run(serviceOf(noId), 'control').missed).rejects.toThrow();
    await expect(run(serviceOf(undefined), 'queue').missed).rejects.toThrow('a queue that this run has not');
    await expect(run(serviceOf(undefined), 'receiver').missed).rejects.toThrow('a receiver that this run has not');
  });
});
