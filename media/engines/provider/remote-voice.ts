/**
 * The `TextToSpeech` port of a voice that works in a provider thread: one line a text. What cannot be spoken is refused
 * before anything is sent. Pipeline side.
 */
import type { MessagePort } from 'node:worker_threads';
import { decodeMulaw } from '../../audio/g711.ts';
import type { CallUse, OpenVoice } from '../../contract/engine-kinds.ts';
import type { SpeechChunk, SpeechRequest, TextToSpeech } from '../../contract/engines.ts';
import { VoiceError, type VoiceErrorCode } from '../voice-error.ts';
import { type ProviderLine, ProviderLines } from './provider-lines.ts';
import type { SpeechOrder, SpeechReport } from './provider-voice.ts';

/** Longer than any sentence; the least that providers take at once. */
const MOST_CHARS = 4_000;

/** `service`: by its name in `services.ts`. */
export function remoteVoiceOf(service: string, outputRateHz: number): (portNow: () => MessagePort) => OpenVoice {
  return (portNow) => {
    const lines = new ProviderLines(portNow, service);
    return (use): TextToSpeech => ({
      outputRateHz,
      voices: [],
      synthesize: (request, onChunk) => synthesize(lines, use, request, onChunk),
    });
  };
}

function synthesize(
  lines: ProviderLines,
  use: CallUse,
  { text, voice, signal, takesMulaw = false }: SpeechRequest,
  onChunk: (chunk: SpeechChunk) => void,
): Promise<void> {
  if (signal.aborted) return Promise.reject(abortError());
  if (!/[\p{L}\p{N}]/u.test(text))
    return Promise.reject(new VoiceError('nothing_to_speak', 'The text holds neither letter nor number.'));
  if (text.length > MOST_CHARS)
    return Promise.reject(new VoiceError('text_too_long', `A text has at most ${MOST_CHARS} characters.`));
  return new Promise<void>((resolve, reject) => {
    let line: ProviderLine | null = null;
    const settle = (error: Error | null): void => {
      signal.removeEventListener('abort', abort);
      line?.close();
      if (error === null) resolve();
      else reject(error);
    };
    const abort = (): void => settle(abortError());
    const order: SpeechOrder = { text: speakable(text), voice, takesMulaw };
    try {
      line = lines.request(use, order, {
        said(body) {
          try {
            onChunk(chunkOf(body as SpeechReport, text));
          } catch (error) {
            settle(error instanceof Error ? error : new Error(String(error)));
          }
        },
        over: (fault, message) => settle(fault === null ? null : new VoiceError(codeOf(fault), message)),
      });
      signal.addEventListener('abort', abort);
    } catch (error) {
      reject(new VoiceError('engine_gone', (error as Error).message, { cause: error }));
    }
  });
}

/** What is no text is a space, so that places in the text stay what they are. */
function speakable(text: string): string {
  return text.replace(/\p{Cc}|\p{Cs}/gu, ' ');
}

function chunkOf({ sound, isMulaw, charStart, charEnd, words }: SpeechReport, whole: string): SpeechChunk {
  const told = { text: whole.slice(charStart, charEnd), ...(words === undefined ? {} : { words }) };
  if (!isMulaw) return { samples: new Int16Array(sound.buffer, sound.byteOffset, sound.length >> 1), ...told };
  const samples = new Int16Array(sound.length);
  decodeMulaw(sound, 0, sound.length, samples, 0);
  return { samples, mulawBytes: sound, ...told };
}

function codeOf(fault: string): VoiceErrorCode {
  return fault === 'throttled'
    ? 'overloaded'
    : fault === 'refused' || fault === 'no_connection'
      ? 'refused'
      : 'engine_failed';
}

function abortError(): Error {
  return new DOMException('The speech was cancelled.', 'AbortError');
}
