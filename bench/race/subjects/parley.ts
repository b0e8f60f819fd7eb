/** Our own subject: the media process as it runs in production, with a stub in control's place. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CascadeAgent } from '../../../media/contract/agent-definition.ts';
import type { ConnectionGrant } from '../../../media/contract/grant.ts';
import { builtEntry } from '../../../src/config/built-entry.ts';
import { startStubControl } from '../../calls/stub-control.ts';
import { endChild } from '../../harness/end-child.ts';
import { freePort } from '../../harness/free-port.ts';
import { spawnOnSubjectsCore } from '../cores.ts';
import type { RunningSubject } from '../subject.ts';

const STOP_LIMIT_MS = 3_000;

export async function startParley(
  providersPort: number,
  settings: { voiceActivity: 'gate' | 'neural'; framesPerMessage: 1 | 3 },
): Promise<RunningSubject> {
  const runDir = mkdtempSync(join(tmpdir(), 'parley-race-'));
  const control = startStubControl(runDir, agentOf(settings.voiceActivity), { grants: grantsOf(providersPort) });
  const port = await freePort();
  const config = {
    mediaId: 'race',
    host: '127.0.0.1',
    port,
    runDir,
    dataDir: runDir,
    pipelineThreads: 1,
    ttsThreads: 0,
    sttThreads: 0,
    providerThreads: 1,
    providerAllowCidrs: ['127.0.0.1/32'],
    capacityCalls: 5_000,
    framesPerMessage: { plivo: settings.framesPerMessage },
    socketServer: 'uws',
    logLevel: 'error',
  };
  const child = spawnOnSubjectsCore(process.execPath, [builtEntry('media/main.js')], {
    env: { ...process.env, PARLEY_MEDIA_CONFIG: JSON.stringify(config) },
    // Its log is not the race's tables.
    stdio: ['ignore', process.stderr.fd, 'inherit', 'ipc'],
  });
  await new Promise<void>((ready, failed) => {
    child.once('message', () => ready());
    child.once('exit', (code) => failed(new Error(`the media process ended with code ${code} before it was ready`)));
  });
  await control.hello;
  return {
    pid: child.pid ?? 0,
    urlPrefix: `ws://127.0.0.1:${port}/media/plivo/`,
    async stop() {
      await endChild(child, STOP_LIMIT_MS);
      control.close();
      rmSync(runDir, { recursive: true, force: true });
    },
  };
}

function agentOf(voiceActivity: 'gate' | 'neural'): CascadeAgent {
  return {
    kind: 'cascade',
    schema: 1,
    name: 'Race',
    direction: 'any',
    language: 'en-US',
    script: 'You answer questions about a restaurant, in a sentence.',
    speaksFirst: 'caller',
    think: [{ connection: 'brain', model: 'race' }],
    listen: { engine: 'deepgram', connection: 'ears', model: 'nova-3' },
    speak: [{ connection: 'voice', engine: 'elevenlabs', voice: 'race', model: 'eleven_flash_v2_5' }],
    voiceActivity,
    builtInTools: [],
    filler: { say: [] },
    maxDurationSeconds: 3_600,
  };
}

function grantsOf(port: number): ConnectionGrant[] {
  const grant = (name: string, provider: string, baseUrl: string): ConnectionGrant => ({
    name,
    version: 1,
    provider,
    baseUrl,
    credentials: { apiKey: 'race' },
    limits: {},
    settings: {},
  });
  const origin = `http://127.0.0.1:${port}`;
  return [
    grant('ears', 'deepgram', origin),
    grant('brain', 'openai_compatible', `${origin}/v1`),
    grant('voice', 'elevenlabs', origin),
  ];
}
