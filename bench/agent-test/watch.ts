/** Runs again when a file changes, until it is told to stop. Called by `test-command.ts`. */
import { watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Editors write a file in several steps. */
const QUIET_MS = 150;

/**
 * `run` gives the files that matter from then on. Folders are watched, because editors put a new file in the place of
 * the old one.
 */
export async function runOnChange(run: () => Promise<readonly string[]>, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const files = await run();
    await changeOf(files, stop);
  }
}

function changeOf(files: readonly string[], stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let quiet: NodeJS.Timeout | undefined;
    const folders = new Set(files.map((file) => dirname(file)));
    const watchers = [...folders].map((folder) =>
      watch(folder, (_event, name) => {
        const isOurs = files.some((file) => dirname(file) === folder && (name === null || basename(file) === name));
        if (!isOurs) return;
        clearTimeout(quiet);
        quiet = setTimeout(done, QUIET_MS);
      }),
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
