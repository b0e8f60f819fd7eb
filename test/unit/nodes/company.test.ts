import { expect, test } from 'vitest';
import { createCompany } from '../../../src/nodes/company.ts';

test('a node alone is one and the first; in company those count that live, whatever they carry', () => {
  const company = createCompany();
  expect([company.nodes(), company.isFirst()]).toEqual([1, true]);
  let runs = [
    { node: 'a', silentMs: 1_000, leaseMs: 8_000 },
    { node: 'a', silentMs: 2_000, leaseMs: 8_000 },
    { node: 'c', silentMs: 1_000, leaseMs: 8_000 },
  ];
  company.follow('b', () => runs);
  expect([company.nodes(), company.isFirst()]).toEqual([3, false]);
  runs = runs.map((run) => (run.node === 'a' ? { ...run, silentMs: 8_001 } : run));
  expect([company.nodes(), company.isFirst()]).toEqual([2, true]);
});
