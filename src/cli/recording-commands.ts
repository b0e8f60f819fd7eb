/**
 * `parley recording …`: stored recordings for whoever runs the service: to list, to fetch
 * decrypted, to verify, to erase.
 */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { systemClock } from '../../media/contract/clock.ts';
import { readOwnCall } from '../calls/call-row.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { listRecordings, type RecordingRow, WHOLE_EPOCH } from '../recordings/recording-rows.ts';
import { FORMATS, type SoundForm, STORED_FORM, VARIANTS } from '../recordings/sound-form.ts';
import { unreadableRecordings, type Verdict, verifyRecordings } from '../recordings/verify-recordings.ts';
import { deleteCallParts } from '../retention/call-log-delete.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { type CommandIo, dateText, ExitCode, table, wholeNumber } from './command-io.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MOST_LISTED = 200;

export function addRecordingCommands(program: Command, io: CommandIo): void {
  const recording = program.command('recording').description('recordings, which lie sealed wherever they lie');

  recording
    .command('list [slug]')
    .description('the newest, of one workspace or of all: how far each is, and where it lies')
    .option('--limit <recordings>', `at most ${MOST_LISTED}`, wholeNumber, 20)
    .action(async (slug: string | undefined, options: { limit: number }) => {
      const workspaceId = slug === undefined ? null : (await findWorkspace(io.database(), slug)).id;
      const limit = Math.min(MOST_LISTED, Math.max(1, options.limit));
      const rows = await listRecordings(io.database(), { workspaceId, limit });
      const cells = rows.map((row) => [
        row.callUuid,
        row.epoch === WHOLE_EPOCH ? 'whole' : String(row.epoch),
        dateText(row.createdAt),
        row.state,
        row.facts === null ? '-' : `${row.facts.durationMs / 1000} s`,
        placeOf(row),
      ]);
      io.print(
        rows.map(({ keySealed: _key, ...shown }) => shown),
        table(['CALL', 'STREAM', 'MADE', 'STATE', 'LENGTH', 'WHERE'], cells, 'There are no recordings.'),
      );
    });

  recording
    .command('get <call-id>')
    .description('decrypt one into a file')
    .requiredOption('--output <file>', 'where to; it will be readable by whoever can read that file')
    .option('--variant <variant>', VARIANTS.join(', '), STORED_FORM.variant)
    .option('--format <format>', FORMATS.join(', '), STORED_FORM.format)
    .option('--part <number>', 'one stream alone of a call that came back; without it the whole call', wholeNumber)
    .action(async (callId: string, options: { output: string; variant: string; format: string; part?: number }) => {
      const callUuid = uuidOf(callId);
      io.opener();
      const sound = await io.recordings().sounds.open({ ...formOf(options), callUuid, part: options.part ?? null });
      if (sound === null)
        throw new OperatorError('not_found', 'There is no such recording', 'see: parley recording list');
      try {
        await pipeline(sound.range(0, sound.sizeBytes), createWriteStream(options.output, { mode: 0o600 }));
      } finally {
        await sound.close();
      }
      const { sizeBytes, sha256 } = sound;
      io.print({ callUuid, output: options.output, sizeBytes, sha256 }, [`${options.output}: ${sizeBytes} bytes`]);
    });

  recording
    .command('verify [slug]')
    .description('read the newest back from the store, whole, and compare them with what was recorded')
    .option('--limit <recordings>', 'how many', wholeNumber, 1000)
    .action(async (slug: string | undefined, options: { limit: number }) => {
      const workspaceId = slug === undefined ? null : (await findWorkspace(io.database(), slug)).id;
      const { stores } = io.recordings();
      const deps = { database: io.database(), sealer: io.opener(), stores };
      const verdicts: Verdict[] = [];
      for await (const one of verifyRecordings(deps, { workspaceId, limit: options.limit })) verdicts.push(one);
      const bad = verdicts.filter(({ verdict }) => verdict !== 'ok' && verdict !== 'waiting');
      io.print({ ok: bad.length === 0, recordings: verdicts }, [
        ...verdicts
          .filter(({ verdict }) => verdict !== 'ok')
          .map(({ callUuid, epoch, verdict, detail }) => `${callUuid} ${epoch}  ${verdict}: ${detail}`),
        `${verdicts.length - bad.length} of ${verdicts.length} are as they should be.`,
      ]);
      if (bad.length > 0) throw new ExitCode(1);
    });

  recording
    .command('erase [call-id]')
    .description('erase the recording of a call for good: its key, and every copy')
    .option('--unreadable', 'instead: all whose key does not open under this master key')
    .action(async (callId: string | undefined, options: { unreadable?: boolean }) => {
      const calls =
        options.unreadable === true
          ? await unreadableRecordings(io.database(), io.opener())
          : [await callOf(io, callId)];
      const erased: string[] = [];
      const kept: string[] = [];
      for (const call of calls) {
        const deps = { database: io.database(), clock: systemClock, eraser: io.recordings().eraser };
        const outcome = await deleteCallParts(deps, { ...call, parts: ['recording'], by: io.by() });
        if (outcome === 'deleted') erased.push(call.callUuid);
        else kept.push(`${call.callUuid}: ${REASONS[outcome]}`);
      }
      io.print({ erased, kept }, [`Erased ${erased.length} of ${calls.length}.`, ...kept]);
      if (kept.length > 0) throw new ExitCode(1);
    });
}

const REASONS = {
  deleted_before: 'it is removed already',
  not_over: 'the call has not ended; first: parley call hangup',
  held: 'it is under legal hold; see: parley retention holds',
  unknown_call: 'there is no such call',
} as const;

function placeOf({ state, store, objectKey, spoolPath, lastError }: RecordingRow): string {
  if (state === 'stored') return `${store} ${objectKey}`;
  if (state === 'spooled') return lastError === null ? `on its way from ${spoolPath}` : `waits: ${lastError}`;
  return lastError ?? '-';
}

function uuidOf(callId: string | undefined): string {
  if (callId !== undefined && UUID.test(callId)) return callId.toLowerCase();
  throw new OperatorError('invalid', `'${callId ?? ''}' is no call's id`, 'see: parley recording list');
}

function formOf({ variant, format }: { variant: string; format: string }): SoundForm {
  const found = { variant: VARIANTS.find((one) => one === variant), format: FORMATS.find((one) => one === format) };
  if (found.variant === undefined)
    throw new OperatorError('invalid', `--variant takes ${VARIANTS.join(', ')}, not '${variant}'.`);
  if (found.format === undefined)
    throw new OperatorError('invalid', `--format takes ${FORMATS.join(', ')}, not '${format}'.`);
  return found as SoundForm;
}

async function callOf(io: CommandIo, callId: string | undefined): Promise<{ callUuid: string; workspaceId: string }> {
  const call = await readOwnCall(io.database(), uuidOf(callId));
  if (call === undefined)
    throw new OperatorError('not_found', `There is no call '${callId}'`, 'see: parley recording list');
  return call;
}
