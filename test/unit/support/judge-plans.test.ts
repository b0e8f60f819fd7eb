/** What counts as a bad plan, of plans as PostgreSQL writes them. */
import { describe, expect, it } from 'vitest';
import { type PlanNode, planFaults, type Tables } from '../../support/plans/judge-plans.ts';

const MOST = { rows: 100, buffers: 50 };
const tables: Tables = {
  growing: new Set(['calls']),
  wholeOf: (relation) => relation.replace(/_\d{4}_\d\d_\d\d$/, ''),
  isYoungPart: (relation) => relation === 'calls_2026_11_29',
};

const scan = (relation: string, more: Partial<PlanNode> = {}): PlanNode => ({
  'Node Type': 'Seq Scan',
  'Relation Name': relation,
  'Actual Rows': 1,
  'Actual Loops': 1,
  ...more,
});
const byIndex = (more: Partial<PlanNode> = {}): PlanNode =>
  scan('calls', { 'Node Type': 'Index Scan', 'Index Name': 'calls_pkey', ...more });
const faultsOf = (...plans: PlanNode[]): string[] =>
  planFaults(
    plans.map((plan, index) => ({ text: `SELECT ${index}`, plan })),
    tables,
    () => MOST,
  );

describe('a plan', () => {
  it('that reads a growing table whole is named with its table and its plan, wherever in it that is', () => {
    const [fault, ...more] = faultsOf({ 'Node Type': 'Limit', Plans: [scan('calls')] });
    expect(more).toEqual([]);
    expect(fault?.split('\n')).toEqual([
      'reads the whole of calls',
      '  SELECT 0',
      '  -> Limit (0 rows, 0 pages)',
      '    -> Seq Scan on calls (1 rows, 0 pages)',
    ]);
  });

  it('that would, had there been anything to do, is a bad one too, and so is a parallel one', () => {
    expect(faultsOf(scan('calls', { 'Actual Loops': 0 }))).toHaveLength(1);
    expect(faultsOf(scan('calls', { 'Node Type': 'Parallel Seq Scan' }))).toHaveLength(1);
  });

  it('of a partition counts for its table, but for one in which there is next to nothing yet, of which its pages do', () => {
    expect(faultsOf(scan('calls_2026_11_27'))[0]).toMatch(/^reads the whole of calls\n/);
    expect(faultsOf(scan('calls_2026_11_29', { 'Actual Rows': 1_000 }))).toEqual([]);
    expect(faultsOf(scan('calls_2026_11_29', { 'Shared Hit Blocks': 51 }))[0]).toMatch(/^touches 51 pages of calls/);
  });

  it('that reads a small table whole, or what another part of it made, is a good one', () => {
    expect(faultsOf(scan('agents'), { 'Node Type': 'CTE Scan', 'Actual Rows': 1_000, 'Actual Loops': 1 })).toEqual([]);
  });

  it('may look at 100 rows, with those that it throws away in each of its loops, and touch 50 pages', () => {
    expect(faultsOf(byIndex({ 'Actual Rows': 4, 'Rows Removed by Filter': 6, 'Actual Loops': 10 }))).toEqual([]);
    const [rows] = faultsOf(byIndex({ 'Actual Rows': 4, 'Rows Removed by Filter': 7, 'Actual Loops': 10 }));
    expect(rows).toMatch(/^looks at 110 rows of calls, 100 at most\n/);
    expect(faultsOf(byIndex({ 'Shared Hit Blocks': 50 }))).toEqual([]);
    expect(faultsOf(byIndex({ 'Shared Hit Blocks': 50, 'Shared Read Blocks': 1 }))[0]).toMatch(
      /^touches 51 pages of calls/,
    );
  });

  it('of a statement that ran often is told once, as it was at its worst', () => {
    const noted = [60, 90, 70].map((buffers) => ({ text: 'SELECT', plan: byIndex({ 'Shared Hit Blocks': buffers }) }));
    const faults = planFaults(noted, tables, () => MOST);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(/^touches 90 pages/);
  });
});
