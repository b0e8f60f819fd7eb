/**
 * The mean cepstrum of the beginning of an utterance, which is the mark of the line, the noise and the voice. The
 * decoder takes a mean off each frame; its own is that of a studio, or of the last caller. Called by a decoder once an
 * utterance, on the first 0.7 s. Pure arithmetic on the front end's logarithmic mel spectrum; the transform is the
 * model's (`dct`, lifter 22).
 */
const CEPSTRA = 13;
const LIFTER = 22;
/** Frames this far below the loudest (39 dB) are pauses on a clean line: they say nothing of the voice. */
const PAUSE_DEPTH = 40;

/** `logMel` holds `frames` times `filters` values. Null when all of it is digital silence. */
export function cepstralMean(logMel: Float32Array, frames: number, filters: number): number[] | null {
  const energies = new Float64Array(frames);
  let loudest = 0;
  for (let frame = 0; frame < frames; frame++) {
    let sum = 0;
    for (let k = 0; k < filters; k++) sum += logMel[frame * filters + k]!;
    energies[frame] = sum / Math.sqrt(filters);
    loudest = Math.max(loudest, energies[frame]!);
  }
  const mean = new Float64Array(filters);
  let used = 0;
  for (let frame = 0; frame < frames; frame++) {
    // The decoder itself leaves frames without energy out of its mean.
    if (energies[frame]! <= 0 || energies[frame]! < loudest - PAUSE_DEPTH) continue;
    used++;
    for (let k = 0; k < filters; k++) mean[k]! += logMel[frame * filters + k]!;
  }
  if (used === 0) return null;
  return Array.from({ length: CEPSTRA }, (_, i) => {
    let sum = 0;
    for (let k = 0; k < filters; k++) sum += (mean[k]! / used) * Math.cos((Math.PI * i * (k + 0.5)) / filters);
    const scale = Math.sqrt((i === 0 ? 1 : 2) / filters);
    return sum * scale * (1 + (LIFTER / 2) * Math.sin((i * Math.PI) / LIFTER));
  });
}
