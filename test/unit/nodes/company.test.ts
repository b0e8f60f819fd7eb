import { expect, test } from 'vitest';
import { createCompany } from '../../../src/nodes/company.ts';

test('a node alone is one and has each turn; in company those count that live, whatever they carry', () => {
  const company = createCompany();
  const turns = (): boolean[] => [0, 1, 2, 3].map((turn) => company.hasTurn(turn));
  expect([company.nodes(), turns()]).toEqual([1, [true, true, true, true]]);
  let runs = [
    { node: 'a', silentMs: 1_000, leaseMs: 8_000 },
    { node: 'a', silentMs: 2_000, leaseMs: 8_000 },
    { node: 'c', silentMs: 1_000, leaseMs: 8_000 },
  ];
  company.follow('b', () => runs);
  expect([company.nodes(), turns()]).toEqual([3, [false, true, false, false]]);
  runs = runs.map((run) => (run.node === 'a' ? { ...run, silentMs: 8_001 } : run));
  expect([company.nodes(), turns()]).toEqual([2, [true, false, true, false]]);
});
