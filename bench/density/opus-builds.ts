/**
 * The two ways in which a session's Opus may be carried, and whether each can be measured here: the native binding is
 * an optional package that is built at its installation, or is not. Asked of media itself, as `parley doctor` does.
 */
import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { builtEntry } from '../../src/config/built-entry.ts';
import type { DensityKind } from './kinds.ts';

/** What the row of a build that is not there says. */
export const NATIVE_IS_MISSING =
  'not installed: the native binding of @discordjs/opus is not built. `npm rebuild @discordjs/opus` builds it, with Python 3, make and a C++ compiler, and with the headers of Node (fetched by node-gyp, or of the folder that npm_config_nodedir names)';

/** Variables of the processes that are measured. */
export function environmentOf({ opus }: Pick<DensityKind, 'opus'>): Record<string, string> {
  if (opus !== 'opusscript') return {};
  return { NODE_OPTIONS: `--import ${pathToFileURL(builtEntry('bench/density/without-native-opus.js')).href}` };
}

/** Null: what it says of itself is what is wanted. */
export function missingBecause(kind: Pick<DensityKind, 'opus'>): string | null {
  if (kind.opus === null) return null;
  const answer = execFileSync(process.execPath, [builtEntry('media/self-check.js')], {
    env: { ...process.env, ...environmentOf(kind) },
    encoding: 'utf8',
  });
  const { opus } = JSON.parse(answer) as { opus: string };
  if (opus === kind.opus) return null;
  return kind.opus === 'discordjs' ? NATIVE_IS_MISSING : `media took ${opus} in place of ${kind.opus}`;
}
