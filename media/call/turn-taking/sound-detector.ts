/**
 * Whether a frame holds sound at all, by its level over that of the line's own noise. The voice-activity gate says what
 * is speech, and is 100 ms out either way where words fade away or begin softly: too much where the pause of a sentence
 * (1.1 s) and the end of a turn (1.2 s) lie so close together. Called by the hearing for each 20 ms frame: 160 to 960
 * multiplications, no allocation. Pure.
 */

/** About -64 dBFS: below it even a line without any noise is silent. */
const QUIETEST_RMS = 20;
/** 3 dB over the noise. The level of a frame of steady noise is within 0.5 dB of its mean. */
const OVER_NOISE = 1.4;
/** The first guess, of a loud line: it sinks to that of the real one within the first words of the agent. */
const FIRST_NOISE_RMS = 300;
const SINKS_BY = 0.25;
/** By half in 2 s: a sentence hardly lifts it, a line that has become louder does in some seconds. */
const RISES_BY = 0.004;

export class SoundDetector {
  #noiseRms = FIRST_NOISE_RMS;

  sounds(monoSamples: Int16Array): boolean {
    let sum = 0;
    for (let i = 0; i < monoSamples.length; i++) sum += monoSamples[i]! * monoSamples[i]!;
    const rms = Math.sqrt(sum / monoSamples.length);
    const over = rms - this.#noiseRms;
    this.#noiseRms += over < 0 ? over * SINKS_BY : Math.min(over, this.#noiseRms * RISES_BY + 0.05);
    return rms > Math.max(QUIETEST_RMS, OVER_NOISE * this.#noiseRms);
  }
}
