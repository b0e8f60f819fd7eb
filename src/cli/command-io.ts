/**
 * What every command gets: the database and the sealer, opened when first asked for, and a way to print. A command gives
 * values and says how people read them; `--json` prints the values as they are.
 */
import { pino } from 'pino';
import { systemClock } from '../../media/contract/clock.ts';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { loadOperatorSettings, type OperatorSettings } from '../config/operator-settings.ts';
import { openRecordings, type Recordings } from '../recordings/recordings.ts';
import { renderInThread } from '../recordings/renditions.ts';
import { type Database, openDatabase } from '../store/database.ts';
import { createSealer, type Sealer } from '../store/secrets.ts';
import { builtEntry } from '../supervisor/built-entry.ts';
import { OperatorError } from '../workspaces/operator-error.ts';

/** The process's edges, so that tests can stand in for them. */
export interface Terminal {
  environment: Readonly<Record<string, string | undefined>>;
  write(text: string): void;
  writeError(text: string): void;
  /** All of standard input. */
  readInput(): Promise<string>;
}

export interface CommandIo {
  readonly terminal: Terminal;
  settings(): OperatorSettings;
  database(): Database;
  sealer(): Sealer;
  /** Stored recordings: reading wants the master key, erasing does not. */
  recordings(): Recordings;
  /** Who sits at this command line, for the audit: the name that the system knows the person by, before any sudo. */
  by(): ChangedBy;
  /** `lines` are for people; `value` is for `--json`. */
  print(value: unknown, lines: readonly string[]): void;
  close(): Promise<void>;
}

/** Thrown by a command that has said all it has to say. */
export class ExitCode extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit code ${code}`);
    this.code = code;
  }
}

export function createCommandIo(terminal: Terminal, wantsJson: () => boolean): CommandIo {
  let settings: OperatorSettings | undefined;
  let database: Database | undefined;
  let recordings: Recordings | undefined;
  const io: CommandIo = {
    terminal,
    settings() {
      settings ??= loadOperatorSettings(terminal.environment);
      return settings;
    },
    database() {
      database ??= openDatabase({
        connectionString: io.settings().databaseUrl,
        maxConnections: 2,
        onIdleError: () => {},
      });
      return database;
    },
    sealer() {
      const { masterKeyHex } = io.settings();
      if (masterKeyHex === null) {
        throw new OperatorError(
          'refused',
          'This stores a secret, and there is no key to seal it with: set PARLEY_MASTER_KEY to the one that the service uses.',
        );
      }
      return createSealer(masterKeyHex);
    },
    recordings() {
      const { dataDir, recordings: stored } = io.settings();
      if (stored.faults.length > 0)
        throw new OperatorError('invalid', `Settings at fault:\n${stored.faults.join('\n')}`);
      recordings ??= openRecordings({
        database: io.database(),
        clock: systemClock,
        log: pino({ level: 'silent' }),
        sealer: { seal: (plain) => io.sealer().seal(plain), open: (sealed) => io.sealer().open(sealed) },
        settings: stored.settings,
        dataDir,
        render: renderInThread(() => builtEntry('media/threads/render-thread.js')),
      });
      return recordings;
    },
    by() {
      const { SUDO_USER, USER, LOGNAME } = terminal.environment;
      return { actor: `cli:${(SUDO_USER ?? USER ?? LOGNAME ?? 'operator').slice(0, 64) || 'operator'}` };
    },
    print(value, lines) {
      terminal.write(wantsJson() ? `${JSON.stringify(value, null, 2)}\n` : lines.map((line) => `${line}\n`).join(''));
    },
    async close() {
      await recordings?.close();
      await database?.close();
    },
  };
  return io;
}

/** Columns as wide as their widest cell; an empty list says so. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], none: string): string[] {
  if (rows.length === 0) return [none];
  const all = [head, ...rows];
  const widths = head.map((_cell, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

export function dateText(date: Date | null): string {
  return date === null ? '-' : `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** `a, b,c` → `['a', 'b', 'c']` */
export function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** For commander: a whole number from 0 on. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new OperatorError('invalid', `'${text}' is no whole number.`);
  return Number(text);
}

/** Only what was given: an absent option must not overwrite. */
export function given<T extends object>(options: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}
