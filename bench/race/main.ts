/**
 * `npm run bench -- race [--subjects parley,plain,livekit] [--rungs 25] [--seconds 18] [--repeat 5] [--peers DIR]`:
 * Parley beside its peers, with the same callers and the same providers: a core for the subject, the others for all
 * else. Without `--rungs` the most conversations that each carries are searched. Prints tables and writes
 * `data/bench/race.json`, after each run. `--install` fetches the peers, which are no part of this project.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { soundsOfVoice } from '../emulators/providers/known-sound-recogniser.ts';
import { readNames, readOptions } from '../harness/options.ts';
import { percentile } from '../harness/percentile.ts';
import { CALLERS_VOICE, LINES } from './conversation.ts';
import { leaveSubjectsCore } from './cores.ts';
import { type Climb, climb } from './ladder.ts';
import { installPeers, PEERS, type PeerName, versionsOf } from './peers.ts';
import { AT_REST, type RungResult, runRung } from './rung.ts';
import { subjectsOf } from './subjects.ts';
import { tablesOf, withTables } from './table.ts';
import { haveTrouble } from './trouble.ts';

const { values } = readOptions({
  command: 'npm run bench -- race',
  about: 'Conversations a core and CPU a conversation, of Parley and of its peers.',
  options: {
    subjects: { type: 'string', default: 'parley,plain,livekit' },
    rungs: { type: 'string' },
    seconds: { type: 'string', default: '18' },
    rest: { type: 'string', default: String(AT_REST.seconds) },
    'warm-up': { type: 'string', default: '7' },
    repeat: { type: 'string', default: '1' },
    peers: { type: 'string', default: join(tmpdir(), 'parley-race-peers') },
    trouble: { type: 'boolean', default: false },
    install: { type: 'boolean', default: false },
    out: { type: 'string', default: 'data/bench/race.json' },
    page: { type: 'string' },
  },
  meanings: {
    subjects: '<list> of parley, parley-neural, plain, livekit, livekit-silero, livekit-jobs, pipecat',
    rungs: '<list> conversations at once; absent: the most that each carries are searched',
    seconds: '<N> how long each run is measured',
    rest: `<N> the same of the one run of each subject with ${AT_REST.conversations} conversations, which says how soon it answers at rest`,
    'warm-up': '<N> seconds before that, when all talk',
    repeat: '<N> repetitions, of all subjects in turn',
    peers: '<folder> where the packages of the peers lie',
    trouble: 'the providers close sockets and refuse questions in the middle of each run',
    install: 'fetch them from npm and PyPI, in the versions that are raced against',
    out: '<file> all runs, as JSON',
    page: '<file> puts the tables between its marks, as in docs/decisions/race.md',
  },
});
if (values.install) {
  installPeers(values.peers);
  process.exit(0);
}
const subjects = subjectsOf(values.peers);
const names = readNames('subjects', values.subjects, Object.keys(subjects));
leaveSubjectsCore();
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const sounds = await soundsOfVoice(CALLERS_VOICE, LINES, (error) => {
  throw error;
});
const lines = sounds.map(({ mulaw }) => Buffer.from(mulaw).toString('base64'));

const versions = Object.fromEntries(
  (Object.keys(PEERS) as PeerName[]).map((peer) => [peer, versionsOf(peer, values.peers)]),
);
const results: RungResult[] = [];
const climbs: Climb[] = [];

/** After each run: whoever stops it has what there is. */
function keep(): void {
  mkdirSync(dirname(values.out), { recursive: true });
  writeFileSync(values.out, JSON.stringify({ node: process.version, versions, results, climbs }, null, 1));
}

/** The run that is under way is finished, and what there is told; SIGTERM ends all at once. */
let isStopped = false;
process.on('SIGINT', () => {
  isStopped = true;
});

/** `isAtRest`: `conversations` are few, and measured for long. */
async function run(name: string, conversations: number, repetition: number, isAtRest = false): Promise<RungResult> {
  if (isStopped) throw new Error('stopped');
  const result = await runRung({
    kind: subjects[name]!,
    conversations,
    repetition,
    isAtRest,
    warmUpMs: Number(values['warm-up']) * 1_000,
    measureMs: Number(isAtRest ? values.rest : values.seconds) * 1_000,
    lines,
    ...(values.trouble ? { trouble: haveTrouble } : {}),
  });
  results.push(result);
  say(toldOf(result));
  keep();
  return result;
}

/** Once a race, and once more where it was void. */
async function atRest(name: string, repetition: number): Promise<RungResult> {
  const known = results.find((one) => one.subject === name && one.isAtRest && one.voidBecause === null);
  if (known !== undefined) return known;
  const first = await run(name, AT_REST.conversations, repetition, true);
  return first.voidBecause === null ? first : run(name, AT_REST.conversations, repetition, true);
}

/** The search, from where it ended in the repetition before. */
async function search(name: string, repetition: number): Promise<void> {
  const { heard } = await atRest(name, repetition);
  const before = climbs.findLast(({ subject }) => subject === name);
  const from = before?.carried ?? subjects[name]!.firstRung;
  // The slowest of them: a subject's own unevenness is not the load's.
  const atRestMs = percentile(heard.repliesMs, 1);
  const climbed = await climb({ subject: name, repetition, from, atRestMs }, (at) => run(name, at, repetition));
  climbs.push(climbed);
  keep();
  say(`${repetition} ${name} carries ${climbed.carried} (${climbed.brokeBy ?? climbed.endedBy ?? 'no rung above'})`);
}

for (let repetition = 1; repetition <= Number(values.repeat); repetition++) {
  for (const name of names) {
    try {
      if (values.rungs === undefined) await search(name, repetition);
      else for (const conversations of values.rungs.split(',')) await run(name, Number(conversations), repetition);
    } catch (error) {
      say(`${repetition} ${name}: ${(error as Error).message}`);
    }
  }
}

function toldOf(result: RungResult): string {
  const { heard } = result;
  const ms = (list: number[], part: number): string => percentile(list, part).toFixed(0);
  return [
    `${result.repetition} ${result.subject} at ${result.conversations}:`,
    `${result.cpuMs.toFixed(2)} ms CPU a conversation-second (${(result.coreShare * 100).toFixed(0)} % of the core),`,
    `reply ${ms(heard.repliesMs, 0.5)}/${ms(heard.repliesMs, 0.99)} ms of ${heard.repliesMs.length},`,
    `${heard.unanswered} unanswered, ${heard.tooEarly} early,`,
    `silenced ${ms(heard.silencedMs, 0.5)}/${ms(heard.silencedMs, 1)} of ${heard.silencedMs.length}, over ${heard.talkedOver},`,
    `late ${((heard.lateMs / Math.max(1, heard.playedMs)) * 100).toFixed(2)} %,`,
    `${(result.memoryBytes / 1e6).toFixed(2)} MB, idle ${(result.idleBytes / 1e6).toFixed(0)} MB,`,
    `intruders ${(result.intrudersShare * 100).toFixed(0)} %, other core ${(result.otherShare * 100).toFixed(0)} %, late ${result.sendLatenessP99Ms.toFixed(1)}/${result.providersLatenessP99Ms.toFixed(1)} ms`,
    result.voidBecause === null ? '' : ` VOID: ${result.voidBecause}`,
  ].join(' ');
}

const tables = tablesOf(results, climbs);
process.stdout.write(`\n${tables}\nwritten: ${values.out}\n`);
if (values.page !== undefined) {
  writeFileSync(values.page, withTables(readFileSync(values.page, 'utf8'), tables));
  process.stdout.write(`written: ${values.page}\n`);
}
process.exit(0);
