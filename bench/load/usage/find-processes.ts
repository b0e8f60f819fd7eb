/**
 * Which processes on this machine are the target: those that the operator names, or whoever listens at its port (Linux
 * /proc). Called by `main.ts` where the target is not the tool's own.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { WatchedProcess } from './process-usage.ts';

const LISTENING = '0A';

/** `--pid 1234` or `--pid name=1234`. Throws with what is wrong. */
export function processesOf(options: readonly string[]): WatchedProcess[] {
  return options.map((option) => {
    const [, name, digits] = /^(?:([^=]+)=)?(\d+)$/.exec(option) ?? [];
    const pid = Number(digits);
    if (digits === undefined)
      throw new Error(`--pid ${option}: write a process id, or a name and one: --pid media=1234`);
    return { name: name ?? `pid ${pid}`, pid: () => pid, withChildren: true };
  });
}

/** Empty where nobody is found, who runs as another user or on another machine for example. */
export function processesAt(url: string): WatchedProcess[] {
  const { hostname, port, protocol } = new URL(url);
  if (!/^(127\.|localhost$|\[::1\]$)/.test(hostname)) return [];
  const wanted = Number(port || (/^(https|wss):$/.test(protocol) ? 443 : 80));
  const sockets = listeningAt(wanted);
  if (sockets.size === 0) return [];
  const pids = pidsWith(sockets);
  return pids.map((pid) => ({ name: `${nameOf(pid)} ${pid}`, pid: () => pid, withChildren: true }));
}

/** Inodes of sockets that listen at a port. */
function listeningAt(port: number): Set<string> {
  const inodes = new Set<string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    try {
      for (const line of readFileSync(table, 'latin1').split('\n').slice(1)) {
        const fields = line.trim().split(/\s+/);
        const at = Number.parseInt(fields[1]?.split(':')[1] ?? '', 16);
        if (at === port && fields[3] === LISTENING && fields[9] !== undefined) inodes.add(fields[9]);
      }
    } catch {
      // Not Linux, or no such family.
    }
  }
  return inodes;
}

function pidsWith(inodes: ReadonlySet<string>): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readdirSync(`/proc/${pid}/fd`).some((fd) => {
          const [, inode] = /^socket:\[(\d+)\]$/.exec(linkOf(pid, fd)) ?? [];
          return inode !== undefined && inodes.has(inode);
        });
      } catch {
        return false;
      }
    });
}

function linkOf(pid: number, fd: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    return '';
  }
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'latin1').trim();
  } catch {
    return 'pid';
  }
}
