/** Runs again when a file changes, until it is told to stop. Called by `test-command.ts`. */
import { existsSync, statSync, watch } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/** Editors write a file in several steps. */
const QUIET_MS = 150;

/**
 * `run` gives the files that matter from then on, as whole paths. Folders are watched, because editors put a new file
 * in the place of the old one. What changed while it ran is a change too.
 */
export async function runOnChange(run: () => Promise<readonly string[]>, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    // A file that was written just before has a part of this millisecond too.
    const sinceEpochMs = Date.now() + 1;
    const files = await run();
    if (!files.some((file) => changedSince(file, sinceEpochMs))) await changeOf(files, stop);
  }
}

/** A time to come is somebody's wrong clock: it would be a change for ever. */
function changedSince(file: string, sinceEpochMs: number): boolean {
  const changedMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return changedMs > sinceEpochMs && changedMs <= Date.now() + 1;
}

function changeOf(files: readonly string[], stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let quiet: NodeJS.Timeout | undefined;
    const folders = new Set(files.map((file) => folderThereIs(dirname(file))));
    const watchers = [...folders].map((folder) =>
      watch(folder, (_event, name) => {
        const changed = name === null ? folder : join(folder, name);
        const isOurs = files.some((file) => file === changed || file.startsWith(`${changed}${sep}`));
        if (!isOurs) return;
        clearTimeout(quiet);
        quiet = setTimeout(done, QUIET_MS);
      }).on('error', done),
    );
    function done(): void {
      clearTimeout(quiet);
      stop.removeEventListener('abort', done);
      for (const watcher of watchers) watcher.close();
      resolve();
    }
    stop.addEventListener('abort', done, { once: true });
    if (stop.aborted) done();
  });
}

/** A folder may be gone, or not be there yet: then the nearest above it, where it will come to be. */
function folderThereIs(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : folderThereIs(dirname(folder));
}
