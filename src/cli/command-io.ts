/**
 * What every command gets: the database and the sealer, opened when first asked for, and a way to print. A command
 * gives values and says how people read them; `--json` prints the values as they are.
 */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { type Clock, systemClock } from '../../media/contract/clock.ts';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { builtEntry } from '../config/built-entry.ts';
import { loadOperatorSettings, type OperatorSettings } from '../config/operator-settings.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { openRecordings, type Recordings } from '../recordings/recordings.ts';
import { renderInThread } from '../recordings/renditions.ts';
import { MasterKeyRefused } from '../sealing/key-register.ts';
import { type MasterKeys, masterKeyOf } from '../sealing/master-keys.ts';
import { createSealer, type Sealer } from '../sealing/sealer.ts';
import { type Database, openDatabase } from '../store/database.ts';
import { type CommandKeys, openCommandKeys } from './command-keys.ts';

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
  /** The master keys of the database, the one that seals first. Rejects when there is none here, or it is another. */
  masterKeys(): Promise<MasterKeys>;
  sealer(): Promise<Sealer>;
  /** Opens with the key that is here, whether it is that of the database or not. Throws when there is none. */
  opener(): Pick<Sealer, 'open'>;
  /** For what is put together before it is known whether it seals: seals only after `sealer()` was waited for. */
  laterSealer: Sealer;
  /** This command among the holders of master keys. */
  holder: string;
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

export function createCommandIo(terminal: Terminal, wantsJson: () => boolean, clock: Clock = systemClock): CommandIo {
  let settings: OperatorSettings | undefined;
  let database: Database | undefined;
  let recordings: Recordings | undefined;
  let masterKeys: CommandKeys | undefined;
  let sealer: Sealer | undefined;
  let opener: Sealer | undefined;
  const givenKeys = (): readonly string[] => {
    const given = io.settings().masterKeys();
    if (given.length > 0) return given;
    throw new OperatorError(
      'refused',
      'There is no key to seal and to open secrets with: set PARLEY_MASTER_KEY to the one that the service uses.',
    );
  };
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
    async masterKeys() {
      if (masterKeys !== undefined) return masterKeys;
      const candidates = givenKeys().map(masterKeyOf);
      try {
        masterKeys = await openCommandKeys({ database: io.database(), clock, holder: io.holder, candidates });
        return masterKeys;
      } catch (error) {
        throw error instanceof MasterKeyRefused ? new OperatorError('refused', error.message) : error;
      }
    },
    async sealer() {
      sealer ??= createSealer(await io.masterKeys());
      return sealer;
    },
    opener() {
      opener ??= createSealer(givenKeys());
      return opener;
    },
    laterSealer: {
      seal(plain, place) {
        if (sealer === undefined) throw new Error('This command did not ask for the key that seals.');
        return sealer.seal(plain, place);
      },
      open: (sealed, place) => io.opener().open(sealed, place),
    },
    holder: randomUUID(),
    recordings() {
      const { dataDir, recordings: stored } = io.settings();
      if (stored.faults.length > 0)
        throw new OperatorError('invalid', `Settings at fault:\n${stored.faults.join('\n')}`);
      recordings ??= openRecordings({
        database: io.database(),
        clock,
        log: pino({ level: 'silent' }),
        sealer: io.laterSealer,
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
      await masterKeys?.close();
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
