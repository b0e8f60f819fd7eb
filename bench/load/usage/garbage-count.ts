/**
 * How much garbage the tool's own service makes: the folder into which its threads write it (`garbage-gauge.ts`), and
 * their sum. Made with the service.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtEntry } from '../../../src/config/built-entry.ts';

export class GarbageCount {
  readonly #folder = mkdtempSync(join(tmpdir(), 'parley-garbage-'));

  constructor() {
    // Also where the tool is ended at once.
    process.once('exit', () => this.close());
  }

  /** For the service's processes. */
  get environment(): Record<string, string> {
    const gauge = `--import=${pathToFileURL(builtEntry('bench/load/usage/garbage-gauge.js')).href}`;
    return {
      PARLEY_LOAD_GARBAGE: this.#folder,
      NODE_OPTIONS: [process.env['NODE_OPTIONS'], gauge].filter((one) => one !== undefined).join(' '),
    };
  }

  /** Bytes that all threads of media have allocated so far, of those that have ended too; null: none has told. */
  read(): number | null {
    const told = readdirSync(this.#folder);
    if (told.length === 0) return null;
    return told.reduce((sum, name) => sum + (Number(readFileSync(join(this.#folder, name), 'latin1')) || 0), 0);
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
