/** `parley migrate`: the database's newest schema, without a service. */
import type { Command } from 'commander';
import { migrate } from '../store/migrate.ts';
import type { CommandIo } from './command-io.ts';

export function addMigrateCommand(program: Command, io: CommandIo): void {
  program
    .command('migrate')
    .description('bring the database to the newest schema (the service does so when it starts)')
    .action(async () => {
      await migrate(io.settings().databaseUrl);
      io.print({ migrated: true }, ['The database has the newest schema.']);
    });
}
