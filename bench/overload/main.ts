/**
 * `npm run bench -- overload`: what becomes of more leads than the machine can talk to. The same leads are offered
 * slowly, which says how many calls it carries at once, and then in a rush. The real service with the local voice and
 * recogniser; the carrier emulator, in a process of its own, plays callees that were rendered before. Bounded: each
 * offering ends a minute after its last call should.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openDatabase } from '../../src/store/database.ts';
import { createApiKey } from '../../src/workspaces/api-keys.ts';
import type { PersonaInput } from '../emulators/persona.ts';
import { startGateway } from '../harness/gateway.ts';
import { createLeadClient } from './offer-leads.ts';
import { surveyAgent, writeCallee } from './survey-agent.ts';
import { judge, linesOf, type Offering, type SeenCall } from './verdict.ts';

const USAGE = `npm run bench -- overload [options]
  --leads N          leads of each offering (301, at most 2000)
  --rush R           leads a second in the rush (10)
  --slow R           leads a second of the slow offering (3)
  --talk-seconds S   how long a callee stays on the line (55, at most 120)
  --only slow|rush   one of the two
  --admission HOW    measured, or counted as with PARLEY_ADMISSION (measured)
  --help             this`;

const { values } = parseArgs({
  options: {
    leads: { type: 'string', default: '301' },
    rush: { type: 'string', default: '10' },
    slow: { type: 'string', default: '3' },
    'talk-seconds': { type: 'string', default: '55' },
    only: { type: 'string' },
    admission: { type: 'string', default: 'measured' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
const leads = Math.min(2_000, Number(values.leads));
const talkMs = Math.min(120, Number(values['talk-seconds'])) * 1000;
const rates = { slow: Number(values.slow), rush: Number(values.rush) };
if (![leads, talkMs, rates.slow, rates.rush].every((value) => value > 0)) {
  console.error(USAGE);
  process.exit(2);
}
const names = (['slow', 'rush'] as const).filter((name) => values.only === undefined || values.only === name);
const NO_LIMIT = 10_000;
const SETTLE_MS = 3_000;
/** How long phones ring: those that are accepted and silent are load to come. */
const RINGS_MS = [500, 1_500, 3_000, 5_000];

const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-overload-'));
const calleePath = join(dataDir, 'callee.wav');
await writeCallee(calleePath, talkMs);
const personas = Array.from(
  { length: 10 },
  (_one, digit): PersonaInput => ({
    kind: 'wav',
    name: `callee ${digit}`,
    number: `+1415555${digit}*`,
    path: calleePath,
    ringMs: RINGS_MS[digit % RINGS_MS.length]!,
    hangsUpAfterMs: talkMs,
  }),
);
const gateway = await startGateway({
  dataDir: join(dataDir, 'service'),
  agent: surveyAgent,
  personas: [...personas, { ...personas[0]!, number: '*' }],
  concurrentCalls: NO_LIMIT,
  callsPerSecond: NO_LIMIT,
  settings: { PARLEY_LOG_LEVEL: 'warn' },
  controlEnv: { PARLEY_ADMISSION: values.admission },
  keepAudio: false,
  log: (line) => process.stderr.write(`${line}\n`),
  childOutput: (text) => process.stderr.write(text),
});
try {
  const { enterprise, agentId, service, emulator } = gateway;
  const database = openDatabase({ connectionString: service.databaseUrl, maxConnections: 1, onIdleError: () => {} });
  const scopes = ['calls:write', 'calls:read', 'leads:write'] as const;
  const key = await createApiKey(database, { slug: enterprise, name: 'bench', scopes: [...scopes] });
  await database.close();
  const client = createLeadClient(service.publicUrl, key.text, { enterprise, agentId });
  const seen: SeenCall[] = [];
  const results: Partial<Record<'slow' | 'rush', Offering>> = {};
  for (const name of names) {
    const ids = await client.create(leads);
    const sinceIso = new Date().toISOString();
    const before = seen.length;
    const answers = await client.offer(ids, rates[name]);
    const accepted = answers.filter(({ status }) => status === 200).length;
    const logged = await client.ended(accepted, sinceIso, talkMs + Math.max(...RINGS_MS) + 60_000);
    const all = (await emulator.calls()) as unknown as SeenCall[];
    seen.splice(0, seen.length, ...all);
    const result = judge(answers, logged, all.slice(before));
    results[name] = result;
    console.log(linesOf(`${name}, ${rates[name]} a second`, result).join('\n'));
    await wait(SETTLE_MS);
  }
  const { slow, rush } = results;
  if (slow !== undefined && rush !== undefined) {
    const share = (rush.mostAtOnce / slow.mostAtOnce) * 100;
    console.log(`carried at once in the rush: ${share.toFixed(0)} % of what is carried when offered slowly`);
  }
  await client.close();
} finally {
  await gateway.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit(0);
