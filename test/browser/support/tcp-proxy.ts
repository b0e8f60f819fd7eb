/**
 * A line between browser and service that a test breaks: resets what is open, refuses what comes, or is a black hole.
 * As with TCP, what went into the hole is late and not lost: a connection that outlives it carries on where it was, and
 * never with a gap in its bytes. One that was begun in the hole comes to nothing.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Line {
  url: string;
  mode: 'through' | 'refuse' | 'hole';
  /** Connections that came while nothing got through, since the line was made. */
  callsInVain: number;
  /** Resets every open connection. */
  reset(): void;
  close(): void;
}

export async function startLine(target: string): Promise<Line> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  /** The other ends of those that closed in the hole: they hear of it when it is over. */
  const bereft = new Set<Socket>();
  const unanswered = new Set<Socket>();
  let mode: Line['mode'] = 'through';
  const server = createServer((client) => {
    if (mode !== 'through') line.callsInVain++;
    if (mode === 'refuse') {
      client.resetAndDestroy();
      return;
    }
    if (mode === 'hole') {
      client.pause().on('error', () => {});
      unanswered.add(client);
      return;
    }
    const upstream = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.on('data', (bytes) => to.write(bytes));
      from.on('close', () => {
        open.delete(from);
        if (mode === 'hole') bereft.add(to);
        else to.destroySoon();
      });
      from.on('error', () => {});
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const line: Line = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    callsInVain: 0,
    get mode() {
      return mode;
    },
    set mode(next) {
      mode = next;
      for (const socket of open) next === 'hole' ? socket.pause() : socket.resume();
      if (next === 'hole') return;
      for (const socket of bereft) socket.destroySoon();
      bereft.clear();
      for (const socket of unanswered) socket.resetAndDestroy();
      unanswered.clear();
    },
    reset() {
      for (const socket of open) socket.resetAndDestroy();
    },
    close() {
      line.mode = 'through';
      line.reset();
      server.close();
    },
  };
  return line;
}
