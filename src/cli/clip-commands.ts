/** `parley clip …`: sound that agents play where they would speak. */
import { readFile, stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { pino } from 'pino';
import { LARGEST_CLIP_FILE_BYTES } from '../../media/contract/clip.ts';
import { systemClock } from '../../media/contract/clock.ts';
import { type Clips, createClips } from '../clips/clips.ts';
import { convertInProcess } from '../clips/convert-file.ts';
import { builtEntry } from '../config/built-entry.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { type CommandIo, table } from './command-io.ts';

export function addClipCommands(program: Command, io: CommandIo): void {
  const clip = program.command('clip').description('sound that agents play where they would speak');

  clip
    .command('add <slug> <name> <file>')
    .description('Ogg Opus, WebM Opus or WAV; anything else where FFmpeg is installed. 10 MB and three minutes at most')
    .option('--text <text>', 'what it says, for transcripts (an agent may say it itself)', '')
    .action(async (slug: string, name: string, file: string, options: { text: string }) => {
      const { id: workspaceId } = await findWorkspace(io.database(), slug);
      await io.sealer();
      const bytes = await readSound(file);
      const made = await clips(io).add(io.database(), {
        workspaceId,
        name,
        text: options.text,
        file: bytes,
        by: io.by(),
      });
      const length = `${(made.durationMs / 1000).toFixed(1)} s at ${made.loudnessLufs.toFixed(1)} LUFS`;
      io.print(made, [`Stored '${made.name}' as clip ${made.id}, ${length}.`]);
    });

  clip
    .command('list <slug>')
    .description('all clips, by name')
    .action(async (slug: string) => {
      const { id: workspaceId } = await findWorkspace(io.database(), slug);
      const found = await clips(io).list(workspaceId);
      const rows = found.map((one) => [
        one.name,
        `${(one.durationMs / 1000).toFixed(1)} s`,
        one.kind,
        one.id,
        one.text,
      ]);
      io.print(found, table(['NAME', 'LENGTH', 'KIND', 'CLIP', 'TEXT'], rows, `'${slug}' has no clips.`));
    });

  clip
    .command('remove <slug> <clip>')
    .description('by name or id; refused while an agent plays it')
    .action(async (slug: string, named: string) => {
      const { id: workspaceId } = await findWorkspace(io.database(), slug);
      const removed = await clips(io).remove({ workspaceId, named, by: io.by() });
      if (removed === undefined) {
        throw new OperatorError('not_found', `'${slug}' has no clip '${named}'`, `see: parley clip list ${slug}`);
      }
      io.print({ id: removed.id, name: removed.name }, [`The clip '${removed.name}' is gone.`]);
    });
}

function clips(io: CommandIo): Clips {
  const commandPath = io.terminal.environment['PATH'] ?? '';
  return createClips({
    database: io.database(),
    clock: systemClock,
    log: pino({ level: 'silent' }),
    sealer: io.laterSealer,
    stores: io.recordings().stores,
    dataDir: io.settings().dataDir,
    convert: convertInProcess(() => builtEntry('media/clips/main.js'), commandPath),
  });
}

async function readSound(file: string): Promise<Buffer> {
  try {
    const { size } = await stat(file);
    if (size > LARGEST_CLIP_FILE_BYTES) {
      throw new OperatorError(
        'invalid',
        `${file} has ${size} bytes; a clip's file may have ${LARGEST_CLIP_FILE_BYTES}.`,
      );
    }
    return await readFile(file);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new OperatorError('invalid', `${file} cannot be read (${code ?? message}).`);
  }
}
