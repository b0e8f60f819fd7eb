/**
 * `npm run fault -- chaos threads`: twenty conversations, five deaths, a table. `thread-deaths.ts` does one of them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '../../../bench/harness/gateway.ts';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { percentile } from '../../../bench/harness/percentile.ts';
import { injectable, THREAD_DEATHS } from '../nemesis/thread-faults.ts';
import { agreeingCallee, conversationAgent, INTENTS } from './conversation-agent.ts';
import { runThreadDeath, type ThreadDeathReport } from './thread-deaths.ts';

const SPACING_MS = 250;

export interface ThreadScenarioOptions {
  conversations: number;
  say(line: string): void;
}

/** True when no call was lost and no turn is missing. */
export async function runThreadScenario({ conversations, say }: ThreadScenarioOptions): Promise<boolean> {
  Object.assign(process.env, injectable());
  const numbers = Array.from({ length: conversations }, (_, at) => `+1415555${String(1000 + at)}`);
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-chaos-threads-'));
  const gateway = await startGateway({
    dataDir,
    agent: conversationAgent,
    personas: numbers.map((number) => agreeingCallee(number)),
    settings: { PARLEY_PIPELINE_THREADS: '1' },
    concurrentCalls: conversations * 2,
    callsPerSecond: conversations,
    volatileDatabase: true,
    keepAudio: false,
    log: say,
  });
  const database = openPatientDatabase(gateway.service.databaseUrl, 2);
  const reports: ThreadDeathReport[] = [];
  try {
    for (const death of THREAD_DEATHS) {
      const report = await runThreadDeath({
        gateway,
        database,
        numbers,
        death,
        intents: INTENTS,
        spacingMs: SPACING_MS,
        // In the middle: the first call is at its second question, the last one has just begun.
        afterMs: 4_000,
      });
      reports.push(report);
      say(lineOf(report));
      for (const what of [...report.lost, ...report.holes, ...report.reconnected]) say(`    ${what}`);
    }
  } finally {
    await database.close();
    await gateway.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  return reports.every((report) => report.lost.length + report.holes.length + report.reconnected.length === 0);
}

function lineOf(report: ThreadDeathReport): string {
  const { death, calls, lost, holes, reconnected, gapsMs, answers, warnings } = report;
  const gaps = [...gapsMs].sort((a, b) => a - b).map((gap) => Math.round(gap));
  return [
    death.padEnd(14),
    `${calls} conversations, ${lost.length} lost, ${holes.length} with a hole, ${reconnected.length} reconnected, ${gaps.length} moved;`,
    `gap p50 ${percentile(gaps, 0.5)} ms, p95 ${percentile(gaps, 0.95)} ms, longest ${percentile(gaps, 1)} ms`,
    `[${gaps.join(' ')}]; ${answers.understood} of ${answers.spoken} answers understood,`,
    `warnings ${JSON.stringify(warnings)}`,
  ].join(' ');
}
