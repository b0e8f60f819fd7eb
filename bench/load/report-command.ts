/**
 * `report run.json`: a stored run once more, as a table, as HTML, and against conditions. Exit codes as those of a run:
 * 0, 1 where a `--fail-if` is true, 2 wrong use, 3 where the tool was not able to judge.
 */
import type { Command } from 'commander';
import { writeReport } from './report/write-report.ts';
import { ConditionFault, judgeCondition, parseCondition } from './result/fail-if.ts';
import { ResultFault, readResult } from './result/read-result.ts';
import { tableOf } from './result/table.ts';

export function addReportCommand(program: Command): void {
  program
    .command('report')
    .description('Show a stored run: its table, its HTML, and whether it fails by conditions of yours.')
    .argument('<run.json>', 'the result')
    .option('--html <path>', 'write the report there')
    .option(
      '--fail-if <condition>',
      'exit with 1 where this is true, such as "reply.p95>900ms"; may be given several times',
      (condition: string, others: string[]) => [...others, condition],
      [],
    )
    .action((path: string, options: { html?: string; failIf: string[] }) => {
      process.exitCode = reportFile(path, options);
    });
}

function reportFile(path: string, { html, failIf }: { html?: string; failIf: string[] }): number {
  try {
    const conditions = failIf.map(parseCondition);
    const result = readResult(path);
    const judged = conditions.map((condition) => judgeCondition(condition, result));
    process.stdout.write(tableOf(result, judged));
    if (html !== undefined) writeHtml(() => writeReport(result, html, judged), html);
    if (!result.generator.judged) return 3;
    return judged.some(({ isTrue }) => isTrue) ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ResultFault || error instanceof ConditionFault)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
}

function writeHtml(write: () => void, path: string): void {
  try {
    write();
  } catch (error) {
    throw new ResultFault(`${path} cannot be written: ${(error as Error).message}`);
  }
  process.stdout.write(`written: ${path}\n`);
}
