/** The carrier emulator as a process of its own, so that its callees' work does not disturb the gateway's clock. */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { EMULATED_ACCOUNT } from '../../src/carriers/emulated-account.ts';
import { builtEntry } from '../../src/config/built-entry.ts';
import type { EmulatorEvent } from '../emulators/emulator-event.ts';
import type { PersonaInput } from '../emulators/persona.ts';
import { endChild } from './end-child.ts';
import { freePort } from './free-port.ts';

/** What the emulator itself saw of a call (`CallTruth.toJson`), as far as the harness' users read it. */
export interface EmulatedCall {
  callUuid: string;
  requestUuid: string;
  to: string;
  placedAtEpochMs: number;
  answeredAtEpochMs: number | null;
  streamOpenAtEpochMs: number | null;
  firstAgentSampleAtEpochMs: number | null;
  firstAgentSoundAtEpochMs: number | null;
  lastAgentSampleAtEpochMs: number | null;
  agentBegan: { atEpochMs: number; playedMs: number }[];
  hungUpAtEpochMs: number | null;
  hangup: { code: number; name: string; source: string } | null;
  clears: {
    receivedAtEpochMs: number;
    lastAgentSampleAtEpochMs: number | null;
    droppedMs: number;
    agentPlayedMs: number;
    calleeSpeechStartAtEpochMs: number | null;
  }[];
  said: { text: string; interrupting: boolean; startAtEpochMs: number; endAtEpochMs: number | null; startMs: number }[];
  heard: { text: string; understood: boolean; atEpochMs: number }[];
  streams: { openedAtEpochMs: number; closedAtEpochMs: number | null; closeCode: number | null }[];
  protocolFaults: string[];
  refusedUpgrades: string[];
  framesSent: number;
  agentPlayedMs: number;
  /** How late the emulator itself ran. */
  maxFrameLatenessMs: number;
  recordingMs: number | null;
}

export interface EmulatorProcess {
  pid: number | undefined;
  apiBase: string;
  /** Of the account that it has, as the carrier declares them. */
  credentials: typeof EMULATED_ACCOUNT;
  onEvent(listener: (event: EmulatorEvent) => void): void;
  calls(): Promise<EmulatedCall[]>;
  /** The callee hangs up now; nothing happens to a call that is over. */
  hangUp(callUuid: string): Promise<void>;
  /** Stereo WAV: callee left, agent right. */
  recording(callUuid: string): Promise<Buffer>;
  stop(): Promise<void>;
}

const STOP_LIMIT_MS = 5_000;

/** `handshakeTimeoutMs`: of its media sockets; default: as a real carrier's. */
export async function startEmulatorProcess(
  personas: readonly PersonaInput[],
  keepAudio = true,
  handshakeTimeoutMs?: number,
): Promise<EmulatorProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-emulator-'));
  const file = join(folder, 'personas.json');
  writeFileSync(file, JSON.stringify(personas));
  const port = await freePort();
  const child = fork(
    builtEntry('bench/emulators/main.js'),
    [
      ...['--port', String(port), '--personas', file],
      ...(keepAudio ? [] : ['--no-audio']),
      ...(handshakeTimeoutMs === undefined ? [] : ['--handshake-timeout-ms', String(handshakeTimeoutMs)]),
    ],
    { stdio: ['ignore', 'pipe', 'inherit', 'ipc'], detached: true },
  );
  const listeners = new Set<(event: EmulatorEvent) => void>();
  const apiBase = `http://127.0.0.1:${port}`;
  await new Promise<void>((ready, failed) => {
    child.once('exit', (code) => failed(new Error(`the carrier emulator ended with code ${code}`)));
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (!line.startsWith('{')) return;
      const event = JSON.parse(line) as EmulatorEvent | { event: 'listening' };
      if (event.event === 'listening') ready();
      else for (const listener of listeners) listener(event);
    });
  });
  return {
    pid: child.pid,
    apiBase,
    credentials: EMULATED_ACCOUNT,
    onEvent: (listener) => listeners.add(listener),
    async calls() {
      const answer = await fetch(`${apiBase}/emulator/calls`);
      return (await answer.json()) as EmulatedCall[];
    },
    async hangUp(callUuid) {
      const answer = await fetch(`${apiBase}/emulator/calls/${callUuid}/hangup`, { method: 'POST' });
      if (!answer.ok) throw new Error(`the emulator knows no call ${callUuid} (${answer.status})`);
    },
    async recording(callUuid) {
      const answer = await fetch(`${apiBase}/emulator/calls/${callUuid}/recording.wav`);
      if (!answer.ok) throw new Error(`the emulator has no recording of ${callUuid} (${answer.status})`);
      return Buffer.from(await answer.arrayBuffer());
    },
    async stop() {
      rmSync(folder, { recursive: true, force: true });
      await endChild(child, STOP_LIMIT_MS);
    },
  };
}
