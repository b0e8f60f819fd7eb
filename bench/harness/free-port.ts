/**
 * A loopback port that was free a moment ago. Not one of those that the system gives out by itself (on Linux from
 * 32,768 on): whoever opens a connection or listens anywhere in the meantime is given one of those.
 */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const OWN_PORTS = [12_000, 30_000] as const;
const TRIES = 50;

/** `preferred` if it is free, else any. */
export async function freePort(preferred = 0): Promise<number> {
  const isFree = (port: number): Promise<boolean> =>
    new Promise((done) => {
      const probe = createServer();
      probe.once('error', () => done(false));
      probe.listen(port, () => probe.close(() => done(true)));
    });
  if (preferred > 0 && (await isFree(preferred))) return preferred;
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(...OWN_PORTS);
    if (await isFree(port)) return port;
  }
  throw new Error('no free port on this machine');
}
