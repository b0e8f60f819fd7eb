/** The bench's side of `gauge.ts`: asks the media process for a reading and adds its threads up. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtEntry } from '../../src/config/built-entry.ts';
import type { GaugeReading } from './gauge.ts';

export interface MediaReading {
  residentKb: number;
  /** Of all threads, after a collection. */
  heapKb: number;
  resources: Record<string, number>;
  threads: number;
}

const ANSWERS_WITHIN_MS = 20_000;

export class MediaGauge {
  readonly #folder = mkdtempSync(join(tmpdir(), 'parley-gauge-'));

  /** Of the service's processes. */
  get environment(): Record<string, string> {
    const preload = pathToFileURL(builtEntry('bench/cascade/gauge.js')).href;
    return { PARLEY_BENCH_GAUGE: this.#folder, NODE_OPTIONS: `--import ${preload}` };
  }

  /** Of the media process; null: it has not begun. */
  get pid(): number | null {
    const file = readdirSync(this.#folder).find((name) => name.endsWith('.pid'));
    return file === undefined ? null : Number(file.replace('.pid', ''));
  }

  async read(): Promise<MediaReading> {
    const { pid } = this;
    if (pid === null) throw new Error('there is no media process to ask what it holds');
    const file = join(this.#folder, `${pid}.json`);
    rmSync(file, { force: true });
    process.kill(pid, 'SIGUSR2');
    const untilMs = Date.now() + ANSWERS_WITHIN_MS;
    while (!existsSync(file)) {
      if (Date.now() > untilMs) throw new Error('the media process did not say what it holds');
      await new Promise((done) => setTimeout(done, 50));
    }
    const { residentBytes, threads } = JSON.parse(readFileSync(file, 'utf8')) as GaugeReading;
    const resources: Record<string, number> = {};
    let heapBytes = 0;
    for (const thread of threads) {
      heapBytes += thread.heapBytes + thread.externalBytes;
      for (const [kind, count] of Object.entries(thread.resources)) resources[kind] = (resources[kind] ?? 0) + count;
    }
    return { residentKb: residentBytes / 1000, heapKb: heapBytes / 1000, resources, threads: threads.length };
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
