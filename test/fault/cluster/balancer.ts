/**
 * HAProxy before the nodes, as docs/scale.md has it: `/n/<node>/` to that node, all else to any that is ready. Without
 * `client-fin` and `server-fin` the sockets of a machine that fell silent keep version 2.6 busy for a whole core.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

export interface Balancer {
  /**
   * What it does with requests that no `/n/<node>/` says the node of: `ready` as a balancer should, `maint` never to
   * this one, `unchecked` as if it lived, whatever it answers.
   */
  treat(node: string, as: 'ready' | 'maint' | 'unchecked'): Promise<void>;
  /** A new one in its place, which has no sockets. */
  renew(): Promise<void>;
  close(): Promise<void>;
}

const START_LIMIT_MS = 10_000;

/** `nodes`: by name, `address:port`. Rejects where there is no HAProxy. */
export async function startBalancer(
  { address, port }: { address: string; port: number },
  nodes: ReadonlyMap<string, string>,
  folder: string,
): Promise<Balancer> {
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, configOf(`${address}:${port}`, nodes, socketIn(folder)));
  async function start(): Promise<ChildProcess> {
    const child = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (text) => {
      said += text;
    });
    const failed = new Promise<never>((_, reject) => {
      child.once('error', (error) => reject(new Error(`HAProxy (Debian: apt-get install haproxy): ${error.message}`)));
      child.once('exit', (code) => reject(new Error(`HAProxy ended with ${code}: ${said.slice(-500)}`)));
    });
    failed.catch(() => {});
    await Promise.race([listens(address, port), failed]);
    return child;
  }
  let child = await start();
  let isClosed = false;
  const tell = (command: string): Promise<void> => told(socketIn(folder), command);
  return {
    async treat(node, as) {
      await tell(`set server any/${node} state ${as === 'maint' ? 'maint' : 'ready'}`);
      if (as === 'unchecked') {
        await tell(`disable health any/${node}`);
        await tell(`set server any/${node} health up`);
      } else await tell(`enable health any/${node}`);
    },
    async renew() {
      await end(child);
      // Whoever ends the run may do so in between: it would outlive this process.
      if (isClosed) return;
      child = await start();
      if (isClosed) await end(child);
    },
    close() {
      isClosed = true;
      return end(child);
    },
  };
}

const socketIn = (folder: string): string => join(folder, 'haproxy.sock');

/** By its own socket for operators. */
async function told(path: string, command: string): Promise<void> {
  const socket = connect({ path });
  socket.setEncoding('utf8');
  socket.write(`${command}\n`);
  let answer = '';
  for await (const text of socket) answer += text;
  if (answer.trim() !== '') throw new Error(`HAProxy, asked to ${command}: ${answer.trim()}`);
}

function configOf(bind: string, nodes: ReadonlyMap<string, string>, operators: string): string {
  const names = [...nodes.keys()];
  return `global
  maxconn 8000
  stats socket ${operators} mode 600 level admin
defaults
  mode http
  option forwardfor
  option redispatch 1
  retries 3
  timeout connect 1s
  timeout client 1h
  timeout server 1h
  timeout tunnel 1h
  timeout client-fin 5s
  timeout server-fin 5s
  timeout http-request 10s
  timeout check 1s
frontend public
  bind ${bind}
${names.map((name) => `  use_backend node_${name} if { path_beg /n/${name}/ }`).join('\n')}
  default_backend any
backend any
  balance roundrobin
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host parley
  timeout server 10s
  default-server check inter 1s fall 2 rise 1
${names.map((name) => `  server ${name} ${nodes.get(name)}`).join('\n')}
${names.map((name) => `backend node_${name}\n  server ${name} ${nodes.get(name)}`).join('\n')}
`;
}

async function listens(host: string, port: number): Promise<void> {
  for (const untilMs = performance.now() + START_LIMIT_MS; performance.now() < untilMs; await wait(50)) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect({ host, port }, () => resolve(true));
      socket.once('error', () => resolve(false)).once('connect', () => socket.destroy());
    });
    if (isOpen) return;
  }
  throw new Error('HAProxy did not open its port');
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}
