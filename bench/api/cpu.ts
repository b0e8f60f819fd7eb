/**
 * CPU seconds of this process and of all that it started, by name, from the operating system's own accounting (Linux).
 */
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

interface Entry {
  parent: number;
  name: string;
  seconds: number;
}

/** Empty where there is no /proc. Children that ended are counted with their parents. */
export function cpuSeconds(rootPid = process.pid): Map<string, number> {
  const entries = new Map<number, Entry>();
  let pids: string[] = [];
  try {
    pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return new Map();
  }
  for (const pid of pids) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
      entries.set(Number(pid), { parent: Number(fields[1]), name: nameOf(words), seconds: ticks / TICKS_PER_SECOND });
    } catch {
      // It ended while it was being read.
    }
  }
  const byName = new Map<string, number>();
  for (const [pid, { name, seconds }] of entries) {
    if (pid !== rootPid && !descends(entries, pid, rootPid)) continue;
    const shown = pid === rootPid ? 'generator and supervisor' : name;
    byName.set(shown, (byName.get(shown) ?? 0) + seconds);
  }
  return byName;
}

function nameOf(words: readonly string[]): string {
  const text = words.join(' ');
  if (/postgres/.test(words[0] ?? '')) return 'PostgreSQL';
  return /(emulators|media|src)\/main\.js/.exec(text)?.[1] ?? (words[0] ?? 'other').slice(0, 40);
}

function descends(entries: ReadonlyMap<number, Entry>, pid: number, rootPid: number): boolean {
  for (let at = entries.get(pid)?.parent; at !== undefined && at > 1; at = entries.get(at)?.parent) {
    if (at === rootPid) return true;
  }
  return false;
}
