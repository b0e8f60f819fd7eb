/**
 * One context of the emulated ElevenLabs: text that came in pieces, what is spoken of it, and its end. Both sockets are
 * made of it: `multi-stream-input` has several, `stream-input` one.
 */
import type { SocketExchange } from '../provider.ts';
import type { Timetable } from '../timetable.ts';
import type { ApiError } from './api-error.ts';
import type { ClientMessage } from './client-message.ts';
import type { SocketOptions } from './socket-options.ts';
import type { SocketParameters } from './socket-parameters.ts';
import { Speaking, type SpokenChunk } from './speaking.ts';
import { DEFAULT_SCHEDULE, TextBuffer } from './text-buffer.ts';

export const SETTINGS_CHANGED: ApiError = {
  error: 'invalid_message',
  message: 'voice_settings field must be provided in the first message and then either be not provided or not change.',
};

const VOICE_FAILED: ApiError = {
  error: 'internal_error',
  message: 'We are sorry, something went wrong. You are not charged for this request.',
};

export interface ContextListener {
  chunk(chunk: SpokenChunk): void;
  /** The voice failed, and with it the socket. */
  failed(error: ApiError): void;
}

export class Context {
  readonly #options: SocketOptions;
  readonly #timetable: Timetable;
  readonly #settings: string;
  readonly #buffer: TextBuffer;
  readonly #speaking: Speaking;
  #isClosing = false;

  /** `first` opens it: only there may settings come. */
  constructor(
    socket: SocketExchange,
    parameters: SocketParameters,
    options: SocketOptions,
    voiceName: string,
    first: ClientMessage,
    listener: ContextListener,
  ) {
    this.#options = options;
    this.#timetable = socket.timetable.apart();
    this.#settings = JSON.stringify(first.voiceSettings);
    this.#buffer = new TextBuffer(first.schedule ?? DEFAULT_SCHEDULE, parameters.isAuto);
    const speed = Number(first.voiceSettings?.['speed'] ?? 1);
    const { voice, latencies, durationsKey } = options;
    const { format, isAlignmentSynced } = parameters;
    this.#speaking = new Speaking(
      this.#timetable,
      { voice, voiceName, format, speed, isAlignmentSynced, durationsKey, latencies },
      listener.chunk,
      (error) => {
        socket.note('warning', { message: error.message });
        listener.failed(VOICE_FAILED);
      },
    );
  }

  /** It takes no more text, and waits for its end. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** A message after the first may repeat the settings, and not change them. */
  keepsSettings({ voiceSettings }: ClientMessage): boolean {
    return voiceSettings === null || JSON.stringify(voiceSettings) === this.#settings;
  }

  take({ text, triggers, flush }: ClientMessage): void {
    if (this.#isClosing) return;
    const ready = text === null || text === '' ? null : this.#buffer.push(text, triggers);
    if (ready !== null) this.#speaking.speak(ready);
    if (flush) this.#flush();
  }

  #flush(): void {
    const rest = this.#buffer.flush();
    if (rest !== null) this.#speaking.speak(rest);
    this.#speaking.keepAll();
  }

  /** No more text. What was flushed is spoken to its end, the rest is not, unless `speaksOn`. Then `over` runs. */
  close(speaksOn: boolean, over: () => void): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    if (speaksOn) this.#flush();
    else {
      this.#buffer.clear();
      this.#speaking.cancelUnflushed();
    }
    this.#speaking.whenDone(() => this.#timetable.after(this.#options.latencies.finalMs, over));
  }

  /** The socket ends: nothing more is spoken. */
  silence(): void {
    this.#isClosing = true;
    this.#speaking.cancelAll();
  }
}
