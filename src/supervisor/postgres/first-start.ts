/** Until a postmaster that was just started serves Parley's database. Called by `embedded-postgres.ts`. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface FirstStart {
  port: number;
  /** Its address, without a database. */
  server: string;
  database: string;
  /** How the postmaster ended, as in `code 1`; null while it runs. */
  ended(): string | null;
}

/** As long as pg_ctl waits: a slow disk, or a long log to read again, is no fault. One that ends is told at once. */
const START_LIMIT_MS = 60_000;
const POLL_MS = 25;
const ASK_AGAIN_MS = 100;

/** Throws where it ended, or does not serve in time. */
export async function firstStart(start: FirstStart): Promise<void> {
  const untilMs = performance.now() + START_LIMIT_MS;
  await waitForPort(start, untilMs);
  await createDatabase(start, untilMs);
  failIfEnded(start);
}

function failIfEnded({ ended }: FirstStart): void {
  const how = ended();
  if (how !== null) throw new Error(`PostgreSQL ended at once (${how}); its log folder says why.`);
}

async function waitForPort(start: FirstStart, untilMs: number): Promise<void> {
  while (performance.now() < untilMs) {
    failIfEnded(start);
    const isOpen = await new Promise<boolean>((done) => {
      const socket = connect({ port: start.port, host: '127.0.0.1' }, () => done(true));
      socket.once('error', () => done(false)).once('connect', () => socket.destroy());
    });
    if (isOpen) return;
    await sleep(POLL_MS);
  }
  throw new Error(`PostgreSQL did not open its port within ${START_LIMIT_MS} ms.`);
}

/** Makes Parley's database on first start; waits out the moments in which the server is "starting up". */
async function createDatabase(start: FirstStart, untilMs: number): Promise<void> {
  const { server, database: name } = start;
  const { openDatabase } = await import('../../store/database.ts');
  const database = openDatabase({ connectionString: `${server}/postgres`, maxConnections: 1, onIdleError: () => {} });
  try {
    for (;;) {
      failIfEnded(start);
      try {
        const found = await database.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
        if (found.length === 0) await database.query(`CREATE DATABASE ${name}`);
        return;
      } catch (error) {
        if (performance.now() >= untilMs) throw error;
        await sleep(ASK_AGAIN_MS);
      }
    }
  } finally {
    await database.close();
  }
}
