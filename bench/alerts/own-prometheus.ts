/** A real Prometheus of one's own on loopback, with rules and jobs that are all at one exporter. */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { endChild } from '../harness/end-child.ts';
import { freePort } from '../harness/free-port.ts';
import { PATIENCE_MS } from '../harness/patience.ts';

export interface Sample {
  metric: Readonly<Record<string, string>>;
  value: number;
}

export interface OwnPrometheus {
  /** An instant query. Rejects when Prometheus does not understand it. */
  query(expr: string): Promise<Sample[]>;
  close(): Promise<void>;
}

export const NO_PROMETHEUS = 'Prometheus is not installed here (Debian: apt-get install prometheus)';
const END_LIMIT_MS = 5_000;

/** `jobs`: name and address, like `127.0.0.1:9464` and `/metrics`; each 2 s. */
export async function startOwnPrometheus(options: {
  folder: string;
  rules: string;
  jobs: readonly { name: string; target: string; path: string }[];
}): Promise<OwnPrometheus> {
  const port = await freePort();
  writeFileSync(join(options.folder, 'rules.yml'), options.rules);
  const scrapes = options.jobs.map(({ name, target, path }) => ({
    job_name: name,
    metrics_path: path,
    static_configs: [{ targets: [target] }],
  }));
  const config = {
    global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '2s' },
    rule_files: ['rules.yml'],
    scrape_configs: scrapes,
  };
  // JSON is YAML.
  writeFileSync(join(options.folder, 'prometheus.yml'), JSON.stringify(config));
  const base = `http://127.0.0.1:${port}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(options.folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(options.folder, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  await answers(child, `${base}/-/ready`);
  return {
    async query(expr) {
      const answer = await fetch(`${base}/api/v1/query?query=${encodeURIComponent(expr)}`);
      const body = (await answer.json()) as {
        error?: string;
        data?: { result: { metric: Sample['metric']; value: [number, string] }[] };
      };
      if (body.data === undefined) throw new Error(`${body.error}: ${expr}`);
      return body.data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
    },
    close: () => endChild(child, END_LIMIT_MS),
  };
}

async function answers(child: ChildProcess, url: string): Promise<void> {
  let said = '';
  child.stderr?.on('data', (text) => {
    said = `${said}${text}`.slice(-1_000);
  });
  const failed = new Promise<never>((_, reject) => {
    child.once('error', () => reject(new Error(NO_PROMETHEUS)));
    child.once('exit', (code) => reject(new Error(`Prometheus ended with ${code}: ${said}`)));
  });
  failed.catch(() => {});
  const ready = async (): Promise<void> => {
    for (const untilMs = performance.now() + PATIENCE_MS; performance.now() < untilMs; await wait(100)) {
      const answer = await fetch(url).catch(() => null);
      if (answer?.ok) return;
    }
    throw new Error('Prometheus did not become ready');
  };
  await Promise.race([ready(), failed]);
}
