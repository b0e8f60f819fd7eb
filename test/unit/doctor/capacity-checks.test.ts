import { describe, expect, test } from 'vitest';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import type { AgentDefinition, ScriptedAgent } from '../../../media/contract/agent-definition.ts';
import { importAgent } from '../../../src/agents/stored-agents.ts';
import { carriedCalls, type MachineShape } from '../../../src/doctor/agent-load.ts';
import { checkCapacity, readAgents } from '../../../src/doctor/capacity-checks.ts';
import { createWorkspace } from '../../../src/workspaces/workspaces.ts';
import { sampleAgent } from '../../support/sample-agent.ts';
import { createTestDatabase } from '../../support/test-database.ts';

const SPEED = { voiceMsPerSecond: 14, recogniserMsPerSecond: 60 };
const MACHINE: MachineShape = {
  cores: 64,
  mediaProcesses: 1,
  pipelineThreads: 60,
  ttsThreads: 1,
  sttThreads: 1,
  mediaCapacityCalls: 100_000,
};
const ONE_SENTENCE = 'This sentence is of a length that makes about five seconds of speech.';

function agent(change: Partial<ScriptedAgent> = {}): ScriptedAgent {
  return sampleAgent({
    greeting: '',
    steps: [{ id: 'only', say: ONE_SENTENCE, expect: 'none', end: { reason: 'agent_hangup' } }],
    ...change,
  });
}

describe('how many calls of an agent a machine carries', () => {
  test('what holds no placeholder costs the voice nothing; what holds one costs its sentence', () => {
    const fixed = carriedCalls(agent(), SPEED, MACHINE);
    expect(fixed.scarce).not.toContain('voice');
    const named = carriedCalls(agent({ greeting: `{{customer_name}}, ${ONE_SENTENCE}` }), SPEED, MACHINE);
    expect(named.scarce).toContain('PARLEY_SPEECH_THREADS');
    // About half of what is said is made anew: 0.7 of a thread, 14 ms a second of it.
    expect(named.calls).toBeGreaterThan(80);
    expect(named.calls).toBeLessThan(110);
    const twice = carriedCalls(agent({ greeting: `{{customer_name}}, ${ONE_SENTENCE}` }), SPEED, {
      ...MACHINE,
      ttsThreads: 2,
    });
    expect(twice.calls).toBeGreaterThanOrEqual(2 * named.calls);
  });

  test('who has to listen more carries less, and a small machine is full before its threads are', () => {
    const replies = [{ intent: 'yes', phrases: ['yes'], goto: 'only' }];
    const listening = agent({ steps: [{ id: 'only', say: ONE_SENTENCE, replies }] });
    const found = carriedCalls(listening, SPEED, MACHINE);
    expect(found.scarce).toContain('PARLEY_LISTEN_THREADS');
    const small = carriedCalls(listening, SPEED, { ...MACHINE, cores: 1 });
    expect(small.scarce).toBe('the processor');
    expect(small.calls).toBeLessThan(found.calls);
    expect(carriedCalls(listening, { ...SPEED, recogniserMsPerSecond: 120 }, MACHINE).calls).toBeLessThan(found.calls);
  });

  test.each([
    ['ttsThreads', 'PARLEY_SPEECH_THREADS'],
    ['sttThreads', 'PARLEY_LISTEN_THREADS'],
  ])('without %s no script is carried, not even one that asks nothing of them', (threads, setting) => {
    const found = carriedCalls(agent(), SPEED, { ...MACHINE, [threads]: 0 });
    expect(found.calls).toBe(0);
    expect(found.scarce).toContain(setting);
  });

  test('the one that costs most is named first, with what is full then', () => {
    const dear = agent({ name: 'Dear', greeting: `{{customer_name}}, ${ONE_SENTENCE}` });
    const [result] = checkCapacity([agent({ name: 'Cheap' }), dear], SPEED, MACHINE);
    expect(result?.level).toBe('ok');
    expect(result?.detail).toMatch(/^about \d+ of "Dear", then the voice .* is full; about \d+ of "Cheap"/);
    expect(result?.detail).toContain('14 ms to say and 60 ms to hear');
    expect(checkCapacity([], SPEED, MACHINE)[0]?.detail).toContain('no agents');
    const free = { kind: 'cascade', name: 'Free' } as AgentDefinition;
    expect(checkCapacity([free, free], SPEED, MACHINE)[0]?.detail).toMatch(/^none of the 2 agents follows a script, /);
  });
});

test('the agents are those that are stored, each as it is now, of every workspace', async () => {
  const server = await createTestDatabase();
  const database = openPatientDatabase(server.connectionString, 2);
  try {
    for (const slug of ['acme', 'other']) {
      await createWorkspace(database, { slug, name: slug });
      await importAgent(database, { slug, definition: sampleAgent({ name: `of ${slug}` }) });
    }
    const tone = { kind: 'tone', name: 'Tone', direction: 'outbound', toneHz: 440 } as const;
    await importAgent(database, { slug: 'acme', definition: tone });
    expect((await readAgents(database)).map(({ name }) => name).sort()).toEqual(['Tone', 'of acme', 'of other']);
  } finally {
    await database.close();
    await server.close();
  }
});
