/** Everybody else: a program that prints its address as JSON, with its packages outside of this project. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { builtEntry, packageRoot } from '../../../src/config/built-entry.ts';
import { endChild } from '../../harness/end-child.ts';
import { spawnOnSubjectsCore } from '../cores.ts';
import { missingPeer, type PeerName } from '../peers.ts';
import type { RunningSubject } from '../subject.ts';

const STOP_LIMIT_MS = 3_000;
const START_LIMIT_MS = 60_000;

interface OtherSubject {
  /** Null: the plain cascade, which is our own. */
  peer: PeerName | null;
  peers: string;
  /** Of the providers. */
  port: number;
  settings: { detector?: string; processes?: string };
}

export async function startOther({ peer, peers, port, settings }: OtherSubject): Promise<RunningSubject> {
  const [command, ...args] = commandOf(peer, peers);
  const child = spawnOnSubjectsCore(command!, args, {
    env: {
      ...process.env,
      RACE_PROVIDERS: `http://127.0.0.1:${port}`,
      RACE_DETECTOR: settings.detector ?? '',
      RACE_PROCESSES: settings.processes ?? '',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const stop = (): Promise<void> => endChild(child, STOP_LIMIT_MS);
  const told = new Promise<string>((done, failed) => {
    const limit = setTimeout(() => failed(new Error(`${command} did not say its address`)), START_LIMIT_MS);
    child.once('exit', (code) => failed(new Error(`${peer ?? 'the plain cascade'} ended with code ${code}`)));
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (!line.startsWith('{"url"')) return;
      clearTimeout(limit);
      done((JSON.parse(line) as { url: string }).url);
    });
  });
  try {
    return { pid: child.pid ?? 0, urlPrefix: await told, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function commandOf(peer: PeerName | null, peers: string): string[] {
  if (peer === null) return [process.execPath, builtEntry('bench/race/subjects/plain-cascade.js')];
  const missing = missingPeer(peer, peers);
  if (missing !== null) throw new Error(missing);
  const [file, folder] = [peer === 'livekit' ? 'livekit-agent.mjs' : 'pipecat-agent.py', join(peers, peer)];
  // Packages are looked for from where a program lies.
  copyFileSync(join(packageRoot(), 'bench/race/subjects', file), join(folder, file));
  return [peer === 'livekit' ? process.execPath : join(folder, 'bin/python'), join(folder, file)];
}
