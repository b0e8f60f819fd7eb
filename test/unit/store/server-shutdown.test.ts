/**
 * A PostgreSQL that was told to end by SIGTERM: the sessions that it has stay as long as they like, new ones are
 * refused, and it ends when the last has left. Spoken by a small server of this test.
 */
import net, { type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { patientAddress } from '../../../bench/harness/patience.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { isDatabaseAway } from '../../../src/store/database-away.ts';
import { createServerSessions, openSessionPool } from '../../../src/store/server-sessions.ts';
import { eventually } from '../../support/eventually.ts';

/** One message of the protocol (PostgreSQL documentation §54.7): type, length with itself, content. */
function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
}

const AUTHENTICATION_OK = message('R', Buffer.alloc(4));
const READY = message('Z', Buffer.from('I'));
const DONE = Buffer.concat([message('C', Buffer.from('SELECT 0\0')), READY]);
const REFUSED = message('E', Buffer.from('SFATAL\0VFATAL\0C57P03\0Mthe database system is shutting down\0\0'));
const TERMINATED = message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0'));

/** Answers each statement with no rows; one that says `wait` only when `answer` is called. */
class SmallServer {
  readonly sessions = new Set<Socket>();
  refuses = false;
  refused = 0;
  taken = 0;
  #waiting: (() => void)[] = [];
  #server = net.createServer((socket) => this.#take(socket));

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return patientAddress(`postgresql://a:b@127.0.0.1:${(this.#server.address() as AddressInfo).port}/c`);
  }

  answer(): void {
    for (const say of this.#waiting.splice(0)) say();
  }

  waiting(): number {
    return this.#waiting.length;
  }

  stop(): void {
    for (const socket of this.sessions) socket.destroy();
    this.#server.close();
  }

  #take(socket: Socket): void {
    socket.on('error', () => {});
    socket.once('data', () => {
      if (this.refuses) {
        this.refused++;
        socket.end(REFUSED);
        return;
      }
      this.taken++;
      this.sessions.add(socket);
      socket.on('close', () => this.sessions.delete(socket));
      socket.write(Buffer.concat([AUTHENTICATION_OK, READY]));
      socket.on('data', (bytes) => {
        const text = bytes.toString('latin1');
        // Query, or the Sync after Parse, Bind and Execute.
        if (text.startsWith('X')) return;
        const say = (): void => void socket.write(DONE);
        if (text.includes('wait')) this.#waiting.push(say);
        else say();
      });
    });
  }
}

let server: SmallServer;
let connectionString: string;
const opened: Database[] = [];

beforeEach(async () => {
  server = new SmallServer();
  connectionString = await server.start();
});

afterEach(async () => {
  server.answer();
  await Promise.all(opened.splice(0).map((database) => database.close()));
  server.stop();
});

function open(options: Partial<Parameters<typeof openDatabase>[0]> = {}): Database {
  const database = openDatabase({ connectionString, onIdleError: () => {}, ...options });
  opened.push(database);
  return database;
}

/** Asks for so many statements at once that one needs a session that is not there. */
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

describe('a server that refuses new sessions because it shuts down', () => {
  it('has its idle sessions back at once, those in use after their work, and is away until it takes new ones', async () => {
    const database = open();
    await Promise.all([database.query('SELECT 1'), database.query('SELECT 2'), database.query('SELECT 3')]);
    expect(server.sessions.size).toBe(3);
    server.refuses = true;
    const atWork = database.transaction(async (tx) => {
      await tx.query('SELECT wait');
      return tx.query('SELECT after');
    });
    const alsoAtWork = database.query('SELECT wait');
    await eventually('both to be asked', () => server.waiting() === 2);
    expect(await failureOf(Promise.all([database.query('SELECT 4'), database.query('SELECT 5')]))).toSatisfy(
      isDatabaseAway,
    );
    await eventually('the idle session to end', () => server.sessions.size === 2);
    server.answer();
    expect(await atWork).toEqual([]);
    expect(await alsoAtWork).toEqual([]);
    await eventually('the last sessions to end', () => server.sessions.size === 0);
    expect(await failureOf(database.query('SELECT 6'))).toSatisfy(isDatabaseAway);
    server.refuses = false;
    expect(await database.query('SELECT 7')).toEqual([]);
  });

  it('has those of all pools of the process back, one that nobody gives back among them', async () => {
    const sessions = createServerSessions();
    const [busy, quiet] = [open({ sessions, maxConnections: 2 }), open({ sessions })];
    const queue = openSessionPool({ config: { connectionString }, sessions, inUse: 'are_cut', onIdleError: () => {} });
    const listener = await queue.pool.connect();
    let failed = 0;
    listener.on('error', () => {
      failed++;
      listener.release(true);
    });
    await Promise.all([busy.query('SELECT 1'), quiet.query('SELECT 1')]);
    expect(server.sessions.size).toBe(3);
    server.refuses = true;
    await failureOf(Promise.all([busy.query('SELECT 2'), busy.query('SELECT 3')]));
    await eventually('all sessions to end', () => server.sessions.size === 0);
    expect(failed).toBe(1);
    await queue.close();
  });

  it('is noticed by a service that needs no new session: one is renewed now and then', async () => {
    const database = open({ renewSessionSeconds: 0.05 });
    await database.query('SELECT 1');
    server.refuses = true;
    await eventually('a refusal', () => database.query('SELECT 2').then(() => false, isDatabaseAway));
    expect(server.refused).toBeGreaterThan(0);
    await eventually('the session to end', () => server.sessions.size === 0);
  });
});

describe('the sessions of a pool', () => {
  it('stay from one rush to the next; of all of them, one a minute is renewed', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const database = open();
      const rush = () => Promise.all(['SELECT 1', 'SELECT 2', 'SELECT 3'].map((sql) => database.query(sql)));
      await rush();
      vi.advanceTimersByTime(59_000);
      await rush();
      expect([server.taken, server.sessions.size]).toEqual([3, 3]);
      vi.advanceTimersByTime(1_000);
      await rush();
      await eventually('one to end', () => server.sessions.size === 2);
      await rush();
      await rush();
      expect([server.taken, server.sessions.size]).toEqual([4, 3]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a server that ends one session because it shuts down', () => {
  it('has the others back too', async () => {
    const database = open();
    await Promise.all([database.query('SELECT 1'), database.query('SELECT 2'), database.query('SELECT 3')]);
    server.refuses = true;
    const [first] = server.sessions;
    first!.end(TERMINATED);
    await eventually('all sessions to end', () => server.sessions.size === 0);
  });
});
