/**
 * A PostgreSQL that greets a connection and ends it in the same packet, as one does whose postmaster was just killed.
 */
import net, { type AddressInfo } from 'node:net';
import pg from 'pg';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { patientAddress } from '../../../bench/harness/patience.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { isDatabaseAway } from '../../../src/store/database-away.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** One message of the protocol (PostgreSQL documentation §54.7): type, length with itself, content. */
function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
}

const AUTHENTICATION_OK = message('R', Buffer.alloc(4));
const READY = message('Z', Buffer.from('I'));
const FATAL = message(
  'E',
  Buffer.from('SFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0'),
);

describe('a connection that dies in the turn in which it was made', () => {
  it.each([
    ['query', (db: ReturnType<typeof openDatabase>) => db.query('SELECT 1')],
    ['transaction', (db: ReturnType<typeof openDatabase>) => db.transaction((tx) => tx.query('SELECT 1'))],
  ])('fails the %s and nothing else', async (_what, work) => {
    const server = net.createServer((socket) => {
      ends.push(() => socket.destroy());
      socket.on('error', () => {});
      socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATION_OK, READY, FATAL])));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const connectionString = patientAddress(`postgresql://a:b@127.0.0.1:${port}/c`);
    const db = openDatabase({ connectionString, onIdleError: () => {} });
    ends.push(() => db.close());
    const uncaught: unknown[] = [];
    const catchIt = (error: unknown): void => void uncaught.push(error);
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', catchIt);
    ends.push(() => {
      process.off('uncaughtException', catchIt);
      for (const other of others) process.on('uncaughtException', other);
    });
    await expect(work(db)).rejects.toThrow();
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(uncaught).toEqual([]);
  });
});

describe('a PostgreSQL that takes a question and never answers', () => {
  it.each([
    ['query', (db: ReturnType<typeof openDatabase>) => db.query('SELECT 1')],
    ['transaction', (db: ReturnType<typeof openDatabase>) => db.transaction((tx) => tx.query('SELECT 1'))],
  ])('fails the %s after 500 ms as one that is away, and asks for no rollback', async (_what, work) => {
    // Counted where the driver is asked: a rollback behind an unanswered question would never come to the server.
    const asked = vi.spyOn(pg.Client.prototype, 'query');
    ends.push(() => asked.mockRestore());
    const server = net.createServer((socket) => {
      ends.push(() => socket.destroy());
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write(Buffer.concat([AUTHENTICATION_OK, READY]));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const db = openDatabase({
      connectionString: patientAddress(`postgresql://a:b@127.0.0.1:${port}/c`),
      answerLimitMs: 500,
      onIdleError: () => {},
    });
    ends.push(() => db.close());
    const startedAtMs = performance.now();
    const failure = await work(db).then(
      () => null,
      (error: unknown) => error,
    );
    expect(isDatabaseAway(failure)).toBe(true);
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(499);
    expect(asked).toHaveBeenCalledOnce();
  });
});
