/**
 * A callee that plays given sounds at given instants of the call, over the noise of its room: for runs about who stops
 * whom. It understands nothing. Its time is the sound that it hears; a sound is told of (`said`) when it begins.
 */
import { readFile } from 'node:fs/promises';
import { decodeMulaw, encodeMulaw } from '../../../media/audio/g711.ts';
import type { InterjectingPersona } from '../persona.ts';
import type { Callee, CalleeListener } from './callee.ts';
import { wavSamples } from './steady-callee.ts';

const FRAME_MS = 20;
const FRAME_SAMPLES = 160;
/** About -40 dBFS: what a person would take for the agent's voice. */
const AUDIBLE_PEAK = 330;

export function createInterjectingCallee(
  persona: InterjectingPersona,
  listener: Pick<CalleeListener, 'said' | 'saidAll'>,
): Callee {
  const sounds: Int16Array[] = [];
  let room: Int16Array = new Int16Array(FRAME_SAMPLES);
  const heard = new Int16Array(FRAME_SAMPLES);
  const mixed = new Int16Array(FRAME_SAMPLES);
  let roomAt = 0;
  let nowMs = 0;
  let next = 0;
  let agentBeganAtMs = Number.NaN;
  let ownEndMs = Number.NaN;
  let playing: { sound: Int16Array; at: number } | null = null;

  /** NaN: what it counts from has not happened. */
  function dueMs(): number {
    const sound = persona.sounds[next];
    if (sound === undefined) return Number.NaN;
    return { start: 0, agent: agentBeganAtMs, own: ownEndMs }[sound.after] + sound.atMs;
  }

  return {
    async prepare() {
      for (const { path } of persona.sounds) sounds.push(wavSamples(await readFile(path), path));
      if (persona.room !== undefined) room = wavSamples(await readFile(persona.room), persona.room);
    },
    hear(frame, agentBytes) {
      nowMs += FRAME_MS;
      if (!Number.isNaN(agentBeganAtMs) || agentBytes === 0) return;
      decodeMulaw(frame, 0, agentBytes, heard, 0);
      if (heard.subarray(0, agentBytes).some((sample) => Math.abs(sample) >= AUDIBLE_PEAK)) agentBeganAtMs = nowMs;
    },
    fill(frame) {
      if (playing === null && nowMs >= dueMs()) {
        playing = { sound: sounds[next]!, at: 0 };
        listener.said(persona.sounds[next++]!.says, !Number.isNaN(agentBeganAtMs));
      }
      for (let i = 0; i < FRAME_SAMPLES; i++) {
        const own = playing?.sound[playing.at + i] ?? 0;
        mixed[i] = Math.max(-32_768, Math.min(32_767, own + room[roomAt++ % room.length]!));
      }
      encodeMulaw(mixed, 0, FRAME_SAMPLES, frame, 0);
      if (playing === null) return;
      playing.at += FRAME_SAMPLES;
      if (playing.at < playing.sound.length) return;
      playing = null;
      ownEndMs = nowMs;
      listener.saidAll();
    },
    close() {},
  };
}
