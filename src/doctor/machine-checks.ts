/** The machine: Node, native parts of media (asked of media itself, in a process of its own), disk, open files. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type CheckResult, fail, ok, warn } from './check.ts';

const TESTED_MAJORS = [20, 22, 24];
const GIB = 1024 ** 3;
const DISK_FAIL_BYTES = GIB / 2;
const DISK_WARN_BYTES = 5 * GIB;
const FEW_FILES = 4_096;

export function checkNode(version: string = process.versions.node): CheckResult[] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 18)) {
    return [fail('Node', version, 'Parley needs Node 20.18 or later.')];
  }
  if (TESTED_MAJORS.includes(major)) return [ok('Node', version)];
  return [warn('Node', version, `Parley is made for Node ${TESTED_MAJORS.join(', ')}.`)];
}

/** What `media/self-check.js` prints. */
interface SelfCheck {
  socketServer: { kind: 'uws' | 'ws'; why: string };
  opus: 'discordjs' | 'opusscript';
}

export async function checkMediaParts(selfCheckEntry: string, limitMs: number): Promise<CheckResult[]> {
  const output = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [selfCheckEntry], { timeout: limitMs }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${error.signal ?? `code ${error.code}`}: ${stderr.trim().split('\n').at(-1) ?? ''}`));
    });
  });
  const { socketServer, opus } = JSON.parse(output) as SelfCheck;
  return [
    socketServer.kind === 'uws'
      ? ok('socket server', `uWebSockets.js: ${socketServer.why}`)
      : warn(
          'socket server',
          `ws, because ${socketServer.why}`,
          'It works with fewer calls a core. uWebSockets.js needs a glibc system and a Node version of the README.',
        ),
    opus === 'discordjs'
      ? ok('Opus', '@discordjs/opus (native)')
      : ok('Opus', 'opusscript (WebAssembly); npm rebuild @discordjs/opus makes recordings cheaper'),
  ];
}

export async function checkDisk(dataDir: string): Promise<CheckResult[]> {
  let folder = dataDir;
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize, ffree, files } = await statfs(folder);
  const freeBytes = bavail * bsize;
  const detail = `${(freeBytes / GIB).toFixed(1)} GiB free for ${dataDir}`;
  const way =
    'Make room: recordings stop first when the disk is full. A call takes 1 MB a minute while it runs, a fifth of it afterwards.';
  if (freeBytes < DISK_FAIL_BYTES || (files > 0 && ffree === 0)) return [fail('disk', detail, way)];
  return [freeBytes < DISK_WARN_BYTES ? warn('disk', detail, way) : ok('disk', detail)];
}

/** Linux only; elsewhere nothing is said. A call takes one file and one more while it is recorded. */
export function checkOpenFiles(limitsFile = '/proc/self/limits'): CheckResult[] {
  if (!existsSync(limitsFile)) return [];
  const limit = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync(limitsFile, 'utf8'))?.[1] ?? 'unlimited';
  if (limit === 'unlimited' || Number(limit) >= FEW_FILES) return [ok('open files', `${limit} may be open`)];
  const way = 'Raise it: ulimit -n 65536, LimitNOFILE= in a systemd unit, or --ulimit nofile= of the container.';
  return [warn('open files', `only ${limit} may be open in a process`, way)];
}
