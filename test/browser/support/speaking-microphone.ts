/**
 * A microphone into which a test speaks when it wants to, in place of the browser's: what follows from what the agent
 * says can then be said in time, which a file that plays by itself cannot.
 */
import type { VisitorVoice } from '../../../bench/live-client/visitor-voice.ts';
import type { Visit } from './chromium.ts';

const RATE_HZ = 16_000;

/** Runs before the page's own scripts (`VisitOptions.init`). */
export const SPEAKING_MICROPHONE = `navigator.mediaDevices.getUserMedia = async () => {
  const context = new AudioContext();
  await context.resume();
  const microphone = context.createMediaStreamDestination();
  // Silence that flows, as a real one's does.
  const hum = new ConstantSourceNode(context, { offset: 0 });
  hum.connect(microphone);
  hum.start();
  window.speakInto = (base64) => new Promise((spoken) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const samples = Float32Array.from(new Int16Array(bytes.buffer), (sample) => sample / 32768);
    const sound = context.createBuffer(1, samples.length, ${RATE_HZ});
    sound.copyToChannel(samples, 0);
    const mouth = new AudioBufferSourceNode(context, { buffer: sound });
    mouth.connect(microphone);
    mouth.onended = () => spoken();
    mouth.start();
  });
  return microphone.stream;
}`;

/** Resolves when the words were spoken. */
export async function speak({ page }: Visit, voice: VisitorVoice, text: string): Promise<void> {
  const samples = await voice(text, RATE_HZ);
  const bytes = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  await page.evaluate(`speakInto(${JSON.stringify(bytes.toString('base64'))})`);
}
