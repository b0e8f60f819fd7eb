/**
 * Several media processes share the public port (SO_REUSEPORT), so the kernel would let a second Parley share it too, and give
 * it half of the calls. Asked once before the first media process starts.
 */
import { createServer } from 'node:net';

/** Rejects, naming the way out, when somebody listens there already. A plain listener does not share. */
export function assertPortFree(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => {
      const what = error.code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be used (${error.code})`;
      reject(new Error(`Port ${port} on ${host} ${what}. Stop that process, or set PORT (and HOST) to another.`));
    });
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve()));
  });
}
