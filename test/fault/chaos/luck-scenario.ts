/**
 * `npm run fault -- chaos luck`: what is nobody's death. The disk is full; the file descriptors are used up. (The
 * database that is away for 60 s is a random run with one step: `main.ts`.) Root on Linux: a small file system is
 * mounted, a process's limit is lowered.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Gateway, startGateway } from '../../../bench/harness/gateway.ts';
import { countingAgent } from './counting-agent.ts';

type Say = (line: string) => void;

const DISK_CALLS = 20;
const DISK_KB = 512;
const DESCRIPTOR_CALLS = 10;
const DESCRIPTORS_LEFT = 40;
const FLOOD_CONNECTIONS = 80;
const END_LIMIT_MS = 60_000;

interface Lucky {
  gateway: Gateway;
  dataDir: string;
  /** What control and media have written. */
  output(): string;
}

async function withGateway(
  before: (dataDir: string) => void,
  run: (lucky: Lucky) => Promise<string[]>,
): Promise<string[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-chaos-luck-'));
  let output = '';
  before(dataDir);
  const gateway = await startGateway({
    dataDir,
    agent: countingAgent,
    personas: [{ kind: 'silent', name: 'silent', number: '+1415551*', ringMs: 100 }],
    settings: { PARLEY_PIPELINE_THREADS: '1' },
    concurrentCalls: 200,
    callsPerSecond: 200,
    keepAudio: false,
    log: () => {},
    childOutput: (text) => {
      output += text;
    },
  });
  try {
    return await run({ gateway, dataDir, output: () => output });
  } finally {
    await gateway.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** 20 calls whose recordings have half a megabyte of room together. True: all ended well, and nothing died. */
export async function runFullDisk(say: Say): Promise<boolean> {
  let mounted = '';
  const mount = (dataDir: string): void => {
    mounted = join(dataDir, 'recordings');
    mkdirSync(mounted);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_KB}k`, 'tmpfs', mounted]);
  };
  const faults = await withGateway(mount, async ({ gateway, output }) => {
    const pid = gateway.service.media[0]!.pid();
    const ends = await endsOf(gateway, await placeAll(gateway, DISK_CALLS, 0));
    const lines = output().split('\n');
    const refused = lines.filter((line) => line.includes('recording failed; the call goes on without it'));
    const deaths = lines.filter((line) => line.includes('thread died'));
    say(
      `disk full: ${DISK_CALLS} calls, ${DISK_KB} kB of room: ${count(ends)}; said ${refused.length} times, ${deaths.length} threads died`,
    );
    execFileSync('umount', ['-l', mounted]);
    return [
      ...ends.filter((end) => end !== 'completed/agent_hangup'),
      ...(gateway.service.media[0]!.pid() === pid ? [] : ['the media process died']),
      ...deaths,
      ...(refused.length === 0 ? ['the disk was not full: nothing was tried'] : []),
      ...(refused.length > DISK_CALLS ? ['a call said it more than once'] : []),
    ];
  });
  for (const fault of faults) say(`    ${fault}`);
  return faults.length === 0;
}

/**
 * 10 calls talk while the process runs out of descriptors. True: they end well, it is said once, and new calls go again
 * afterwards.
 */
export async function runNoDescriptors(say: Say): Promise<boolean> {
  const faults = await withGateway(
    () => {},
    async ({ gateway, output }) => {
      const pid = gateway.service.media[0]!.pid()!;
      const talking = await placeAll(gateway, DESCRIPTOR_CALLS, 1);
      await wait(2_000);
      const before = Number(/^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'latin1'))?.[1]);
      limitDescriptors(pid, readdirSync(`/proc/${pid}/fd`).length + DESCRIPTORS_LEFT);
      await wait(1_500);
      // These are answered by 503 at their stream, and end.
      const late = await placeAll(gateway, 3, 2);
      const flood = await floodOf(gateway);
      const cpuBefore = cpuSeconds(pid);
      await wait(3_000);
      const cpu = cpuSeconds(pid) - cpuBefore;
      for (const socket of flood) socket.destroy();
      limitDescriptors(pid, before);
      await wait(1_000);
      const ends = await endsOf(gateway, talking);
      const lateEnds = await endsOf(gateway, late);
      const again = await endsOf(gateway, await placeAll(gateway, 3, 3));
      const said = output()
        .split('\n')
        .filter((line) => line.includes('file descriptors are running out: new streams'));
      say(
        `no descriptors: ${count(ends)} of those that talked; ${count(lateEnds)} of those that came then; ${count(again)} afterwards; ` +
          `said ${said.length} times; ${cpu.toFixed(1)} CPU s in 3 s of it`,
      );
      return [
        ...[...ends, ...again].filter((end) => end !== 'completed/agent_hangup'),
        ...(gateway.service.media[0]!.pid() === pid ? [] : ['the media process died']),
        ...(said.length === 1 ? [] : [`said ${said.length} times`]),
        ...(cpu < 2 ? [] : ['the process span']),
      ];
    },
  );
  for (const fault of faults) say(`    ${fault}`);
  return faults.length === 0;
}

async function placeAll(gateway: Gateway, calls: number, round: number): Promise<string[]> {
  const { agentId, enterprise, lineId } = gateway;
  return Promise.all(
    Array.from({ length: calls }, async (_, at) => {
      const to = `+1415551${round}${String(at).padStart(3, '0')}`;
      const { body, httpStatus } = await gateway.client.place({ to, agentId, enterprise, from: lineId });
      if (body.callUuid === undefined) throw new Error(`${to} was answered ${httpStatus}`);
      return body.callUuid;
    }),
  );
}

function endsOf(gateway: Gateway, callUuids: readonly string[]): Promise<string[]> {
  return Promise.all(
    callUuids.map(async (callUuid) => {
      const entry = await gateway.client.waitFor(callUuid, 'its end', ({ endedAt }) => endedAt !== null, END_LIMIT_MS);
      return `${entry.status}/${entry.endedReason}`;
    }),
  );
}

function count(ends: readonly string[]): string {
  return [...new Set(ends)].map((end) => `${ends.filter((one) => one === end).length} × ${end}`).join(', ');
}

/** The soft limit alone: raising the hard one again needs a right that root in a container may lack. */
function limitDescriptors(pid: number, most: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${most}:`]);
}

/** Connections that say nothing; some may be refused. */
async function floodOf(gateway: Gateway): Promise<Socket[]> {
  const { hostname, port } = new URL(gateway.service.publicUrl);
  const sockets: Socket[] = [];
  for (let i = 0; i < FLOOD_CONNECTIONS; i++) {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => {});
    sockets.push(socket);
    await wait(5);
  }
  return sockets;
}

/** User and system time of all threads, from /proc; a tick is 10 ms. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
