/** A line between browser and service that a test breaks: resets what is open, refuses what comes, or swallows every byte. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Line {
  url: string;
  mode: 'through' | 'refuse' | 'hole';
  /** Resets every open connection. */
  reset(): void;
  close(): void;
}

export async function startLine(target: string): Promise<Line> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    if (line.mode === 'refuse') {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.on('data', (bytes) => line.mode === 'through' && to.write(bytes));
      from.on('close', () => {
        open.delete(from);
        if (line.mode === 'through') to.destroy();
      });
      from.on('error', () => {});
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const line: Line = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mode: 'through',
    reset() {
      for (const socket of open) socket.resetAndDestroy();
    },
    close() {
      line.reset();
      server.close();
    },
  };
  return line;
}
