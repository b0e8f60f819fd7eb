/**
 * What listens in the page to what it plays: a worklet between the page's own sound and the loudspeaker, which tells
 * when a sound begins. Its times are those of the loudspeaker, on the page's clock. Text, as in `page-scripts.ts`; the
 * worklet is code of a blob, so the page's policy is set aside (`bypassCSP`).
 */
import { PAINTED } from './page-scripts.ts';

/** Begins after so much quiet, and counts from its first window above the threshold. */
const ONSETS = `registerProcessor('onsets', class extends AudioWorkletProcessor {
  constructor({ processorOptions }) {
    super();
    Object.assign(this, processorOptions);
    this.quietFor = [1e9, 1e9];
  }
  level(samples, from, length) {
    if (this.hz === 0) {
      let peak = 0;
      for (let i = from; i < from + length; i++) peak = Math.max(peak, Math.abs(samples[i]));
      return peak;
    }
    // Goertzel: how much of one pitch there is.
    const turn = 2 * Math.cos((2 * Math.PI * this.hz) / sampleRate);
    let [before, last] = [0, 0];
    for (let i = from; i < from + length; i++) [before, last] = [last, samples[i] + turn * last - before];
    return (2 * Math.sqrt(before * before + last * last - turn * before * last)) / length;
  }
  process([input]) {
    for (const [channel, samples] of input.entries()) {
      const length = Math.min(samples.length, Math.round(sampleRate * 0.004));
      for (let from = 0; from + length <= samples.length; from += length) {
        const isLoud = this.level(samples, from, length) > this.threshold;
        if (isLoud && this.quietFor[channel] > this.quiet * sampleRate) {
          this.port.postMessage({ channel, time: (currentFrame + from) / sampleRate });
        }
        this.quietFor[channel] = isLoud ? 0 : this.quietFor[channel] + length;
      }
    }
    return true;
  }
});`;

/** \`bench.listen(context, options)\`: a node to connect to; what begins is pushed to \`bench.onsets\`. */
const LISTEN = `${PAINTED}
bench.onsets = [];
bench.listen = (context, options) => {
  const tap = new GainNode(context);
  const module = URL.createObjectURL(new Blob([${JSON.stringify(ONSETS)}], { type: 'text/javascript' }));
  void context.audioWorklet.addModule(module).then(() => {
    const worklet = new AudioWorkletNode(context, 'onsets', { numberOfOutputs: 0, processorOptions: options });
    tap.connect(worklet);
    worklet.port.onmessage = ({ data: { channel, time } }) => {
      const { contextTime, performanceTime } = context.getOutputTimestamp();
      bench.onsets.push({ channel, at: performance.timeOrigin + performanceTime + (time - contextTime) * 1000 });
    };
  });
  return tap;
};`;

/** Taps a recording that the page plays, and notes which turn is marked, when. */
export const TAP_PLAYER = `${LISTEN}
const Plain = window.Audio;
window.Audio = function () {
  const audio = new Plain();
  bench.audio = audio;
  audio.addEventListener('play', () => {
    const context = new AudioContext();
    const source = context.createMediaElementSource(audio);
    source.connect(context.destination);
    source.connect(bench.listen(context, { hz: 0, threshold: 0.03, quiet: 0.15 }));
  }, { once: true });
  return audio;
};
bench.marked = [];
bench.noteMarks = () => {
  const list = document.querySelector('ol.transcript');
  let known = -1;
  new MutationObserver(() => {
    const now = [...list.children].findIndex((item) => item.classList.contains('now'));
    if (now === known || now < 0) return;
    known = now;
    const audioMs = bench.audio.currentTime * 1000;
    void bench.painted().then((ms) => bench.marked.push({ turn: now, audioMs, at: performance.timeOrigin + ms }));
  }).observe(list, { subtree: true, attributes: true, attributeFilter: ['class'] });
};`;

/** Taps whatever the page sends to the loudspeaker, for sounds of one pitch. */
export const tapLoudspeaker = (hz: number): string => `${LISTEN}
const connect = AudioNode.prototype.connect;
const taps = new WeakMap();
AudioNode.prototype.connect = function (to, ...rest) {
  if (to === this.context.destination) {
    if (!taps.has(this.context)) taps.set(this.context, bench.listen(this.context, { hz: ${hz}, threshold: 0.05, quiet: 0.3 }));
    connect.call(this, taps.get(this.context));
  }
  return connect.call(this, to, ...rest);
};`;
