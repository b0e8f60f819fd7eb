/** What the checks share: the microphone and the audio context, and two measurements on them. */

export interface Probe {
  context: AudioContext;
  microphone: Promise<MediaStream>;
  workletUrl: string;
  /** The directive of the page's policy that was broken last, or null. */
  violation(): string | null;
}

const TONE_HZ = 1_000;
const TONE_MS = 600;
const SETTLE_MS = 150;

/** Must be called in a click. `workletUrl` is found in the page's own list of resources. */
export function openProbe(workletUrl: string): Probe {
  const context = new AudioContext();
  context.resume().catch(() => {});
  const audio = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };
  const microphone = navigator.mediaDevices
    ? navigator.mediaDevices.getUserMedia({ audio })
    : Promise.reject(new DOMException('no mediaDevices', 'NotFoundError'));
  microphone.catch(() => {});
  let broken: string | null = null;
  document.addEventListener('securitypolicyviolation', (event) => {
    broken = event.effectiveDirective;
  });
  return { context, microphone, workletUrl, violation: () => broken };
}

export async function closeProbe({ context, microphone }: Probe): Promise<void> {
  await microphone.then(
    (stream) => {
      for (const track of stream.getTracks()) track.stop();
    },
    () => {},
  );
  await context.close().catch(() => {});
}

/** The loudest 50 ms within `listenMs`, in dBFS; null without a microphone. */
export async function levelOf(probe: Probe, listenMs: number): Promise<number | null> {
  const analyser = await listen(probe);
  if (analyser === null) return null;
  const samples = new Float32Array(analyser.fftSize);
  let loudest = 0;
  const untilMs = performance.now() + listenMs;
  while (performance.now() < untilMs) {
    analyser.getFloatTimeDomainData(samples);
    let energy = 0;
    for (const sample of samples) energy += sample * sample;
    loudest = Math.max(loudest, Math.sqrt(energy / samples.length));
    await sleep(50);
  }
  return 20 * Math.log10(loudest);
}

/** By how many dB a tone of ours raises the microphone at its frequency; null without a microphone. */
export async function echoOf(probe: Probe): Promise<number | null> {
  const analyser = await listen(probe);
  if (analyser === null) return null;
  const { context } = probe;
  const before = await atTone(context, analyser);
  const tone = context.createOscillator();
  const gain = context.createGain();
  tone.frequency.value = TONE_HZ;
  gain.gain.value = 0;
  gain.gain.linearRampToValueAtTime(0.2, context.currentTime + 0.03);
  tone.connect(gain).connect(context.destination);
  tone.start();
  await sleep(SETTLE_MS);
  const during = await atTone(context, analyser);
  gain.gain.linearRampToValueAtTime(0, context.currentTime + 0.03);
  tone.stop(context.currentTime + 0.05);
  return Math.max(0, during - before);
}

async function atTone(context: AudioContext, analyser: AnalyserNode): Promise<number> {
  const bins = new Float32Array(analyser.frequencyBinCount);
  const bin = Math.round((TONE_HZ * analyser.fftSize) / context.sampleRate);
  let sum = 0;
  let count = 0;
  const untilMs = performance.now() + TONE_MS / 2;
  while (performance.now() < untilMs) {
    analyser.getFloatFrequencyData(bins);
    sum += Math.max(-120, bins[bin]!);
    count++;
    await sleep(30);
  }
  return sum / count;
}

async function listen({ context, microphone }: Probe): Promise<AnalyserNode | null> {
  try {
    const analyser = context.createAnalyser();
    analyser.smoothingTimeConstant = 0;
    context.createMediaStreamSource(await microphone).connect(analyser);
    return analyser;
  } catch {
    return null;
  }
}

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
