/** A loopback port that was free a moment ago. */
import { createServer } from 'node:net';

/** `preferred` if it is free, else any. */
export async function freePort(preferred = 0): Promise<number> {
  const tryPort = (wanted: number): Promise<number | null> =>
    new Promise((done) => {
      const probe = createServer();
      probe.once('error', () => done(null));
      probe.listen(wanted, () => {
        const address = probe.address();
        probe.close(() => done(typeof address === 'object' && address ? address.port : null));
      });
    });
  const port = (preferred > 0 ? await tryPort(preferred) : null) ?? (await tryPort(0));
  if (port === null) throw new Error('no free port on this machine');
  return port;
}
