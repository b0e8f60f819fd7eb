/**
 * `npm run bench -- voices [--calls 100] [--seconds 8]`: what telling voices from noise costs: the gate alone, and the
 * neural model behind it on its own thread, with lines that are silent, 40 % speech, or never silent. In real time: 20
 * ms frames for so many calls, staggered, CPU by thread from the operating system, and how long
 * a verdict is behind its frame.
 */
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { createResampler } from '../../media/audio/resampler.ts';
import { systemClock } from '../../media/contract/clock.ts';
import type { VoiceActivity } from '../../media/contract/engines.ts';
import { FLITE_RATE_HZ, loadFliteVoice } from '../../media/engines/local/flite-voice.ts';
import { NeuralVoiceActivity } from '../../media/engines/local/neural-voice-activity.ts';
import { loadVoiceActivity } from '../../media/engines/local/voice-activity.ts';
import { VoiceActivityWindows } from '../../media/engines/local/voice-activity-windows.ts';
import { createScoringHost } from '../../media/io/threads/scoring-host.ts';
import { builtEntry } from '../../src/config/built-entry.ts';
import { cpuBetween, readThreadCpu } from '../calls/thread-cpu.ts';
import { readOptions } from '../harness/options.ts';

const FRAME_SAMPLES = 160;
const RATE_HZ = 8000;
const WARM_UP_MS = 1000;

const { values } = readOptions({
  command: 'npm run bench -- voices',
  about: 'What telling voices from noise costs, with and without the neural model.',
  options: { calls: { type: 'string', default: '100' }, seconds: { type: 'string', default: '8' } },
  meanings: { calls: '<N> lines at once', seconds: '<N> how long' },
});
const calls = Number(values.calls);
const measureMs = Number(values.seconds) * 1000;

type Line = 'silent' | '40 % speech' | 'never silent';

/** 10 s of a line, looped. */
async function lineOf(kind: Line): Promise<Int16Array> {
  const line = new Int16Array(10 * RATE_HZ);
  if (kind === 'silent') return line.map(() => Math.round(Math.random() * 8 - 4));
  const voice = await loadFliteVoice();
  const text = 'Well, I would like to know when my order arrives, because nobody was at home on Tuesday. ';
  const speech = voice.speak({ text: text.repeat(3), voice: 'rms', isFirst: true, end: 'text' });
  const resampler = await createResampler(FLITE_RATE_HZ, RATE_HZ);
  const heard = resampler.process(speech);
  line.set(heard.subarray(0, Math.min(heard.length, kind === 'never silent' ? line.length : line.length * 0.4)));
  resampler.close();
  return line;
}

async function run(
  name: string,
  line: Int16Array,
  create: () => VoiceActivity,
  windows: VoiceActivityWindows | null,
): Promise<void> {
  const activities = Array.from({ length: calls }, create);
  const frames = line.length / FRAME_SAMPLES;
  const zeroMs = performance.now();
  const sent = new Int32Array(calls);
  let speech = 0;
  let total = 0;
  let mostPending = 0;
  let began: ReturnType<typeof readThreadCpu> | null = null;
  let beganAtMs = 0;
  await new Promise<void>((done) => {
    const tick = (): void => {
      const nowMs = performance.now() - zeroMs;
      for (let i = 0; i < calls; i++) {
        for (; sent[i]! * 20 + (i * 20) / calls <= nowMs; sent[i]!++) {
          // Calls are at different places of the line.
          const at = ((sent[i]! + i * 7) % frames) * FRAME_SAMPLES;
          if (activities[i]!.isSpeech(line.subarray(at, at + FRAME_SAMPLES))) speech++;
          total++;
          if (windows !== null && began !== null) mostPending = Math.max(mostPending, windows.pending(i));
        }
      }
      if (began === null && nowMs >= WARM_UP_MS) {
        began = readThreadCpu(process.pid);
        beganAtMs = nowMs;
      }
      if (nowMs >= WARM_UP_MS + measureMs) done();
      else setTimeout(tick, 2);
    };
    tick();
  });
  const seconds = (performance.now() - zeroMs - beganAtMs) / 1000;
  const threads = cpuBetween(began ?? [], readThreadCpu(process.pid));
  const perCall = (cpuMs: number): string => (cpuMs / seconds / calls).toFixed(3).padStart(8);
  const mainMs = threads.find(({ tid }) => tid === process.pid)?.cpuMs ?? 0;
  const scoringMs = threads.filter(({ tid }) => tid !== process.pid)[0]?.cpuMs ?? 0;
  const share = ((100 * speech) / total).toFixed(0).padStart(4);
  console.log(`${name.padEnd(26)}${perCall(mainMs)}   ${perCall(scoringMs)}   ${share} %   ${mostPending}`);
  for (const activity of activities) activity.close();
}

console.log(`${calls} calls, CPU ms per call-second; most windows (32 ms) that a verdict was behind`);
console.log(`${''.padEnd(26)}  frames    scoring   speech   behind`);
const createGate = await loadVoiceActivity();
const shape = { slots: Math.max(512, calls), rateHz: RATE_HZ } as const;
const windows = new VoiceActivityWindows(shape);
const failed = (why: string): never => {
  console.error(why);
  process.exit(1);
};
const scoring = createScoringHost({
  url: pathToFileURL(builtEntry('media/threads/voice-activity-thread.js')),
  log: pino({ level: 'silent' }),
});
scoring.attach(0, shape, windows.memory, failed);
for (const kind of ['silent', '40 % speech', 'never silent'] as const) {
  const line = await lineOf(kind);
  await run(`gate, ${kind}`, line, () => createGate(RATE_HZ), null);
  const create = (): VoiceActivity => new NeuralVoiceActivity(createGate(RATE_HZ), windows, RATE_HZ, systemClock);
  await run(`neural, ${kind}`, line, create, windows);
}
await scoring.close();
process.exit(0);
