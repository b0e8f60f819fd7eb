/**
 * A callee that says its lines one after another, each when the agent has had its say and fallen silent, and then hangs
 * up. It understands nothing, so that hundreds of them at once cost a machine no recogniser. A line
 * may also begin in the middle of the agent's words. Its time is the sound that it hears.
 */
import { decodeMulaw } from '../../../media/audio/g711.ts';
import { MULAW_SILENCE } from '../../../media/contract/audio-format.ts';
import type { RecitingPersona } from '../persona.ts';
import type { Callee, CalleeListener } from './callee.ts';
import type { LineRenderer } from './line-renderer.ts';

const FRAME_MS = 20;
/** About -40 dBFS: what a person would take for the agent's voice. */
const AUDIBLE_PEAK = 330;

export function createRecitingCallee(
  persona: RecitingPersona,
  listener: Pick<CalleeListener, 'said' | 'saidAll' | 'hangUp'>,
  renderer: LineRenderer,
): Callee {
  const audios: Uint8Array[] = [];
  const samples = new Int16Array(160);
  let nowMs = 0;
  let nextLine = 0;
  let speaking: { audio: Uint8Array; at: number } | null = null;
  /** Since the end of its own last line. */
  let agentSpoke = false;
  let agentSoundAtMs = 0;
  /** Of what it says since the caller's last line, the first sound; NaN: nothing yet. */
  let agentBeganAtMs = Number.NaN;
  let ownSoundAtMs = 0;

  const lines = persona.lines.map((line) => (typeof line === 'string' ? { says: line } : line));
  const mayInterrupt = (): boolean => {
    const line = lines[nextLine];
    return line !== undefined && 'interruptsAfterMs' in line && nowMs - agentBeganAtMs >= line.interruptsAfterMs;
  };
  const mayGoOn = (): boolean =>
    (agentSpoke && nowMs - agentSoundAtMs >= persona.afterMs) ||
    nowMs - Math.max(ownSoundAtMs, agentSoundAtMs) >= persona.patienceMs;

  return {
    async prepare() {
      for (const { says } of lines) audios.push(await renderer.render(persona.voice, says));
    },
    hear(frame) {
      nowMs += FRAME_MS;
      decodeMulaw(frame, 0, frame.length, samples, 0);
      if (samples.some((sample) => Math.abs(sample) >= AUDIBLE_PEAK)) {
        agentSoundAtMs = nowMs;
        agentSpoke = speaking === null;
        if (agentSpoke && Number.isNaN(agentBeganAtMs)) agentBeganAtMs = nowMs;
      }
      if (speaking === null && nextLine === audios.length && mayGoOn()) listener.hangUp();
    },
    fill(frame) {
      frame.fill(MULAW_SILENCE);
      const audio = audios[nextLine];
      const interrupts = speaking === null && mayInterrupt();
      if (speaking === null && audio !== undefined && (interrupts || mayGoOn())) {
        speaking = { audio, at: 0 };
        listener.said(lines[nextLine++]!.says, interrupts);
      }
      if (speaking === null) return;
      frame.set(speaking.audio.subarray(speaking.at, speaking.at + frame.length));
      speaking.at += frame.length;
      if (speaking.at < speaking.audio.length) return;
      speaking = null;
      agentSpoke = false;
      agentBeganAtMs = Number.NaN;
      ownSoundAtMs = nowMs;
      listener.saidAll();
    },
    close() {},
  };
}
