/** One node: `npm start` as it is run for real, in its network, with its own data folder; and the ways it can die. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { builtEntry } from '../../../src/config/built-entry.ts';
import type { ClusterNetwork } from './network.ts';

export interface ClusterNode {
  readonly name: string;
  /** Past the balancer. */
  readonly url: string;
  /** Of its processes, from the top; none while it does not run. */
  pids(): readonly number[];
  /** Resolves when it is ready; rejects with what it said when it ends instead. */
  start(otherwise?: StartedOtherwise): Promise<void>;
  /** All its processes at once, as a machine that loses its power: its sockets are reset. */
  kill(): Promise<void>;
  /** All stand still, sockets open, until `resume`. */
  suspend(): void;
  resume(): void;
  /** SIGTERM; resolves with the exit code when its calls are over. */
  drain(): Promise<number | null>;
}

export interface StartedOtherwise {
  /** More settings, or other ones. */
  settings?: Readonly<Record<string, string>>;
  /** Of another version: its folder, built. */
  root?: string;
}

const PORT = 8080;
const ENTRY = 'src/supervisor/main.js';
const READY_LIMIT_MS = 90_000;

export function clusterNode(options: {
  name: string;
  folder: string;
  network: ClusterNetwork;
  settings: Readonly<Record<string, string>>;
}): ClusterNode {
  const { name, folder, network, settings } = options;
  const url = `http://${network.addressOf(name)}:${PORT}`;
  let child: ChildProcess | null = null;

  const pids = (): number[] => (child?.pid === undefined ? [] : treeOf(child.pid));
  const send = (signal: NodeJS.Signals): void => {
    for (const pid of pids()) {
      try {
        process.kill(pid, signal);
      } catch {
        // Gone.
      }
    }
  };

  return {
    name,
    url,
    pids,
    async start({ settings: more, root } = {}) {
      const entry = root === undefined ? builtEntry(ENTRY) : join(root, 'dist', ENTRY);
      const [command, ...args] = [...network.inside(name), process.execPath, entry];
      const started = spawn(command!, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          PATH: process.env['PATH'],
          HOME: process.env['HOME'],
          PARLEY_DATA_DIR: join(folder, name),
          HOST: network.addressOf(name),
          PORT: String(PORT),
          PARLEY_NODE: name,
          PARLEY_NODE_ADDRESS: url,
          ...settings,
          ...more,
        },
      });
      child = started;
      const log = createWriteStream(join(folder, `${name}.log`), { flags: 'a' });
      for (const stream of [started.stdout, started.stderr]) stream.pipe(log, { end: false });
      started.once('exit', () => log.end());
      for (const untilMs = performance.now() + READY_LIMIT_MS; ; await wait(200)) {
        if (await isReady(url)) return;
        const hasEnded = started.exitCode !== null || started.signalCode !== null;
        if (!hasEnded && performance.now() < untilMs) continue;
        send('SIGKILL');
        const said = readFileSync(join(folder, `${name}.log`), 'utf8').slice(-1_500);
        throw new Error(`node ${name} ${hasEnded ? 'ended' : 'was not ready'}: ${said}`);
      }
    },
    async kill() {
      const dying = child;
      if (dying === null || dying.exitCode !== null || dying.signalCode !== null) return;
      const exit = once(dying, 'exit');
      send('SIGKILL');
      await exit;
    },
    suspend: () => send('SIGSTOP'),
    resume: () => send('SIGCONT'),
    async drain() {
      const draining = child;
      if (draining === null) return null;
      const exit = once(draining, 'exit');
      draining.kill('SIGTERM');
      await exit;
      return draining.exitCode;
    },
  };
}

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1_000) });
    await answer.body?.cancel();
    return answer.status === 200;
  } catch {
    return false;
  }
}

/** The process and all below it, from the top, so that nobody starts anybody anew meanwhile. */
function treeOf(pid: number): number[] {
  let children: number[] = [];
  try {
    children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    // Gone.
  }
  return [pid, ...children.flatMap(treeOf)];
}
