/**
 * `npm run bench -- first-word [--calls 20]`: from the callee's answer to the agent's first sample, and to the first
 * that can be heard, by the carrier emulator's own clock. One call after another, so that
 * nothing waits for another call.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { packageRoot } from '../../src/config/built-entry.ts';
import { type Gateway, startGateway } from '../harness/gateway.ts';
import { readOptions } from '../harness/options.ts';
import { percentiles } from '../harness/percentile.ts';

const NUMBER = '+14155550199';
const LISTEN_MS = 1_500;

interface FirstWord {
  sampleMs: number;
  soundMs: number;
}

async function callOnce(gateway: Gateway): Promise<FirstWord> {
  const { body } = await gateway.client.place({
    to: NUMBER,
    agentId: gateway.agentId,
    enterprise: gateway.enterprise,
    from: gateway.lineId,
    name: 'Dana',
  });
  if (!body.callUuid) throw new Error(`the placement failed: ${body.message}`);
  await gateway.client.waitFor(body.callUuid, 'its end', ({ endedAt }) => endedAt !== null, 30_000);
  const emulated = (await gateway.emulator.calls()).at(-1);
  if (!emulated?.answeredAtEpochMs || !emulated.firstAgentSampleAtEpochMs || !emulated.firstAgentSoundAtEpochMs) {
    throw new Error('the emulator heard nothing of the agent');
  }
  return {
    sampleMs: emulated.firstAgentSampleAtEpochMs - emulated.answeredAtEpochMs,
    soundMs: emulated.firstAgentSoundAtEpochMs - emulated.answeredAtEpochMs,
  };
}

function describe(name: string, values: number[]): string {
  const [median, p90, least, most] = percentiles(values, [0.5, 0.9, 0, 1]).map((ms) => `${Math.round(ms)} ms`);
  return `${name.padEnd(26)} median ${median}   p90 ${p90}   least ${least}   most ${most}`;
}

const { values } = readOptions({
  command: 'npm run bench -- first-word',
  about: 'From the answer to the first word of the agent.',
  options: { calls: { type: 'string', default: '20' } },
  meanings: { calls: '<N> calls, one after another' },
});
const gateway = await startGateway({
  dataDir: 'data/bench/first-word',
  agent: JSON.parse(readFileSync(join(packageRoot(), 'bench/demo/agent.json'), 'utf8')) as AgentDefinition,
  personas: [{ kind: 'silent', name: 'listener', number: NUMBER, ringMs: 400, hangsUpAfterMs: LISTEN_MS }],
  log: (line) => process.stderr.write(`${line}\n`),
});
try {
  const firstWords: FirstWord[] = [];
  for (let i = 0; i < Number(values.calls); i++) firstWords.push(await callOnce(gateway));
  console.log(`${firstWords.length} calls, one after another`);
  console.log(
    describe(
      'answer → first sample',
      firstWords.map((word) => word.sampleMs),
    ),
  );
  console.log(
    describe(
      'answer → first sound',
      firstWords.map((word) => word.soundMs),
    ),
  );
  mkdirSync('data/bench', { recursive: true });
  writeFileSync('data/bench/first-word.json', JSON.stringify(firstWords, null, 2));
} finally {
  await gateway.stop();
}
process.exit(0);
