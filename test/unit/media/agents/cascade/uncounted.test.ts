/** The limits of a call hold where nobody says what was used: servers that do not count, answers that were dropped. */
import { expect, test } from 'vitest';
import type { CascadeAgent } from '../../../../../media/contract/agent-definition.ts';
import { AgentBench, type Answer, fails, says } from './agent-bench.ts';

const LIMITED: Partial<CascadeAgent> = {
  limits: { tokens: 5_000 },
  think: [{ connection: 'primary', model: 'big' }],
};

/** What it uses is not told. */
const uncounted = (answer: Answer): Answer =>
  answer.map(({ afterMs, chunk }) => ({ afterMs, chunk: chunk.type === 'done' ? { ...chunk, usage: null } : chunk }));

function turnsUntilTheEnd(answer: Answer, turn: (bench: AgentBench) => void): number {
  const bench = new AgentBench(() => answer, LIMITED);
  bench.settle();
  let turns = 0;
  while (bench.ends.length === 0 && turns < 60) {
    turns++;
    turn(bench);
  }
  expect(bench.warnings).toContain('llm_limit');
  return turns;
}

test('of a server that tells no usage', () => {
  const turns = turnsUntilTheEnd(uncounted(says('It comes tomorrow.')), (bench) => {
    bench.hears('Where is my order?');
    bench.settle();
  });
  expect(turns).toBeGreaterThan(5);
  expect(turns).toBeLessThan(30);
});

test('of answers that the caller breaks off', () => {
  const long = says('It comes tomorrow at noon, and there is more to be said of it.', 300, 200);
  const turns = turnsUntilTheEnd(long, (bench) => {
    bench.hears('Where is my order?');
    if (bench.ends.length === 0 && !bench.warnings.includes('llm_limit')) {
      bench.runUntil('speech', () => bench.isSpeaking);
      bench.interrupts(null);
    } else bench.settle();
  });
  expect(turns).toBeLessThan(30);
});

test('nothing is counted of a model that never answered', () => {
  const bench = new AgentBench((_request, model) => (model === 0 ? fails(50) : says('Yes.')), {
    limits: { tokens: 5_000 },
  });
  bench.settle();
  bench.hears('Where is my order?');
  bench.settle();
  expect((bench.agent.state() as { tokens: number }).tokens).toBe(110);
});
