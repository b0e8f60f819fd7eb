/**
 * Recordings of which the truth is known: turns of a caller and replies after a delay that was put there, on lines with
 * noise, echo, breaths, murmurs and interruptions. Seeded. The truth comes from the clean sound at 1 ms, before
 * anything was added: the caller ends where their sound last is louder than 28 dB below its loudest of the last 1.5 s
 * and than 4 dB above the line's true noise; the agent begins at their first sound above -60 dBFS.
 */

import { createRandom } from '../../../bench/harness/seeded-random.ts';
import { decodeMulaw, encodeMulaw } from '../../../media/audio/g711.ts';
import { createResampler } from '../../../media/audio/resampler.ts';
import type { Turn } from '../../../media/contract/conversation.ts';
import { FLITE_RATE_HZ, loadFliteVoice } from '../../../media/engines/local/flite-voice.ts';

export interface Voices {
  /** By rate in Hz. */
  caller: Record<8000 | 16000, Int16Array[]>;
  agent: Record<8000 | 16000, Int16Array[]>;
}

const CALLER_WORDS = [
  'yes please',
  'where can i park',
  'on thursday',
  'i can not come',
  'six',
  'that works',
  'my name is dana',
];
const AGENT_WORDS = ['please arrive early', 'how can i help', 'four one five'];

/** The embedded voices, and tones with syllables, which end where a formula says. */
export async function renderVoices(random: () => number): Promise<Voices> {
  const flite = await loadFliteVoice();
  const say = (voice: string, text: string): Int16Array => flite.speak({ text, voice, isFirst: true, end: 'text' });
  const caller = [
    ...CALLER_WORDS.map((text, index) => say(index % 2 ? 'rms' : 'slt', text)),
    ...Array.from({ length: 4 }, () => babble(random)),
  ];
  const agent = AGENT_WORDS.map((text) => say('rms', text));
  return {
    caller: { 16000: caller, 8000: await Promise.all(caller.map(halved)) },
    agent: { 16000: agent, 8000: await Promise.all(agent.map(halved)) },
  };
}

/** Syllables of a harmonic tone, 4 to 6 a second, the last one fading over 5 to 60 ms. */
function babble(random: () => number): Int16Array {
  const syllables = 2 + Math.floor(random() * 4);
  const each = FLITE_RATE_HZ * (0.15 + random() * 0.1);
  const fade = FLITE_RATE_HZ * (0.005 + random() * 0.055);
  const samples = new Int16Array(Math.round(each * syllables));
  const pitchHz = 100 + random() * 120;
  for (let i = 0; i < samples.length; i++) {
    const inSyllable = (i % each) / each;
    const isLast = i >= each * (syllables - 1);
    const shape = isLast ? Math.min(1, (samples.length - i) / fade) : Math.sin(Math.PI * inSyllable);
    let value = 0;
    for (let harmonic = 1; harmonic <= 12; harmonic++) {
      value += Math.sin((2 * Math.PI * pitchHz * harmonic * i) / FLITE_RATE_HZ) / harmonic;
    }
    samples[i] = 6_000 * shape * value;
  }
  return samples;
}

async function halved(samples: Int16Array): Promise<Int16Array> {
  const resampler = await createResampler(FLITE_RATE_HZ, 8_000);
  const body = resampler.process(samples).slice();
  const rest = resampler.flush().slice();
  resampler.close();
  const whole = new Int16Array(body.length + rest.length);
  whole.set(body);
  whole.set(rest, body.length);
  return whole;
}

export interface InjectedCall {
  rateHz: 8000 | 16000;
  noiseDbfs: number;
  interleavedSamples: Int16Array;
  /** As the pipeline would tell them, with its errors. */
  turns: Turn[];
  /** By turn id of the reply, ms. */
  delays: Map<string, number>;
}

const FLOORS_DBFS = [-60, -55, -50, -45, -40, -35];

export interface InjectionOptions {
  turns: number;
  /** `clear`: ends whose place does not depend on what one calls the end. `natural`: whatever the voices do. */
  ends: 'clear' | 'natural';
}

export function injectDelays(random: () => number, voices: Voices, options: InjectionOptions): InjectedCall {
  const between = (from: number, to: number): number => from + random() * (to - from);
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;
  const rateHz = random() < 0.2 ? 16000 : 8000;
  const noiseDbfs = pick(FLOORS_DBFS);
  const perMs = rateHz / 1000;
  const length = Math.round((4 + options.turns * 11) * rateHz);
  const caller = new Float32Array(length);
  const agent = new Float32Array(length);
  const turns: Turn[] = [];
  const delays = new Map<string, number>();
  const tell = (role: Turn['role'], startMs: number, endMs: number, kind: Turn['kind'] = 'speech'): string => {
    const turnId = `t${turns.length + 1}`;
    const times = { startMs: Math.max(0, Math.round(startMs)), endMs: Math.round(endMs) };
    turns.push({ turnId, role, ...times, text: 'words', heardText: 'words', interrupted: false, kind });
    return turnId;
  };
  const speak = (atMs: number, notAfterMs = Number.POSITIVE_INFINITY): number => {
    const voice = pick(voices.agent[rateHz]);
    const samples = Math.min(voice.length, Math.round((notAfterMs - atMs) * perMs));
    for (let i = 0; i < samples; i++) agent[Math.round(atMs * perMs) + i] = voice[i]!;
    return atMs + samples / perMs;
  };

  let nowMs = between(200, 600);
  const greetingEndMs = speak(nowMs);
  tell('agent', nowMs, greetingEndMs);
  nowMs = greetingEndMs;
  let agentSpokeFromMs = nowMs - 800;
  for (let made = 0; made < options.turns; made++) {
    const bargesIn = random() < 0.2;
    if (!bargesIn && random() < 0.2) {
      // A murmur while the agent speaks.
      const atMs = between(agentSpokeFromMs + 100, nowMs - 300);
      addNoise(caller, random, atMs * perMs, 180 * perMs, -30);
      tell('user', atMs, atMs + 180, 'backchannel');
    }
    let atMs = bargesIn ? nowMs - between(250, 500) : nowMs + between(300, 900);
    if (bargesIn) agent.fill(0, Math.round((atMs + 300) * perMs), Math.round(nowMs * perMs) + 1);
    const startMs = atMs;
    const peakDbfs = between(Math.max(-20, noiseDbfs + 22), -8);
    for (let pieces = Math.floor(random() * 3); pieces > 0; pieces--) {
      const piece = levelled(pick(voices.caller[rateHz]), peakDbfs, perMs);
      add(caller, piece, atMs * perMs);
      atMs += piece.length / perMs + between(150, 900);
    }
    const { piece, endMs } = lastWords(random, voices.caller[rateHz], {
      perMs,
      peakDbfs,
      noiseDbfs,
      ends: options.ends,
    });
    add(caller, piece, atMs * perMs);
    const callerEndMs = atMs + endMs;
    if (random() < 0.3) {
      const breathMs = between(200, 400);
      const breathAtMs = atMs + piece.length / perMs + between(20, 300);
      addNoise(caller, random, breathAtMs * perMs, breathMs * perMs, peakDbfs - 32);
    }
    tell('user', startMs + between(-100, 100), callerEndMs + between(-100, 200));
    const delayMs = Math.round(between(200, 3_000));
    const reply = pick(voices.agent[rateHz]);
    const onsetMs = firstSoundMs(reply, perMs);
    const replyAtMs = callerEndMs + delayMs - onsetMs;
    add(agent, Float32Array.from(reply), replyAtMs * perMs);
    const replyEndMs = replyAtMs + reply.length / perMs;
    delays.set(tell('agent', replyAtMs + between(-15, 15), replyEndMs), delayMs);
    agentSpokeFromMs = replyAtMs;
    nowMs = replyEndMs;
  }
  const used = Math.round((nowMs + 500) * perMs);
  const interleavedSamples = line({ caller, agent, used, rateHz, noiseDbfs, random });
  return { rateHz, noiseDbfs, interleavedSamples, turns, delays };
}

/** An end that moves by more than this when one draws the line 4 dB higher or lower has no place of its own. */
const MOST_SPREAD_MS = 15;

interface LastWords {
  perMs: number;
  peakDbfs: number;
  noiseDbfs: number;
  ends: InjectionOptions['ends'];
}

/** A phrase and where its sound ends, ms. Half of the clear ones are cut within a word and fade over 2 to 40 ms. */
function lastWords(
  random: () => number,
  phrases: readonly Int16Array[],
  wanted: LastWords,
): { piece: Float32Array; endMs: number } {
  for (;;) {
    const phrase = phrases[Math.floor(random() * phrases.length)]!;
    let piece = levelled(phrase, wanted.peakDbfs, wanted.perMs);
    if (wanted.ends === 'clear' && random() < 0.5) piece = cutInWord(piece, random, wanted);
    const level = levelsOf(piece, wanted.perMs);
    const end = endMsOf(level, wanted, 0);
    const spread = Math.abs(endMsOf(level, wanted, -4) - endMsOf(level, wanted, 4));
    if (end > 0 && (wanted.ends === 'natural' || spread <= MOST_SPREAD_MS)) return { piece, endMs: end };
  }
}

function cutInWord(piece: Float32Array, random: () => number, { perMs, peakDbfs, noiseDbfs }: LastWords): Float32Array {
  const level = levelsOf(piece, perMs);
  const loud = Math.max(peakDbfs - 18, noiseDbfs + 12);
  let lastMs = level.length - 1;
  while (lastMs > 0 && level[lastMs]! < loud) lastMs--;
  const fade = Math.round((2 + random() * 38) * perMs);
  const cut = piece.slice(0, Math.min(piece.length, Math.round(lastMs * perMs) + fade));
  for (let i = 0; i < fade && i < cut.length; i++)
    cut[cut.length - 1 - i]! *= 0.5 - 0.5 * Math.cos((Math.PI * i) / fade);
  return cut;
}

/** Level of the 5 ms around each millisecond, dBFS. */
function levelsOf(samples: Float32Array | Int16Array, perMs: number): Float32Array {
  const levels = new Float32Array(Math.ceil(samples.length / perMs));
  for (let ms = 0; ms < levels.length; ms++) {
    let sum = 0;
    const from = Math.round((ms - 2) * perMs);
    for (let i = Math.max(0, from); i < Math.min(samples.length, from + 5 * perMs); i++)
      sum += samples[i]! * samples[i]!;
    levels[ms] = 10 * Math.log10(sum / (5 * perMs) / 32_768 ** 2 + 1e-12);
  }
  return levels;
}

function endMsOf(level: Float32Array, { peakDbfs, noiseDbfs }: LastWords, shiftDb: number): number {
  const limit = Math.max(peakDbfs - 28, noiseDbfs + 4) + shiftDb;
  let last = level.length - 1;
  while (last >= 0 && level[last]! < limit) last--;
  return last + 1;
}

function firstSoundMs(samples: Int16Array, perMs: number): number {
  return levelsOf(samples, perMs).findIndex((level) => level > -60);
}

/** With its loudest 15 ms at `peakDbfs`. */
function levelled(phrase: Int16Array, peakDbfs: number, perMs: number): Float32Array {
  const level = levelsOf(phrase, perMs);
  let loudest = -100;
  for (let ms = 5; ms + 5 < level.length; ms++) {
    const mean = (10 ** (level[ms - 5]! / 10) + 10 ** (level[ms]! / 10) + 10 ** (level[ms + 5]! / 10)) / 3;
    loudest = Math.max(loudest, 10 * Math.log10(mean));
  }
  const gain = 10 ** ((peakDbfs - loudest) / 20);
  return Float32Array.from(phrase, (sample) => sample * gain);
}

function add(to: Float32Array, piece: Float32Array, at: number): void {
  const start = Math.round(at);
  for (let i = 0; i < piece.length && start + i < to.length; i++) to[start + i]! += piece[i]!;
}

function addNoise(to: Float32Array, random: () => number, at: number, samples: number, dbfs: number): void {
  const scale = 32_768 * 10 ** (dbfs / 20) * Math.sqrt(3);
  for (let i = 0; i < samples; i++)
    to[Math.round(at) + i]! += (random() * 2 - 1) * scale * Math.sin((Math.PI * i) / samples);
}

const ECHO_DB = -30;

interface Line {
  caller: Float32Array;
  agent: Float32Array;
  used: number;
  rateHz: number;
  noiseDbfs: number;
  random: () => number;
}

/** Adds noise (white, or duller with hum) and echo, and sends phone calls through mu-law. */
function line({ caller, agent, used, rateHz, noiseDbfs, random }: Line): Int16Array {
  const echoAt = Math.round((40 + random() * 160) * (rateHz / 1000));
  const echo = 10 ** (ECHO_DB / 20);
  const noise = noises[random() < 0.4 ? 'dull' : 'white'];
  const from = Math.floor(random() * noise.length);
  const scale = 32_768 * 10 ** (noiseDbfs / 20);
  const interleaved = new Int16Array(used * 2);
  for (let i = 0; i < used; i++) {
    const echoed = i < echoAt ? 0 : agent[i - echoAt]! * echo;
    const value = caller[i]! + scale * noise[(from + i) % noise.length]! + echoed;
    interleaved[2 * i] = Math.max(-32_768, Math.min(32_767, Math.round(value)));
    interleaved[2 * i + 1] = agent[i]!;
  }
  if (rateHz === 8_000) {
    const mulaw = new Uint8Array(interleaved.length);
    encodeMulaw(interleaved, 0, interleaved.length, mulaw, 0);
    decodeMulaw(mulaw, 0, mulaw.length, interleaved, 0);
  }
  return interleaved;
}

/**
 * 16 s of noise with an RMS of 1, over and over from another place; the dull one has half of its power again in hum.
 */
function makeNoises(): Record<'white' | 'dull', Float32Array> {
  const random = createRandom(1);
  const white = Float32Array.from({ length: 128_000 }, () => (random() * 2 - 1) * Math.sqrt(3));
  const keep = 0.7;
  let low = 0;
  const dull = white.map((value, i) => {
    low = keep * low + (1 - keep) * value;
    // White noise through a one-pole low pass keeps (1 - keep) / (1 + keep) of its power.
    return low / Math.sqrt((1 - keep) / (1 + keep)) + Math.sin((2 * Math.PI * 50 * i) / 8_000);
  });
  return { white, dull };
}
const noises = makeNoises();
