/** `parley analysis …`: what was found in a call, and reading it once more. */
import type { Command } from 'commander';
import { systemClock } from '../../media/contract/clock.ts';
import { createGuardedClient } from '../../media/net/guarded-client.ts';
import { analyseAgain } from '../analysis/analyse-again.ts';
import { type CallWarning, codeOf } from '../calls/call-warnings.ts';
import type { Findings } from '../calls/findings.ts';
import { type LiveCall, readCall } from '../calls/live-call.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import type { CommandIo } from './command-io.ts';
import { guardOf } from './model-commands.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function addAnalysisCommands(program: Command, io: CommandIo): void {
  const analysis = program.command('analysis').description('what was found in a call');

  analysis
    .command('show <slug> <call-id>')
    .description('summary, intent, data and the quotes that show why')
    .action(async (slug: string, callId: string) => {
      const call = await findCall(io, slug, callId);
      const { callUuid, analysisStatus, warnings } = call;
      const shown = { callUuid, analysisStatus, analysis: call.analysis, warnings: analysisWarnings(warnings) };
      io.print(shown, [`analysis ${analysisStatus}`, ...linesOf(call.analysis), ...warningLines(warnings)]);
    });

  analysis
    .command('run <slug> <call-id>')
    .description("read a finished call once more, by the workspace's model if it has one; sends no webhook")
    .option('--heuristic', 'by the local heuristic')
    .action(async (slug: string, callId: string, options: { heuristic?: boolean }) => {
      const call = await findCall(io, slug, callId);
      const http = createGuardedClient({ guard: guardOf(io), clock: systemClock });
      try {
        const done = await analyseAgain(
          { database: io.database(), clock: systemClock, sealer: options.heuristic ? null : io.opener(), http },
          { workspaceId: call.workspaceId, callUuid: call.callUuid, by: io.by() },
        );
        if (done.kind !== 'done') throw new OperatorError('refused', REFUSALS[done.kind]);
        const { findings, warnings, modelFault } = done.analysis;
        io.print({ callUuid: call.callUuid, analysis: findings, warnings, modelFault }, [
          ...linesOf(findings),
          ...warningLines(warnings),
          ...(modelFault === null ? [] : [`the model did not serve: ${modelFault}`]),
        ]);
      } finally {
        await http.close();
      }
    });
}

const REFUSALS = {
  unknown_call: 'There is no such call any more.',
  live: 'The call has not ended.',
  pending: 'The service is about to analyse it; look again in a moment.',
  unanswered: 'Nobody answered the call, so there is nothing to analyse.',
  deleted: 'The transcript was deleted, so there is nothing to analyse.',
} as const;

async function findCall(io: CommandIo, slug: string, callId: string): Promise<LiveCall> {
  const { id } = await findWorkspace(io.database(), slug);
  const call = UUID.test(callId) ? await readCall(io.database(), id, callId) : undefined;
  if (call !== undefined) return call;
  throw new OperatorError('not_found', `Workspace '${slug}' has no call '${callId}'`, `see: parley call list ${slug}`);
}

function linesOf(findings: Findings | null): string[] {
  if (findings === null) return [];
  const { summary, intent, intentConfidence, sentiment, successful, successReason, data, evidence } = findings;
  const success = successful === null ? 'not to be told' : successful ? 'yes' : 'no';
  return [
    summary,
    `intent      ${intent}${intentConfidence === null ? '' : ` (${intentConfidence})`}`,
    `sentiment   ${sentiment}`,
    `successful  ${success}${successReason === null ? '' : `: ${successReason}`}`,
    `disposition ${findings.disposition ?? '-'}, language ${findings.language ?? '-'}, read by ${findings.model}`,
    ...Object.entries(data).map(([name, value]) => `data        ${name} = ${JSON.stringify(value)}`),
    ...evidence.map(({ turnId, quote }) => `evidence    ${turnId} “${quote}”`),
  ];
}

function analysisWarnings(warnings: readonly CallWarning[]): string[] {
  return warnings.map(codeOf).filter((code) => code.startsWith('analysis_'));
}

function warningLines(warnings: readonly CallWarning[]): string[] {
  return analysisWarnings(warnings).map((code) => `warning     ${code}`);
}
