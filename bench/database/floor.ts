/**
 * The floor, as a subject beside the others: a bare loop over `pg` and `undici` that makes the statements, commits and
 * posts of a call, in a process and at a PostgreSQL of its own. What Parley costs above it is what Parley does.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtEntry } from '../../src/config/built-entry.ts';
import { startEmbeddedPostgres } from '../../src/supervisor/postgres/embedded-postgres.ts';
import { PostgresCounts } from './counts.ts';
import { processorMs } from './processor-time.ts';
import type { Subject } from './subject.ts';

export async function startFloor(): Promise<Subject> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-floor-'));
  const postgres = await startEmbeddedPostgres({ dataDir, volatile: false, log: () => {} });
  const counts = await PostgresCounts.open(postgres.connectionString, () => process.kill(postgres.pid()!, 'SIGINT'));
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const child = fork(builtEntry('bench/database/floor-process.js'), [postgres.connectionString, address]);
  await once(child, 'message');
  return {
    name: 'floor',
    counts,
    processorTime: () => ({ control: processorMs(child.pid!), postgres: processorMs(postgres.pid()!) }),
    async hold(calls) {
      child.send({ calls });
      await once(child, 'message');
    },
    async stop() {
      child.kill();
      receiver.close();
      await counts.close();
      await postgres.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
