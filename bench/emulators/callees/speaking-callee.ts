/**
 * A callee that really listens and really speaks: an ear with a recogniser, a script of cues, a voice. Made by the
 * emulator for each call to a persona of kind `speaking`. Its time is the sound that it hears, so that a stalled
 * machine delays it but does not confuse it.
 */
import { decodeMulaw } from '../../../media/audio/g711.ts';
import { MULAW_SILENCE } from '../../../media/contract/audio-format.ts';
import type { SpeechToText, VoiceActivity } from '../../../media/contract/engines.ts';
import type { SpeakingPersona } from '../persona.ts';
import type { Callee, CalleeListener } from './callee.ts';
import { Conversation, type Line } from './conversation.ts';
import { Ear } from './ear.ts';
import type { LineRenderer } from './line-renderer.ts';

const RATE_HZ = 8_000;

export interface CalleeEngines {
  renderer: LineRenderer;
  /** For 8 kHz. */
  speechToText: SpeechToText;
  createVoiceActivity(rateHz: number): VoiceActivity;
}

export function createSpeakingCallee(
  persona: SpeakingPersona,
  listener: CalleeListener,
  engines: CalleeEngines,
): Callee {
  const conversation = new Conversation(persona);
  const voice = new Map<string, Uint8Array>();
  const samples = new Int16Array(160);
  let speaking: { line: Line; audio: Uint8Array; at: number } | null = null;
  let hangsUpAtMs: number | null = null;
  let quietSinceMs = 0;
  /** Start of the agent's words that were answered already, by interrupting them. */
  let interruptedStartMs = -1;

  const ear = new Ear(engines.speechToText, engines.createVoiceActivity(RATE_HZ), persona.patienceMs, {
    cues: () => conversation.cues(),
    partial(text, utteranceStartMs) {
      if (utteranceStartMs === interruptedStartMs) return;
      if (!conversation.heardSoFar(text, utteranceStartMs, ear.nowMs)) return;
      interruptedStartMs = utteranceStartMs;
      listener.heard(text, true);
    },
    finished(text, utteranceStartMs, utteranceEndMs) {
      if (utteranceStartMs !== interruptedStartMs) listener.heard(text, conversation.heard(text, utteranceEndMs));
    },
    warning: (message) => listener.warning(message),
  });

  function begin(line: Line): void {
    if (line.text === '') {
      lineOver(line);
    } else {
      speaking = { line, audio: voice.get(line.text) ?? new Uint8Array(0), at: 0 };
      listener.said(line.text, line.interrupting);
    }
  }

  function lineOver(line: Line): void {
    if (line.thenHangsUpAfterMs !== null) hangsUpAtMs = ear.nowMs + line.thenHangsUpAfterMs;
  }

  return {
    async prepare() {
      for (const text of Conversation.lines(persona)) {
        const audio = await engines.renderer.render(persona.voice, text);
        if (audio.length === 0) throw new Error(`voice ${persona.voice} made no sound of "${text}"`);
        voice.set(text, audio);
      }
    },
    hear(frame) {
      decodeMulaw(frame, 0, frame.length, samples, 0);
      ear.hear(samples);
      if (speaking !== null || ear.hearsSpeech) quietSinceMs = ear.nowMs;
      const isSilentTooLong = ear.nowMs - quietSinceMs >= persona.hangsUpAfterSilenceMs;
      if ((hangsUpAtMs !== null && ear.nowMs >= hangsUpAtMs) || isSilentTooLong) listener.hangUp();
    },
    fill(frame) {
      frame.fill(MULAW_SILENCE);
      if (speaking === null) {
        const line = conversation.next(ear.nowMs, ear.hearsSpeech);
        if (line !== null) begin(line);
      }
      if (speaking === null) return;
      frame.set(speaking.audio.subarray(speaking.at, speaking.at + frame.length));
      speaking.at += frame.length;
      if (speaking.at < speaking.audio.length) return;
      const { line } = speaking;
      speaking = null;
      listener.saidAll();
      lineOver(line);
    },
    close() {
      ear.close();
    },
  };
}
