/** HAProxy before the nodes, as docs/scale.md has it: `/n/<node>/` to that node, all else to any that is ready. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

export interface Balancer {
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
  writeFileSync(file, configOf(`${address}:${port}`, nodes));
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const failed = new Promise<never>((_, reject) => {
    child.once('error', (error) => reject(new Error(`HAProxy (Debian: apt-get install haproxy): ${error.message}`)));
    child.once('exit', (code) => reject(new Error(`HAProxy ended with ${code}: ${said.slice(-500)}`)));
  });
  await Promise.race([listens(address, port), failed]);
  failed.catch(() => {});
  return { close: () => end(child) };
}

function configOf(bind: string, nodes: ReadonlyMap<string, string>): string {
  const names = [...nodes.keys()];
  return `global
  maxconn 8000
defaults
  mode http
  option forwardfor
  option redispatch 1
  retries 3
  timeout connect 1s
  timeout client 1h
  timeout server 1h
  timeout tunnel 1h
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
