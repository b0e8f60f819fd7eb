/** `parley retention …`: how long what is kept, legal holds, and the receipts of what was removed. */
import type { Command } from 'commander';
import { pino } from 'pino';
import { systemClock } from '../../media/contract/clock.ts';
import { CALL_PARTS, type CallPart } from '../calls/call-parts.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { listHolds, placeHold, releaseHold } from '../retention/legal-holds.ts';
import { listReceipts } from '../retention/purge-receipts.ts';
import { createRetentionPurge } from '../retention/retention-purge.ts';
import { type RetentionScope, readRetention, setRetention } from '../retention/retention-rules.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { type CommandIo, dateText, given, table, wholeNumber } from './command-io.ts';

type Days = Partial<Record<CallPart, string>>;

export function addRetentionCommands(program: Command, io: CommandIo): void {
  const retention = program.command('retention').description('how long what is kept of calls');

  retention
    .command('show <slug>')
    .description('days by kind')
    .option('--agent <id>', 'as they hold for the calls of one agent')
    .action(async (slug: string, options: { agent?: string }) => {
      const kept = await readRetention(io.database(), await scopeOf(io, slug, options.agent));
      io.print(kept, linesOf(kept));
    });

  const set = retention
    .command('set <slug>')
    .description(
      'set days by kind, for the workspace or one agent; 0 removes at the next hour, "default" takes the rule away',
    )
    .option('--agent <id>', 'only for the calls of one agent');
  for (const kind of CALL_PARTS) set.option(`--${kind} <days>`, 'from 0 to 3650, or default');
  set.action(async (slug: string, options: Days & { agent?: string }) => {
    const { agent, ...days } = options;
    const change = Object.fromEntries(
      Object.entries(given(days)).map(([kind, text]) => [kind, daysOf(text as string)]),
    );
    if (Object.keys(change).length === 0) throw new OperatorError('invalid', `Name a kind, like --recording 30.`);
    const kept = await setRetention(io.database(), await scopeOf(io, slug, agent), change, io.by());
    io.print(kept, linesOf(kept));
  });

  retention
    .command('hold <slug> [call-id]')
    .description('keep a call, or every call of the workspace, whatever the days say and whoever asks')
    .requiredOption('--reason <text>', 'why; it is audited')
    .action(async (slug: string, callUuid: string | undefined, options: { reason: string }) => {
      const { id: workspaceId } = await findWorkspace(io.database(), slug);
      const at = new Date(systemClock.epochMs());
      const hold = { workspaceId, callUuid: callUuid ?? null, reason: options.reason, by: io.by(), at };
      const placed = await placeHold(io.database(), hold);
      io.print(placed, [`Held as ${placed.id}; release it with: parley retention release ${slug} ${placed.id}`]);
    });

  retention
    .command('release <slug> <hold-id>')
    .description('end a hold; what is due is removed at the next hour')
    .action(async (slug: string, id: string) => {
      const { id: workspaceId } = await findWorkspace(io.database(), slug);
      await releaseHold(io.database(), { workspaceId, id, by: io.by(), at: new Date(systemClock.epochMs()) });
      io.print({ released: id }, ['Released.']);
    });

  retention
    .command('holds <slug>')
    .description('the holds that live')
    .action(async (slug: string) => {
      const { id: workspaceId } = await findWorkspace(io.database(), slug);
      const holds = await listHolds(io.database(), workspaceId);
      const rows = holds.map((one) => [
        one.id,
        one.callUuid ?? 'every call',
        dateText(one.placedAt),
        one.placedBy,
        one.reason,
      ]);
      io.print(holds, table(['HOLD', 'CALL', 'SINCE', 'BY', 'REASON'], rows, `Nothing of '${slug}' is held.`));
    });

  retention
    .command('receipts <slug> [call-id]')
    .description('what was removed, when and why')
    .option('--limit <receipts>', 'how many', wholeNumber, 50)
    .action(async (slug: string, callUuid: string | undefined, options: { limit: number }) => {
      const { id: workspaceId } = await findWorkspace(io.database(), slug);
      const receipts = await listReceipts(io.database(), {
        workspaceId,
        callUuid: callUuid === undefined ? undefined : [callUuid],
        limit: options.limit,
      });
      const rows = receipts.map((one) => [one.callUuid, dateText(one.at), one.kinds.join(','), one.cause, one.actor]);
      io.print(receipts, table(['CALL', 'REMOVED', 'KINDS', 'CAUSE', 'BY'], rows, `Nothing of '${slug}' was removed.`));
    });

  retention
    .command('purge <slug>')
    .description('remove now what is due; the service does so each hour')
    .action(async (slug: string) => {
      const { id: workspaceId } = await findWorkspace(io.database(), slug);
      const deps = {
        database: io.database(),
        clock: systemClock,
        log: pino({ level: 'silent' }),
        eraser: io.recordings().eraser,
      };
      const purge = createRetentionPurge(deps);
      const { removed } = await purge.run({ workspaceId });
      await purge.close();
      io.print(
        removed,
        CALL_PARTS.map((kind) => `${kind}: removed of ${removed[kind]} calls`),
      );
    });
}

async function scopeOf(io: CommandIo, slug: string, agentId: string | undefined): Promise<RetentionScope> {
  const { id: workspaceId } = await findWorkspace(io.database(), slug);
  return { workspaceId, agentId: agentId ?? null };
}

function daysOf(text: string): number | null {
  return text === 'default' ? null : wholeNumber(text);
}

function linesOf(kept: Record<CallPart, number>): string[] {
  return table(
    ['KIND', 'DAYS'],
    CALL_PARTS.map((kind) => [kind, String(kept[kind])]),
    '',
  );
}
