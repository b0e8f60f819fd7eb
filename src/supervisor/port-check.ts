/**
 * Several media processes share the public port (SO_REUSEPORT), so the kernel would let a second Parley share it too,
 * and give it half of the calls. Claimed before anything starts, and kept: of two that start together one is refused.
 */
import { createServer, type Server } from 'node:net';

/** Of a port that somebody else has. */
export class PortTaken extends Error {}

/**
 * Rejects, naming the way out, when somebody listens there already, or is about to. Resolves with what gives it back.
 */
export async function claimPort(host: string, port: number): Promise<() => void> {
  const lock = await lockPort(host, port);
  try {
    await assertPortFree(host, port);
  } catch (error) {
    lock?.close();
    throw error;
  }
  return () => lock?.close();
}

/**
 * Null where the system has no abstract sockets: then only who listens already is seen. Wildcard and loopback overlap.
 */
function lockPort(host: string, port: number): Promise<Server | null> {
  if (process.platform !== 'linux') return Promise.resolve(null);
  const where = /^(0\.0\.0\.0|::|127\..*|::1|localhost)$/.test(host) ? '' : `-${host}`;
  return new Promise((resolve, reject) => {
    const lock = createServer();
    lock.once('error', () => reject(taken(host, port, 'is taken by another Parley')));
    lock.listen(`\0parley-port-${port}${where}`, () => resolve(lock.unref()));
  });
}

/** A plain listener does not share. */
function assertPortFree(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE';
      reject(taken(host, port, isTaken ? 'is taken by another process' : `cannot be used (${error.code})`));
    });
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve()));
  });
}

function taken(host: string, port: number, what: string): PortTaken {
  return new PortTaken(`Port ${port} on ${host} ${what}. Stop that process, or set PORT (and HOST) to another.`);
}
