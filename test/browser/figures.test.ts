/**
 * What the browser's part costs, printed and not judged: milliseconds belong to the machine. The small service answers
 * at once, so this is the widget, Chromium and the loopback; what the real service adds is measured with it.
 */
import { describe, expect, it } from 'vitest';
import { percentiles } from '../../bench/harness/percentile.ts';
import { hasChromium } from './support/chromium.ts';
import { useRig } from './support/rig.ts';

const CLICKS = 6;
const SOUNDS = 6;

function print(what: string, values: number[]): void {
  const [p50, p95] = percentiles(values, [0.5, 0.95]).map(Math.round);
  process.stdout.write(`${what}: p50 ${p50} ms, p95 ${p95} ms\n`);
}

/** A microphone whose tone a test turns on and off. */
const SWITCHED_TONE = `navigator.mediaDevices.getUserMedia = async () => {
  const context = new AudioContext();
  await context.resume();
  const oscillator = new OscillatorNode(context, { frequency: 400 });
  window.tone = new GainNode(context, { gain: 0 });
  const microphone = context.createMediaStreamDestination();
  oscillator.connect(tone).connect(microphone);
  oscillator.start();
  return microphone.stream;
}`;

function isLoud(packet: Buffer): boolean {
  for (let at = 0; at + 1 < packet.length; at += 2) if (Math.abs(packet.readInt16LE(at)) > 1_000) return true;
  return false;
}

describe.skipIf(!hasChromium)('figures', () => {
  const rig = useRig();

  it(`of ${CLICKS} clicks: to the first sample at the device, and from a barge-in to silence`, async () => {
    rig.live.greetingMs = 20_000;
    const visitor = await rig.open(
      `<button id="talk">T</button>${rig.script('data-ui="custom" data-trigger="#talk"')}`,
    );
    const { page } = visitor;
    await page.waitForTimeout(800);
    await page.evaluate(`window.states = []; document.addEventListener('click', (event) => { window.clickedAtMs = event.timeStamp }, true);
      ServiceVoice.on('state', (one) => states.push({ ...one, atEpochMs: performance.timeOrigin + one.atMs })); 0`);
    const firstMs: number[] = [];
    const silentMs: number[] = [];
    const toSpeakerMs: number[] = [];
    for (let i = 0; i < CLICKS; i++) {
      await page.click('#talk');
      await visitor.until('states.some((one) => one.state === "audible")');
      firstMs.push(await page.evaluate('states.find((one) => one.state === "audible").atMs - clickedAtMs'));
      const heardAtEpochMs: number = await page.evaluate('states.find((one) => one.state === "audible").atEpochMs');
      toSpeakerMs.push(heardAtEpochMs - rig.live.sessions.at(-1)!.saidAtEpochMs);
      await page.waitForTimeout(300);
      const decidedAtEpochMs = rig.live.sessions.at(-1)!.clear();
      await visitor.until('states.some((one) => one.state === "silenced")');
      const silentAtEpochMs: number = await page.evaluate('states.find((one) => one.state === "silenced").atEpochMs');
      silentMs.push(silentAtEpochMs - decidedAtEpochMs);
      await page.evaluate('ServiceVoice.end(); states.length = 0; 0');
    }
    print('click to first sample', firstMs);
    print('barge-in to silence', silentMs);
    print('mouth to ear, first frame at the socket to its first sample at the device', toSpeakerMs);
    expect(firstMs.length + silentMs.length).toBe(2 * CLICKS);
    await visitor.close();
  });

  it(`of ${SOUNDS} sounds: from the microphone to the socket`, async () => {
    rig.live.greetingMs = 0;
    const visitor = await rig.open(rig.script('data-ui="custom" data-codec="pcm"'), { init: SWITCHED_TONE });
    const { page } = visitor;
    await page.evaluate('ServiceVoice.start()');
    const session = rig.live.sessions.at(-1)!;
    const toSocketMs: number[] = [];
    for (let i = 0; i < SOUNDS; i++) {
      await page.waitForTimeout(230 + 7 * i);
      const from = session.packets.length;
      const onAtEpochMs: number = await page.evaluate(
        'tone.gain.value = 0.5, performance.timeOrigin + performance.now()',
      );
      const at = await rig.live.waitFor('the tone', () => {
        const found = session.packets.findIndex((packet, index) => index >= from && isLoud(packet));
        return found < 0 ? null : { index: found };
      });
      toSocketMs.push(session.cameAtEpochMs[at.index]! - onAtEpochMs);
      await page.evaluate('tone.gain.value = 0; 0');
    }
    print('mouth to ear, sound in the audio graph to its frame at the socket', toSocketMs);
    await visitor.close();
  });
});
