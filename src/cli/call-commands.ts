/**
 * `parley call …`: the call log for whoever runs the service. Unlike the API it says where recordings lie (sealed:
 * `parley recording get`).
 */
import type { Command } from 'commander';
import { systemClock } from '../../media/contract/clock.ts';
import { recordingPlaces } from '../call-log/call-log-files.ts';
import type { CallFilters } from '../call-log/call-log-query.ts';
import { searchCalls } from '../call-log/call-log-search.ts';
import { recoveriesOf } from '../call-log/call-recovery.ts';
import { failureOf } from '../calls/call-failure.ts';
import { CALL_PARTS, type CallPart } from '../calls/call-parts.ts';
import { type CallRow, readCall, readCalls } from '../calls/call-row.ts';
import { readTurns } from '../calls/call-turns.ts';
import { shownWarning } from '../calls/call-warnings.ts';
import { publicMetadata, secondsBetween } from '../calls/shown-fields.ts';
import { isTerminal } from '../calls/state-machine.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { askForEnd } from '../lifecycle/end-call.ts';
import { deleteCallParts } from '../retention/call-log-delete.ts';
import { costsOf } from '../usage/call-usage.ts';
import { transcriptOf } from '../webhooks/transcript.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { howItWent } from './call-outcome-lines.ts';
import { type CommandIo, dateText, given, listOf, table, wholeNumber } from './command-io.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MOST_LISTED = 200;
const END_LIMIT_MS = 20_000;
const POLL_MS = 250;

interface ListOptions {
  status?: string;
  reason?: string;
  to?: string;
  q?: string;
  after?: string;
  before?: string;
  limit: number;
}

export function addCallCommands(program: Command, io: CommandIo): void {
  const call = program.command('call').description('the calls of a workspace');

  call
    .command('list <slug>')
    .description('the newest calls')
    .option('--status <list>', 'like failed,no_answer')
    .option('--reason <list>', 'ended reasons, like busy')
    .option('--to <number>', 'the number called')
    .option('--q <words>', 'words of transcript, name, number or summary')
    .option('--after <time>', 'made at this time or later, like 2026-11-21 or 2026-11-21T12:00:00Z')
    .option('--before <time>', 'made before it')
    .option('--limit <calls>', `at most ${MOST_LISTED}`, wholeNumber, 20)
    .action(async (slug: string, options: ListOptions) => {
      const { id } = await findWorkspace(io.database(), slug);
      const limit = Math.min(MOST_LISTED, Math.max(1, options.limit));
      const page = await searchCalls(io.database(), {
        workspaceId: id,
        filters: filtersOf(options),
        after: null,
        limit,
      });
      const read = await readCalls(io.database(), id, page.callUuids);
      const calls = page.callUuids.flatMap((callUuid) => read.find((one) => one.callUuid === callUuid) ?? []);
      const rows = calls.map((one) => [
        one.callUuid,
        dateText(one.createdAt),
        one.direction === 'inbound' ? one.fromNumber : one.toNumber,
        one.name,
        one.endedReason === null ? one.status : `${one.status}/${one.endedReason}`,
        secondsText(one),
      ]);
      const lines = table(['CALL', 'MADE', 'NUMBER', 'NAME', 'STATUS', 'TALK'], rows, `'${slug}' has no such calls.`);
      io.print(
        calls.map(shown),
        page.next === null ? lines : [...lines, `There are more; --limit ${MOST_LISTED}, or --before.`],
      );
    });

  call
    .command('show <slug> <call-id>')
    .description('one call with its transcript, and where its recording lies')
    .action(async (slug: string, callId: string) => {
      const { call: found } = await findCall(io, slug, callId);
      const { callUuid, workspaceId } = found;
      const [files, turns, recoveries, costs] = await Promise.all([
        recordingPlaces(io.database(), callUuid),
        readTurns(io.database(), callUuid),
        recoveriesOf(io.database(), [found]),
        costsOf(io.database(), workspaceId, [callUuid]),
      ]);
      const transcript = transcriptOf(turns);
      const went = {
        error: failureOf(found),
        warnings: found.warnings.map(shownWarning),
        recovery: recoveries.get(callUuid) ?? [],
        latency: found.latency,
        cost: costs.get(callUuid) ?? null,
      };
      io.print({ ...shown(found), ...went, transcript, recordings: files }, [
        `${found.callUuid}  ${found.direction}, ${found.fromNumber} to ${found.toNumber} (${found.name})`,
        `made ${dateText(found.createdAt)}, answered ${dateText(found.answeredAt)}, ended ${dateText(found.endedAt)}`,
        `${found.status}${found.endedReason === null ? '' : `: ${found.endedReason}, hung up by ${found.hangupBy ?? 'nobody'}`}; talk ${secondsText(found)}`,
        ...howItWent(went),
        `recording ${found.recordingStatus}${files.map((file) => `\n  ${file}`).join('')}`,
        `transcript ${found.transcriptStatus}${transcript === null ? '' : `\n  ${transcript.replaceAll('\n', '\n  ')}`}`,
      ]);
    });

  call
    .command('hangup <slug> <call-id>')
    .description('end a call; the running service carries it out')
    .action(async (slug: string, callId: string) => {
      const { workspaceId, call: found } = await findCall(io, slug, callId);
      const { callUuid } = found;
      const outcome = await askForEnd(io.database(), { workspaceId, callUuid, by: io.by() });
      const after = outcome === 'asked' ? await waitForEnd(io, workspaceId, callUuid) : found;
      const told = isTerminal(after.status)
        ? `The call is over: ${after.status}/${after.endedReason}.`
        : 'It is asked for and not carried out yet. Is the service running?';
      io.print(shown(after), [
        outcome === 'over' ? `The call was over already: ${after.status}/${after.endedReason}.` : told,
      ]);
    });

  call
    .command('delete <slug> <call-id>')
    .description('remove parts of a finished call for good')
    .requiredOption('--kind <list>', `of ${CALL_PARTS.join(',')}, or all`)
    .action(async (slug: string, callId: string, options: { kind: string }) => {
      const parts = partsOf(options.kind);
      const { workspaceId, call: found } = await findCall(io, slug, callId);
      const { callUuid } = found;
      const deps = { database: io.database(), clock: systemClock, eraser: io.recordings().eraser };
      const outcome = await deleteCallParts(deps, { workspaceId, callUuid, parts, by: io.by() });
      if (outcome === 'not_over') {
        throw new OperatorError('refused', 'The call has not ended', `first: parley call hangup ${slug} ${callUuid}`);
      }
      if (outcome === 'held') {
        throw new OperatorError('refused', 'The call is under legal hold', `see: parley retention holds ${slug}`);
      }
      io.print({ callUuid, deleted: parts }, [`Deleted of ${callUuid}: ${parts.join(', ')}.`]);
    });
}

function filtersOf(options: ListOptions): CallFilters {
  return given({
    status: options.status === undefined ? undefined : listOf(options.status),
    endedReason: options.reason === undefined ? undefined : listOf(options.reason),
    to: options.to === undefined ? undefined : [options.to],
    q: options.q,
    createdAfter: options.after === undefined ? undefined : timeOf(options.after),
    createdBefore: options.before === undefined ? undefined : timeOf(options.before),
  }) as CallFilters;
}

function timeOf(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime()))
    throw new OperatorError('invalid', `'${text}' is no time like 2026-11-21T12:00:00Z.`);
  return time.toISOString();
}

function partsOf(list: string): CallPart[] {
  const asked = listOf(list);
  const unknown = asked.filter((part) => part !== 'all' && !CALL_PARTS.includes(part as CallPart));
  if (unknown.length > 0 || asked.length === 0) {
    throw new OperatorError('invalid', `--kind takes ${CALL_PARTS.join(', ')} or all, not '${list}'.`);
  }
  return CALL_PARTS.filter((part) => asked.includes('all') || asked.includes(part));
}

async function findCall(io: CommandIo, slug: string, callId: string): Promise<{ workspaceId: string; call: CallRow }> {
  const { id } = await findWorkspace(io.database(), slug);
  const call = UUID.test(callId) ? await readCall(io.database(), id, callId) : undefined;
  if (call === undefined)
    throw new OperatorError(
      'not_found',
      `Workspace '${slug}' has no call '${callId}'`,
      `see: parley call list ${slug}`,
    );
  return { workspaceId: id, call };
}

async function waitForEnd(io: CommandIo, workspaceId: string, callUuid: string): Promise<CallRow> {
  const untilMs = performance.now() + END_LIMIT_MS;
  for (;;) {
    const call = (await readCall(io.database(), workspaceId, callUuid))!;
    if (isTerminal(call.status) || performance.now() > untilMs) return call;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function secondsText(call: CallRow): string {
  const seconds = secondsBetween(call.answeredAt, call.endedAt);
  return seconds === null ? '-' : `${seconds} s`;
}

function shown(call: CallRow): Record<string, unknown> {
  const { callUuid, agentId, direction, toNumber, fromNumber, name, status, endedReason, hangupBy, fault } = call;
  const { createdAt, answeredAt, endedAt, recordingStatus, transcriptStatus, analysisStatus } = call;
  return {
    callUuid,
    agentId,
    direction,
    to: toNumber,
    fromNumber,
    name,
    metadata: publicMetadata(call.metadata),
    status,
    endedReason,
    hangupBy,
    fault,
    createdAt,
    answeredAt,
    endedAt,
    durationSeconds: secondsBetween(answeredAt, endedAt),
    recordingStatus,
    transcriptStatus,
    analysisStatus,
  };
}
