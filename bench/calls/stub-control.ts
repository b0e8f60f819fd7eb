/**
 * Just enough of control for a media process under load: takes the link, answers every claim with a call whose id is
 * the token, counts what comes. The sockets are measured, so no database and no REST stand beside them.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { MULAW_8K } from '../../media/contract/audio-format.ts';
import type { ConnectionGrant } from '../../media/contract/grant.ts';
import { ReliableLink } from '../../media/contract/link.ts';
import type { CallSetup, ClaimAnswer, ToControl, ToMedia } from '../../media/contract/link-messages.ts';
import { type SendCounts, sendCountsOf } from './send-lateness.ts';

export interface StubControl {
  /** Resolves when a media process has said hello; tells which socket server it runs. */
  hello: Promise<{ socketServer: string }>;
  claims(): number;
  /** Of the latest figures that came. */
  sends(): SendCounts | null;
  close(): void;
}

export const BENCH_ORIGIN = 'https://bench.example';
const LINK_CAPACITY = 10_000;
const RECORDED = { record: true, recordingKeyHex: '5e'.repeat(32) };

/** `record`: every call is recorded, under one key. `grants`: of what the agent names. */
export function startStubControl(
  runDir: string,
  agent: AgentDefinition,
  { record = false, grants = [] }: { record?: boolean; grants?: readonly ConnectionGrant[] } = {},
): StubControl {
  let claims = 0;
  let sends: SendCounts | null = null;
  const sockets = new Set<Socket>();
  let greeted: (value: { socketServer: string }) => void;
  const hello = new Promise<{ socketServer: string }>((done) => {
    greeted = done;
  });
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    const link = new ReliableLink<ToMedia, ToControl>({
      runId: `stub-${process.pid}`,
      capacity: LINK_CAPACITY,
      write: (line) => socket.write(`${line}\n`),
      receive(message) {
        if (message.type === 'hello') greeted({ socketServer: message.socketServer });
        if (message.type === 'metrics') sends = sendCountsOf(message.families);
        if (message.type !== 'claim') return;
        claims++;
        link.send({
          type: 'claim.answer',
          requestId: message.requestId,
          answer:
            message.claim.carrier === 'web'
              ? webAnswer(agent)
              : { ok: true, setup: { ...setupOf(message.claim.token, agent), grants, ...(record ? RECORDED : {}) } },
        });
      },
    });
    link.connected();
    createInterface({ input: socket }).on('line', (line) => link.receiveLine(line));
  });
  server.listen(join(runDir, 'link.sock'));
  return {
    hello,
    claims: () => claims,
    sends: () => sends,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Each socket at `/ws/live` gets a session of its own, whatever its token is. */
function webAnswer(agent: AgentDefinition): ClaimAnswer {
  const setup = setupOf(randomUUID(), agent);
  const web = { origin: BENCH_ORIGIN, resumeKeyHex: '00'.repeat(32), maxSessionSeconds: 3600, resumed: null };
  return { ok: true, setup: { ...setup, carrier: 'web', carrierCallId: null, web } };
}

function setupOf(token: string, agent: AgentDefinition): CallSetup {
  return {
    callUuid: token,
    epoch: 1,
    enterprise: 'bench',
    agentId: 'bench',
    agentVersion: 1,
    agent,
    placeholders: {},
    carrier: 'plivo',
    carrierCallId: token,
    answeredAtEpochMs: Date.now(),
    maxDurationMs: 3_600_000,
    record: false,
    checkpoint: null,
    format: MULAW_8K,
  };
}
