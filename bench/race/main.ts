/**
 * `npm run bench -- race [--subjects parley,plain,livekit] [--rungs 25] [--seconds 18] [--repeat 5] [--peers DIR]`:
 * Parley beside its peers, with the same callers and the same providers: a core for the subject, the others for all
 * else. Without `--rungs` the most conversations that each carries are searched. Prints tables and writes
 * `data/bench/race.json`. `--install` fetches the peers, which are no part of this project.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { soundsOfVoice } from '../emulators/providers/known-sound-recogniser.ts';
import { readNames, readOptions } from '../harness/options.ts';
import { percentile } from '../harness/percentile.ts';
import { CALLERS_VOICE, LINES } from './conversation.ts';
import { leaveSubjectsCore } from './cores.ts';
import { installPeers, PEERS, type PeerName, versionsOf } from './peers.ts';
import { type RungResult, runRung } from './rung.ts';
import { subjectsOf } from './subjects.ts';

const { values } = readOptions({
  command: 'npm run bench -- race',
  about: 'Conversations a core and CPU a conversation, of Parley and of its peers.',
  options: {
    subjects: { type: 'string', default: 'parley,plain,livekit' },
    rungs: { type: 'string' },
    seconds: { type: 'string', default: '18' },
    'warm-up': { type: 'string', default: '7' },
    repeat: { type: 'string', default: '1' },
    peers: { type: 'string', default: join(tmpdir(), 'parley-race-peers') },
    install: { type: 'boolean', default: false },
    out: { type: 'string', default: 'data/bench/race.json' },
  },
  meanings: {
    subjects: '<list> of parley, parley-neural, plain, livekit, livekit-silero, livekit-jobs, pipecat',
    rungs: '<list> conversations at once; absent: the most that each carries are searched',
    seconds: '<N> how long each run is measured',
    'warm-up': '<N> seconds before that, when all talk',
    repeat: '<N> repetitions, of all subjects in turn',
    peers: '<folder> where the packages of the peers lie',
    install: 'fetch them from npm and PyPI, in the versions that are raced against',
    out: '<file> all runs, as JSON',
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

const results: RungResult[] = [];
const rungs = (values.rungs ?? '').split(',').map(Number);
for (let repetition = 1; repetition <= Number(values.repeat); repetition++) {
  for (const name of names) {
    for (const conversations of rungs) {
      const result = await runRung({
        kind: subjects[name]!,
        conversations,
        repetition,
        warmUpMs: Number(values['warm-up']) * 1_000,
        measureMs: Number(values.seconds) * 1_000,
        lines,
      });
      results.push(result);
      say(toldOf(result));
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
    `other core ${(result.otherShare * 100).toFixed(0)} %, late ${result.sendLatenessP99Ms.toFixed(1)}/${result.providersLatenessP99Ms.toFixed(1)} ms`,
    result.voidBecause === null ? '' : ` VOID: ${result.voidBecause}`,
  ].join(' ');
}

mkdirSync('data/bench', { recursive: true });
const versions = Object.fromEntries(
  (Object.keys(PEERS) as PeerName[]).map((peer) => [peer, versionsOf(peer, values.peers)]),
);
writeFileSync(values.out, JSON.stringify({ node: process.version, versions, results }, null, 1));
process.stdout.write(`\nwritten: ${values.out}\n`);
process.exit(0);
