/**
 * What is wrong with how PostgreSQL ran statements: one that reads a table whole that grows with every call, or more
 * rows and pages than its work is worth. Pure; `noted-plans.ts` has the plans, `hot-statements.ts` what is allowed.
 */

/** As `auto_explain` and `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)` write it, as far as it is read here. */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  /** Of one loop. */
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: PlanNode[];
}

/** One execution, of a statement that was sent or of one inside a function or trigger. */
export interface NotedPlan {
  /** In one line. */
  text: string;
  plan: PlanNode;
}

/** Of one execution: rows that were looked at, kept or not, and pages of 8 kB. */
export interface Most {
  rows: number;
  buffers: number;
}

export interface Tables {
  /** Those that grow with every call. */
  growing: ReadonlySet<string>;
  /** The table that a partition belongs to; any other relation is its own. */
  wholeOf(relation: string): string;
  /**
   * A partition of a day that has not come, or that has just begun: as small as it is, it is best read whole, whatever
   * that is of its rows. The full ones beside it are what counts.
   */
  isYoungPart(relation: string): boolean;
}

/** Each text once, with its worst execution: `<what is wrong>`, the statement, its plan. */
export function planFaults(noted: readonly NotedPlan[], tables: Tables, mostOf: (text: string) => Most): string[] {
  const faults = new Map<string, { weight: number; line: string }>();
  for (const { text, plan } of noted) {
    const wrong = whatIsWrong(plan, tables, mostOf(text));
    const weight = wrong.length * 1e9 + buffersOf(plan);
    if (wrong.length === 0 || (faults.get(text)?.weight ?? -1) >= weight) continue;
    faults.set(text, { weight, line: `${wrong.join('; ')}\n  ${text}\n${planLines(plan).join('\n')}` });
  }
  return [...faults.values()].map(({ line }) => line);
}

function whatIsWrong(plan: PlanNode, tables: Tables, most: Most): string[] {
  const scans = nodesOf(plan).filter(
    (node) => isScan(node) && !(isWhole(node) && tables.isYoungPart(relationOf(node))),
  );
  const whole = new Set(
    scans
      .filter(isWhole)
      .map((node) => tables.wholeOf(relationOf(node)))
      .filter((table) => tables.growing.has(table)),
  );
  const rows = scans.reduce((sum, node) => sum + rowsAt(node), 0);
  const buffers = buffersOf(plan);
  return [
    ...(whole.size > 0 ? [`reads the whole of ${[...whole].join(', ')}`] : []),
    ...(rows > most.rows
      ? [`looks at ${Math.round(rows)} rows of ${tablesIn(plan, tables)}, ${most.rows} at most`]
      : []),
    ...(buffers > most.buffers
      ? [`touches ${buffers} pages of ${tablesIn(plan, tables)}, ${most.buffers} at most`]
      : []),
  ];
}

/** With those below it, and without those of its triggers, whose statements stand for themselves. */
function buffersOf(plan: PlanNode): number {
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
}

const nodesOf = (plan: PlanNode): PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** What writes a table names it too, and reads none of it. */
const isScan = (node: PlanNode): boolean => node['Relation Name'] !== undefined && node['Node Type'] !== 'ModifyTable';
const isWhole = (node: PlanNode): boolean => node['Node Type'].endsWith('Seq Scan');
const relationOf = (node: PlanNode): string => node['Relation Name'] ?? '';

function rowsAt(node: PlanNode): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return ((node['Actual Rows'] ?? 0) + removed) * (node['Actual Loops'] ?? 0);
}

function tablesIn(plan: PlanNode, tables: Tables): string {
  const heaviest = nodesOf(plan)
    .filter(isScan)
    .toSorted((left, right) => rowsAt(right) - rowsAt(left));
  return tables.wholeOf(heaviest[0]?.['Relation Name'] ?? 'no table');
}

function planLines(plan: PlanNode, depth = 1): string[] {
  const [index, relation] = [plan['Index Name'], plan['Relation Name']];
  const what = `${plan['Node Type']}${index === undefined ? '' : ` by ${index}`}${relation === undefined ? '' : ` on ${relation}`}`;
  const line = `${'  '.repeat(depth)}-> ${what} (${Math.round(rowsAt(plan))} rows, ${buffersOf(plan)} pages)`;
  return [line, ...(plan.Plans ?? []).flatMap((below) => planLines(below, depth + 1))];
}
