/** `parley migrate`: the database's newest schema, without a service. A job before an upgrade runs it. */
import { type Command, InvalidArgumentError } from 'commander';
import { migrate } from '../store/migrate.ts';
import type { CommandIo } from './command-io.ts';

const GIVE_UP_AFTER_SECONDS = 600;

export function addMigrateCommand(program: Command, io: CommandIo): void {
  program
    .command('migrate')
    .description('bring the database to the newest schema (the service does so when it starts)')
    .option(
      '--wait <seconds>',
      'how long to try where a table is in use, or another process migrates',
      readSeconds,
      GIVE_UP_AFTER_SECONDS,
    )
    .action(async ({ wait }: { wait: number }) => {
      const say = (line: string): void => io.terminal.writeError(`${line}\n`);
      const { done, gaveWay, newer } = await migrate(io.settings().databaseUrl, { giveUpAfterMs: wait * 1_000, say });
      const lines = done.map((name) => `done: ${name}`);
      if (gaveWay > 0) lines.push(`It gave way ${gaveWay} times to others who used a table.`);
      lines.push(
        newer.length === 0
          ? 'The database has the newest schema.'
          : `The database has all that this version knows, and of a later one: ${newer.join(', ')}.`,
      );
      io.print({ migrated: true, done, gaveWay, newer }, lines);
    });
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError('must be a whole number of seconds, 86400 at most.');
}
