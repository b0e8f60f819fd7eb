/**
 * `npm run bench -- api [--rate 200] [--seconds 20] [--redis redis://…] [--whole-life] [--live 1000]`: a fixed rate of
 * `POST /api/outbound-call`, open loop, on the real service with a database that waits for its disk; the emulated
 * carrier accepts; with --whole-life each phone is busy, and the call's callbacks, end and webhook are part of the
 * load; with --live so many calls talk beside it. Limits are raised out of the way, that of webhooks to one URL too.
 * The first fifth warms up and is not counted. With --burst instead: `bursts.ts`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { type Gateway, startGateway } from '../harness/gateway.ts';
import { readNumber, readOptions } from '../harness/options.ts';
import { percentile } from '../harness/percentile.ts';
import { MOST_NODES } from './burst-stage.ts';
import { runBursts } from './bursts.ts';
import { cpuSeconds } from './cpu.ts';
import { talkOf } from './live-talk.ts';
import { type OfferedAnswer, offer } from './offer.ts';

const { values } = readOptions({
  command: 'npm run bench -- api',
  about: 'How fast a call is placed. The first fifth warms up: its answers are not among those that are shown.',
  options: {
    rate: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '20' },
    redis: { type: 'string' },
    'whole-life': { type: 'boolean', default: false },
    live: { type: 'string', default: '0' },
    burst: { type: 'string' },
    'burst-seconds': { type: 'string', default: '1' },
    bursts: { type: 'string', default: '3' },
    nodes: { type: 'string', default: '2' },
  },
  meanings: {
    rate: '<N> requests a second',
    seconds: '<N> how long',
    redis: '<url> limits and queue in this Redis',
    'whole-life': 'calls are answered and ended too',
    live: '<N> calls that talk meanwhile, without sound',
    burst: '<N> instead: bursts of so many placements a second, to several nodes on one PostgreSQL',
    'burst-seconds': '<N> how long a burst is',
    bursts: '<N> how many bursts',
    nodes: '<N> 1 or 2 nodes',
  },
});
const ONE = { least: 1, isWhole: true };
if (values.burst !== undefined) {
  const isGood = await runBursts({
    perSecond: readNumber('burst', values.burst, ONE),
    seconds: readNumber('burst-seconds', values['burst-seconds']),
    bursts: readNumber('bursts', values.bursts, ONE),
    nodes: readNumber('nodes', values.nodes, { ...ONE, most: MOST_NODES }),
  });
  process.exit(isGood ? 0 : 1);
}
const perSecond = readNumber('rate', values.rate);
const seconds = readNumber('seconds', values.seconds);
const liveCalls = readNumber('live', values.live, { least: 0, isWhole: true });
const wholeLife = values['whole-life'];
const NO_LIMIT = 100_000;
const WEBHOOKS_WAIT_SECONDS = 60;
const agent: AgentDefinition = { kind: 'tone', name: 'Tone', direction: 'outbound', toneHz: 440 };

let unanswered = 0;
const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-api-'));
const gateway = await startGateway({
  dataDir,
  agent,
  // Accepted, and nothing more for as long as the bench runs; or at once busy, with its
  // callbacks, its end and its webhook.
  personas: [{ kind: 'silent', name: 'busy', number: '+1415*', dialMs: wholeLife ? 5 : 600_000, outcome: 'busy' }],
  concurrentCalls: NO_LIMIT,
  callsPerSecond: NO_LIMIT,
  settings: { PARLEY_LOG_LEVEL: 'error' },
  controlEnv: {
    WEBHOOK_PER_SECOND: String(2 * perSecond),
    ...(values.redis === undefined ? {} : { REDIS_URL: values.redis }),
  },
  keepAudio: false,
  log: (line) => process.stderr.write(`${line}\n`),
  childOutput: (text) => process.stderr.write(text),
});
try {
  const { agentId, enterprise, lineId } = gateway;
  const talk = liveCalls === 0 ? null : await talkOf(gateway, dataDir, liveCalls);
  const cpuBefore = cpuSeconds();
  const answers = await offer({
    baseUrl: gateway.service.publicUrl,
    apiKey: gateway.apiKey,
    perSecond,
    seconds,
    body: (index) => ({ to: `+1415${5_550_000 + index}`, agentId, enterprise, from: lineId }),
  });
  const placed = answers.filter(({ status }) => status === 200).length;
  const webhooks = wholeLife ? await webhooksOf(gateway, answers) : null;
  unanswered = answers.filter(({ status }) => status === 0).length;
  const counted = answers.slice(Math.floor(answers.length / 5));
  const statuses = new Map<string, number>();
  for (const { status, headers } of counted) {
    const name = status === 200 ? '200' : `${status} ${headers['x-error-code'] ?? ''}`;
    statuses.set(name, (statuses.get(name) ?? 0) + 1);
  }
  const ms = counted.map((answer) => answer.ms);
  const late = counted.map((answer) => answer.lateMs);
  console.log(
    `POST /api/outbound-call at ${perSecond}/s for ${seconds} s, ${values.redis ? 'Redis' : 'PostgreSQL'} decides`,
  );
  console.log(`answers   ${[...statuses].map(([name, count]) => `${count} × ${name}`).join(', ')}`);
  for (const [name, all] of [
    ['answer', ms],
    ['own lateness', late],
  ] as const) {
    const shown = [0.5, 0.9, 0.99, 1].map(
      (share) => `${share === 1 ? 'max' : `p${share * 100}`} ${percentile(all, share).toFixed(1)}`,
    );
    console.log(`${name.padEnd(13)} ${shown.join('  ')} ms`);
  }
  for (const [name, total] of cpuSeconds()) {
    const each = ((total - (cpuBefore.get(name) ?? 0)) * 1_000) / answers.length;
    console.log(`CPU       ${each.toFixed(2)} ms a request: ${name}`);
  }
  if (talk !== null) {
    const { told, stored, dropped } = await talk.stop();
    console.log(`talk      ${told} turns of ${liveCalls} calls told, ${stored} stored, ${dropped} messages dropped`);
    const shown = [0.5, 0.99, 1].map((share) => percentile(talk.followedMs, share).toFixed(0));
    console.log(
      `followed  p50 ${shown[0]}  p99 ${shown[1]}  max ${shown[2]} ms from media's word to who follows its call`,
    );
  }
  const dialled = (await gateway.emulator.calls()).length;
  if (webhooks !== null) console.log(`webhooks  ${webhooks}`);
  console.log(`dialled   ${dialled} calls, ${placed} requests were told 200, warming up among them`);
} finally {
  await gateway.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit(unanswered === 0 ? 0 : 1);

/** Of placed calls, which are over: how far those are behind that tell of it, when the last placement is answered. */
async function webhooksOf({ receiver }: Gateway, answers: readonly OfferedAnswer[]): Promise<string> {
  const placed = answers.flatMap(({ status, body }) => (status === 200 ? [body.callUuid!] : []));
  const missing = (): number => {
    const told = new Set(receiver.received().map(({ callUuid }) => callUuid));
    return placed.filter((callUuid) => !told.has(callUuid)).length;
  };
  const behind = missing();
  const fromMs = performance.now();
  const waitedSeconds = (): number => (performance.now() - fromMs) / 1_000;
  while (missing() > 0 && waitedSeconds() < WEBHOOKS_WAIT_SECONDS) await pause(100);
  return `${placed.length - missing()} of ${placed.length}; ${behind} were behind at the last answer, ${waitedSeconds().toFixed(1)} s waited for them`;
}
