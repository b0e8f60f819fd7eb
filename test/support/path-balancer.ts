/** Stands before several nodes: `/n/<name>/` goes to the node of that name, all else to the first. Prefixes stay. */
import { connect, createServer, type Server } from 'node:net';

export interface PathBalancer {
  port: number;
  close(): Promise<void>;
}

/** By name, their ports. Looks at the first line of each connection alone. */
export async function startPathBalancer(nodes: ReadonlyMap<string, number>, port: number): Promise<PathBalancer> {
  const open = new Set<{ destroy(): void }>();
  const server: Server = createServer((client) => {
    open.add(client);
    client.on('error', () => client.destroy());
    client.once('data', (head) => {
      const name = /^\S+ \/n\/([a-z0-9-]+)\//.exec(head.toString('latin1'))?.[1];
      const to = (name === undefined ? undefined : nodes.get(name)) ?? [...nodes.values()][0]!;
      const node = connect(to, '127.0.0.1');
      open.add(node);
      node.on('error', () => client.destroy());
      node.write(head);
      client.pipe(node).pipe(client);
      client.on('close', () => node.destroy());
      node.on('close', () => client.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
