/**
 * A network of its own for each node: a network namespace on a bridge, with an address and a cable that can be pulled.
 * The rest of the cluster is on the bridge's own address. Without root, or where the kernel has no namespaces, nodes
 * have loopback addresses of their own instead, and no cable.
 */
import { execFileSync } from 'node:child_process';

export interface ClusterNetwork {
  /** `namespaces`, or why there are none. */
  kind: string;
  /** Of database, balancer, carrier and receiver, as nodes reach them. */
  hub: string;
  /** Of these, as CIDR: what nodes may be told to reach. */
  range: string;
  addressOf(node: string): string;
  /** What stands before a command so that it runs where the node is. */
  inside(node: string): string[];
  /** Nothing passes any more, and nobody is told. Null where there are no cables. */
  pull: ((node: string) => void) | null;
  plug(node: string): void;
  close(): void;
}

/** `10.213.x.0/24`, or `127.0.213.x`. */
const HUB_HOST = 1;

export function layNetwork(nodes: readonly string[]): ClusterNetwork {
  const why = whyNoNamespaces();
  return why === null ? namespaces(nodes) : loopback(nodes, why);
}

function whyNoNamespaces(): string | null {
  if (process.getuid?.() !== 0) return 'loopback addresses: not root';
  const name = `parley-try-${process.pid}`;
  try {
    ip('netns', 'add', name);
    ip('netns', 'del', name);
    return null;
  } catch (error) {
    return `loopback addresses: ${(error as Error).message.split('\n')[0]}`;
  }
}

function namespaces(nodes: readonly string[]): ClusterNetwork {
  const net = `10.213.${process.pid % 250}`;
  // A device's name has at most 15 characters.
  const own = `pl${process.pid.toString(36)}`;
  const bridge = `${own}br`;
  const hostOf = new Map(nodes.map((node, at) => [node, `${net}.${HUB_HOST + 1 + at}`]));
  const spaceOf = (node: string): string => `${own}-${node}`;
  const cableOf = (node: string): string => `${own}v${node}`;
  const close = (): void => {
    for (const node of nodes) {
      tryTo(() => ip('link', 'del', cableOf(node)));
      tryTo(() => ip('netns', 'del', spaceOf(node)));
    }
    tryTo(() => ip('link', 'del', bridge));
  };
  try {
    ip('link', 'add', bridge, 'type', 'bridge');
    ip('addr', 'add', `${net}.${HUB_HOST}/24`, 'dev', bridge);
    ip('link', 'set', bridge, 'up');
    for (const node of nodes) {
      const [space, cable] = [spaceOf(node), cableOf(node)];
      ip('netns', 'add', space);
      ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space);
      ip('link', 'set', cable, 'master', bridge, 'up');
      ip('-n', space, 'addr', 'add', `${hostOf.get(node)}/24`, 'dev', 'eth0');
      for (const device of ['lo', 'eth0']) ip('-n', space, 'link', 'set', device, 'up');
    }
  } catch (error) {
    close();
    throw error;
  }
  return {
    kind: 'network namespaces',
    hub: `${net}.${HUB_HOST}`,
    range: `${net}.0/24`,
    addressOf: (node) => hostOf.get(node)!,
    inside: (node) => ['ip', 'netns', 'exec', spaceOf(node)],
    pull: (node) => ip('link', 'set', cableOf(node), 'down'),
    plug: (node) => ip('link', 'set', cableOf(node), 'up'),
    close,
  };
}

function loopback(nodes: readonly string[], why: string): ClusterNetwork {
  return {
    kind: why,
    hub: `127.0.213.${HUB_HOST}`,
    range: '127.0.0.0/8',
    addressOf: (node) => `127.0.213.${HUB_HOST + 1 + nodes.indexOf(node)}`,
    inside: () => [],
    pull: null,
    plug() {},
    close() {},
  };
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

function tryTo(work: () => void): void {
  try {
    work();
  } catch {
    // It was never made, or is gone.
  }
}
