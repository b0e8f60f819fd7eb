/**
 * Sounds that are no words, made of filtered noise and tones with the envelopes of the real ones: coughs, breath, doors
 * that slam, keyboards, music, and the noise of rooms and lines. Each from chance that can be repeated. Peak 1; pure.
 */
import { CORPUS_RATE_HZ } from './voices.ts';

type Random = () => number;

const samplesOf = (ms: number): number => Math.round((ms * CORPUS_RATE_HZ) / 1000);
const between = (random: Random, low: number, high: number): number => low + (high - low) * random();
const white = (random: Random): number => 2 * random() - 1;

/** A resonance, as of a mouth or a door. */
function resonator(hz: number, widthHz: number): (sample: number) => number {
  const radius = Math.exp((-Math.PI * widthHz) / CORPUS_RATE_HZ);
  const turn = 2 * radius * Math.cos((2 * Math.PI * hz) / CORPUS_RATE_HZ);
  let [one, two] = [0, 0];
  return (sample) => {
    const out = sample * (1 - radius) + turn * one - radius * radius * two;
    [two, one] = [one, out];
    return out;
  };
}

function lowPass(hz: number): (sample: number) => number {
  const share = 1 - Math.exp((-2 * Math.PI * hz) / CORPUS_RATE_HZ);
  let held = 0;
  return (sample) => (held += share * (sample - held));
}

/** One to three bursts: the glottis opens at once, a voiced rest may follow. */
export function cough(random: Random): Float64Array {
  const bursts = 1 + Math.floor(3 * random());
  const parts: Float64Array[] = [];
  for (let burst = 0; burst < bursts; burst++) {
    const length = samplesOf(between(random, 130, 260));
    const mouth = [resonator(between(random, 450, 800), 250), resonator(between(random, 1_100, 1_700), 350)];
    const pitchHz = between(random, 110, 220);
    const voiced = between(random, 0, 0.5);
    const part = new Float64Array(length + samplesOf(between(random, 90, 320)));
    for (let i = 0; i < length; i++) {
      const at = i / length;
      const envelope = Math.min(1, i / samplesOf(8)) * Math.exp(-4.5 * at);
      const buzz = at > 0.3 ? voiced * Math.sign(Math.sin((2 * Math.PI * pitchHz * i) / CORPUS_RATE_HZ)) : 0;
      const source = white(random) + buzz;
      part[i] = envelope * mouth.reduce((sum, shaped) => sum + shaped(source), 0.15 * source);
    }
    parts.push(part);
  }
  return scaled(joined(parts));
}

export function breath(random: Random): Float64Array {
  const length = samplesOf(between(random, 350, 900));
  const mouth = resonator(between(random, 1_200, 2_400), 1_200);
  return scaled(
    Float64Array.from({ length }, (_one, i) => Math.sin((Math.PI * i) / length) ** 2 * mouth(white(random))),
  );
}

/** A blow, the panel's tone, and what hangs at the wall. */
export function doorSlam(random: Random): Float64Array {
  const length = samplesOf(between(random, 300, 600));
  const panel = resonator(between(random, 90, 220), 40);
  const wood = resonator(between(random, 350, 700), 200);
  const rattleAt = samplesOf(between(random, 60, 140));
  return scaled(
    Float64Array.from({ length }, (_one, i) => {
      const blow = white(random) * Math.exp(-i / samplesOf(18));
      const rattle = i > rattleAt ? 0.4 * white(random) * Math.exp(-(i - rattleAt) / samplesOf(30)) : 0;
      return 6 * panel(blow) + 2 * wood(blow + rattle) + 0.5 * blow;
    }),
  );
}

/** Some seconds of typing, eight keys a second, each a click down and a softer one up. */
export function keyboard(random: Random): Float64Array {
  const out = new Float64Array(samplesOf(between(random, 1_200, 2_500)));
  const click = (at: number, loud: number): void => {
    const shaped = resonator(between(random, 1_500, 3_200), 900);
    for (let i = 0; i < samplesOf(25) && at + i < out.length; i++)
      out[at + i]! += loud * shaped(white(random)) * Math.exp(-i / samplesOf(4));
  };
  for (let at = 0; at < out.length; at += samplesOf(between(random, 70, 220))) {
    const loud = between(random, 0.5, 1);
    click(at, loud);
    click(at + samplesOf(between(random, 50, 90)), loud / 3);
  }
  return scaled(out);
}

/** Chords and a melody of plucked tones with a beat: a radio, or what is played to who holds the line. */
export function music(random: Random): Float64Array {
  const out = new Float64Array(samplesOf(between(random, 2_500, 4_500)));
  const beat = samplesOf(between(random, 260, 420));
  const rootHz = between(random, 160, 260);
  const scale = [0, 2, 4, 7, 9, 12, 14, 16];
  const tone = (hz: number, from: number, ms: number, loud: number): void => {
    for (let i = 0; i < samplesOf(ms) && from + i < out.length; i++) {
      const fade = Math.min(1, i / samplesOf(6)) * Math.exp(-i / samplesOf(ms / 3));
      const phase = (2 * Math.PI * hz * i) / CORPUS_RATE_HZ;
      out[from + i]! += loud * fade * (Math.sin(phase) + 0.5 * Math.sin(2 * phase) + 0.25 * Math.sin(3 * phase));
    }
  };
  for (let at = 0, count = 0; at < out.length; at += beat, count++) {
    if (count % 4 === 0) for (const step of [0, 4, 7]) tone(rootHz * 2 ** (step / 12), at, 1_200, 0.5);
    tone(rootHz * 2 ** (1 + scale[Math.floor(random() * scale.length)]! / 12), at, 350, 0.7);
    for (let i = 0; i < samplesOf(30) && at + i < out.length; i++)
      out[at + i]! += 0.5 * white(random) * Math.exp(-i / samplesOf(7));
  }
  return scaled(out);
}

/** A few seconds that repeat without a seam to be heard: air, the hum of the mains, the line's own hiss. */
export function room(random: Random): Float64Array {
  const air = lowPass(between(random, 250, 900));
  const humHz = random() < 0.5 ? 50 : 60;
  const hum = between(random, 0, 0.15);
  const hiss = between(random, 0.05, 0.2);
  const length = samplesOf(4_000);
  return scaled(
    Float64Array.from(
      { length },
      (_one, i) =>
        2 * air(white(random)) + hum * Math.sin((2 * Math.PI * 2 * humHz * i) / CORPUS_RATE_HZ) + hiss * white(random),
    ),
  );
}

/** Many voices at once, each from anywhere in its words. */
export function babble(voices: readonly Int16Array[], random: Random): Float64Array {
  const out = new Float64Array(samplesOf(between(random, 1_800, 3_500)));
  for (const voice of [...voices, ...voices]) {
    const loud = between(random, 0.5, 1) / 32_768;
    const from = Math.floor(random() * voice.length);
    for (let i = 0; i < out.length; i++) out[i]! += loud * voice[(from + i) % voice.length]!;
  }
  const edge = samplesOf(300);
  for (let i = 0; i < out.length; i++) out[i]! *= Math.min(1, i / edge, (out.length - i) / edge);
  return scaled(out);
}

function joined(parts: readonly Float64Array[]): Float64Array {
  return Float64Array.from(parts.flatMap((part) => [...part]));
}

function scaled(samples: Float64Array): Float64Array {
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1e-9);
  return samples.map((sample) => sample / peak);
}
