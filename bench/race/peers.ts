/** The peers' packages: which versions, where they lie, and how they get there. They are no part of this project. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const PEERS = {
  livekit: {
    '@livekit/agents': '1.9.0',
    '@livekit/agents-plugin-deepgram': '1.9.0',
    '@livekit/agents-plugin-elevenlabs': '1.9.0',
    '@livekit/agents-plugin-openai': '1.9.0',
    '@livekit/agents-plugin-silero': '1.9.0',
    '@livekit/rtc-node': '0.13.35',
  },
  pipecat: { 'pipecat-ai[websocket,deepgram,openai,silero]': '1.14.0', uvicorn: '0.54.0' },
} as const;

export type PeerName = keyof typeof PEERS;

/** Null: it is there. Else what to do, for a person. */
export function missingPeer(peer: PeerName, folder: string): string | null {
  const place = join(folder, peer, peer === 'livekit' ? 'node_modules/@livekit/agents/package.json' : 'bin/python');
  if (existsSync(place)) return null;
  return `${peer} is not installed below ${folder}: run 'npm run bench -- race --install', or name its folder by --peers`;
}

/** From the public registries, into `folder`. */
export function installPeers(folder: string): void {
  const livekit = join(folder, 'livekit');
  mkdirSync(livekit, { recursive: true });
  writeFileSync(join(livekit, 'package.json'), JSON.stringify({ private: true, dependencies: PEERS.livekit }));
  // Its install scripts fetch libraries for graphics processors.
  const npm = ['install', '--no-audit', '--no-fund', '--ignore-scripts'];
  execFileSync('npm', npm, { cwd: livekit, stdio: 'inherit' });
  const pipecat = join(folder, 'pipecat');
  execFileSync('python3', ['-m', 'venv', pipecat], { stdio: 'inherit' });
  const wanted = Object.entries(PEERS.pipecat).map(([name, version]) => `${name}==${version}`);
  execFileSync(join(pipecat, 'bin/pip'), ['install', ...wanted], { stdio: 'inherit' });
}

/** What is installed there; null: nothing. */
export function versionsOf(peer: PeerName, folder: string): Record<string, string> | null {
  if (missingPeer(peer, folder) !== null) return null;
  if (peer === 'pipecat') {
    const said = execFileSync(join(folder, peer, 'bin/pip'), [
      'list',
      '--format',
      'json',
      '--disable-pip-version-check',
    ]);
    const all = JSON.parse(said.toString()) as { name: string; version: string }[];
    const told = ['pipecat-ai', 'onnxruntime', 'uvicorn', 'websockets'];
    return Object.fromEntries(
      all.filter(({ name }) => told.includes(name)).map(({ name, version }) => [name, version]),
    );
  }
  return Object.fromEntries(
    Object.keys(PEERS.livekit).map((name) => {
      const file = join(folder, peer, 'node_modules', name, 'package.json');
      return [name, (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version];
    }),
  );
}
