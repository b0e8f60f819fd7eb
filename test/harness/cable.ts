/** The way to a server, which can be cut as a cable is: nothing passes any more, and nobody is told. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Cable {
  port: number;
  cut(): void;
  /** New connections pass again; those of before are gone. */
  mend(): void;
  /** From now on it leads there; connections of before are gone. */
  lead(to: { host: string; port: number }): void;
  close(): Promise<void>;
}

/** From a free port of `address`. */
export async function layCable(to: { host: string; port: number }, address = '127.0.0.1'): Promise<Cable> {
  const ends = new Set<Socket>();
  let isCut = false;
  let target = to;
  const server = createServer((near) => {
    ends.add(near);
    near.on('error', () => near.destroy());
    if (isCut) return void near.pause();
    const far = connect(target);
    ends.add(far);
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes) => void (isCut || into.write(bytes)));
      from.on('error', () => into.destroy());
      from.on('close', () => {
        ends.delete(from);
        if (!isCut) into.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const endAll = (): void => {
    for (const socket of ends) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
    },
    mend() {
      endAll();
      isCut = false;
    },
    lead(elsewhere) {
      target = elsewhere;
      endAll();
    },
    async close() {
      endAll();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
