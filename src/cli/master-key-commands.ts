/** `parley master-key …`: from one master key to the next while the service runs, and how far that is. */
import type { Command } from 'commander';
import { systemClock } from '../../media/contract/clock.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { type RotationProgress, RotationRefused, rotateMasterKey } from '../key-rotation/rotate-master-key.ts';
import { leaveHolders, lockRegister, readHolders, readRegister, registerKey } from '../sealing/key-register.ts';
import { type MasterKey, masterKeyOf } from '../sealing/master-keys.ts';
import { countSealed } from '../sealing/reseal.ts';
import { type SessionLock, trySessionLock } from '../store/database.ts';
import { newMasterKey, replaceMasterKeyFile } from '../supervisor/master-key.ts';
import { type CommandIo, table, wholeNumber } from './command-io.ts';

interface RotateOptions {
  batch: number;
  pause: number;
}

/** Name of the lock that a run holds. */
export const ROTATION_LOCK = 'master-key-rotation';
const SAY_EVERY_MS = 2_000;
const LOCK_EVERY_MS = 100;
const KILLED_RUN_ENDS_MS = 2_000;

export function addMasterKeyCommands(program: Command, io: CommandIo): void {
  const masterKey = program
    .command('master-key')
    .description('the key under which credentials, secrets and the keys of recordings are sealed');

  masterKey
    .command('rotate')
    .description(
      'seal everything under a new key while the service runs; called again, it goes on where it was stopped',
    )
    .option('--batch <values>', 'so many in one transaction', wholeNumber, 200)
    .option(
      '--pause <milliseconds>',
      'between two batches, so that calls have the database to themselves',
      wholeNumber,
      20,
    )
    .action(async (options: RotateOptions) => {
      if (options.batch < 1 || options.batch > 1_000) {
        throw new OperatorError('invalid', 'A batch has 1 to 1000 values.');
      }
      const report = await rotate(io, options);
      if (report === null) {
        io.print({ rotated: false }, [`Everything is sealed under the newest key already. ${previousIsNotNeeded(io)}`]);
        return;
      }
      const lost = Object.entries(report.unreadable).map(([column, count]) => `${count} in ${column}`);
      io.print({ rotated: true, ...report }, [
        `Sealed ${report.resealed} values anew, signed ${report.resigned} anew: the former key opens nothing any more.`,
        ...(lost.length > 0 ? [`Neither key opens ${lost.join(', ')}: they are as they were, and of no use.`] : []),
        previousIsNotNeeded(io),
      ]);
    });

  masterKey
    .command('status')
    .description('which key seals, who has it, and how many values lie under it')
    .action(async () => {
      const keys = await io.masterKeys();
      const database = io.database();
      const register = await readRegister(database);
      const holders = (await readHolders(database)).filter(({ holder }) => holder !== io.holder);
      const counts = await countSealed(database, keys.current());
      const named = register.map(({ keyId, state }) => ({ key: keyId.toString('hex'), state }));
      const others = counts.reduce((sum, { other }) => sum + other, 0);
      io.print({ keys: named, holders: holders.length, columns: counts }, [
        ...named.map(({ key, state }) => `key ${key}  ${state}`),
        `${holders.length} running ${holders.length === 1 ? 'process holds' : 'processes hold'} it.`,
        ...table(
          ['VALUES', 'UNDER IT', 'OTHERS'],
          counts.map(({ column, under, other }) => [column, String(under), String(other)]),
          '',
        ),
        others === 0
          ? 'Everything is sealed under this key.'
          : 'The others lie under a former key, or were sealed by a former version; parley master-key rotate seals them anew.',
      ]);
    });

  masterKey
    .command('adopt')
    .description(
      'let the database begin anew with the key that is here, because the one that it was sealed under is lost',
    )
    .option('--former-key-is-lost', 'what it sealed can be read by nobody any more')
    .action(async (options: { formerKeyIsLost?: boolean }) => {
      const [newest] = io.settings().masterKeys();
      if (newest === undefined) throw new OperatorError('refused', 'There is no key here: set PARLEY_MASTER_KEY.');
      if (options.formerKeyIsLost !== true) {
        throw new OperatorError(
          'refused',
          'With the former key at hand, rotate instead. If it is lost for good, say so: --former-key-is-lost',
        );
      }
      await adopt(io, masterKeyOf(newest));
      io.print({ adopted: true }, [
        'The database takes this key from now on. Store credentials and secrets again; erase recordings that nobody can play: parley recording erase --unreadable',
      ]);
    });
}

function previousIsNotNeeded(io: CommandIo): string {
  return io.settings().generatedKeyFile === null
    ? 'Take the previous key out of the settings of every node, and keep it with the backups that were made under it.'
    : 'The key file holds the new key alone. Back it up; backups of the database from before need the former one.';
}

/** Null: there is nothing to do. Two runs at once would each make a key, and one would write over that of the other. */
async function rotate(io: CommandIo, options: RotateOptions) {
  const lock = await lockRotation(io);
  try {
    return await rotateAlone(io, options);
  } finally {
    await lock.release();
  }
}

/** A run that was just killed holds it until the database has noticed. */
async function lockRotation(io: CommandIo): Promise<SessionLock> {
  for (const untilMs = systemClock.nowMs() + KILLED_RUN_ENDS_MS; ; await pass(LOCK_EVERY_MS)) {
    const lock = await trySessionLock(io.settings().databaseUrl, ROTATION_LOCK);
    if (lock !== null) return lock;
    if (systemClock.nowMs() < untilMs) continue;
    throw new OperatorError('refused', 'Another run of this command is under way; wait for its end.');
  }
}

/** The keys are read here for the first time: what a run before wrote into the file counts. */
async function rotateAlone(io: CommandIo, { batch, pause }: RotateOptions) {
  await io.masterKeys();
  // It seals with the keys that it is given here: if it is killed, the next run must not wait for it.
  await leaveHolders(io.database(), io.holder);
  const { generatedKeyFile } = io.settings();
  const given = io
    .settings()
    .masterKeys()
    .map((text) => ({ text, key: masterKeyOf(text) }));
  let [to, from] = given;
  const register = await readRegister(io.database());
  const isSealing =
    to !== undefined && register.some(({ keyId, state }) => state === 'sealing' && keyId.equals(to!.key.id));
  if (to !== undefined && from !== undefined && isSealing && register.length === 1) {
    if (generatedKeyFile !== null) write(generatedKeyFile, [to.text]);
    return null;
  }
  if (to !== undefined && from === undefined) {
    if (generatedKeyFile === null) {
      throw new OperatorError(
        'refused',
        'There is only one key. Make a new one (openssl rand -hex 32), give it to every node as PARLEY_MASTER_KEY and the one until now as PARLEY_MASTER_KEY_PREVIOUS (in a file or from a command: on two lines, the new one first), start the nodes again one after another (those whose key is a file need no start), and run this again.',
      );
    }
    const text = newMasterKey();
    // Both are on the disk before anything is sealed under the new one.
    write(generatedKeyFile, [text, to.text]);
    from = to;
    to = { text, key: masterKeyOf(text) };
  }
  if (to === undefined || from === undefined) throw new OperatorError('refused', 'There is no master key here.');
  const report = await run(io, [to.key, from.key], { batch, pause });
  if (generatedKeyFile !== null) write(generatedKeyFile, [to.text]);
  return report;
}

async function run(io: CommandIo, keys: readonly [MasterKey, MasterKey], { batch, pause }: RotateOptions) {
  try {
    return await rotateMasterKey({
      database: io.database(),
      keys,
      by: io.by(),
      batchRows: batch,
      pauseMs: pause,
      wait: pass,
      nowMs: () => systemClock.nowMs(),
      told: progressPrinter(io),
    });
  } catch (error) {
    throw error instanceof RotationRefused ? new OperatorError('refused', error.message) : error;
  }
}

function pass(ms: number): Promise<void> {
  return new Promise((resolve) => void systemClock.after(ms, resolve));
}

/** On standard error, so that `--json` stays what it is. */
function progressPrinter(io: CommandIo): (progress: RotationProgress) => void {
  let saidAtMs = Number.NEGATIVE_INFINITY;
  const say = (line: string): void => io.terminal.writeError(`${line}\n`);
  return (progress) => {
    if (progress.step === 'announced') say('The new key is announced.');
    if (progress.step === 'turned') say('The new key seals from now on.');
    if (progress.step !== 'waiting' && progress.step !== 'resealed') return;
    if (systemClock.nowMs() - saidAtMs < SAY_EVERY_MS) return;
    saidAtMs = systemClock.nowMs();
    if (progress.step === 'resealed') say(`${progress.values} values are sealed anew.`);
    else if (progress.for === 'holders') say(`Waiting for ${progress.names.join(', ')}.`);
    else say(`Waiting for ${progress.count} transactions to end.`);
  };
}

function write(file: string, keys: readonly string[]): void {
  try {
    replaceMasterKeyFile(file, keys);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OperatorError(
      'refused',
      `${file} cannot be replaced (${code}); run this as the user that it belongs to.`,
    );
  }
}

function adopt(io: CommandIo, key: MasterKey): Promise<void> {
  return io.database().transaction(async (tx) => {
    await lockRegister(tx);
    if ((await readHolders(tx)).length > 0) {
      throw new OperatorError(
        'refused',
        'A service runs on the database, with the key that is said to be lost; stop it first (or wait 30 s after it died).',
      );
    }
    await tx.query('DELETE FROM master_keys');
    await registerKey(tx, key, 'sealing');
    const target = `master_key:${key.id.toString('hex')}`;
    await recordAudit(tx, { workspaceId: null, by: io.by(), action: 'master_key.adopted', target });
  });
}
