/**
 * `stream-input` of the emulated ElevenLabs: one text, in pieces, on a socket of its own. An empty text ends it, one of
 * a space keeps it open.
 */
import { Inactivity } from '../inactivity.ts';
import type { SocketExchange } from '../provider.ts';
import { type ApiError, closeWithError } from './api-error.ts';
import { type ClientMessage, readClientMessage } from './client-message.ts';
import { Context, SETTINGS_CHANGED } from './context.ts';
import { inactivityError } from './inactivity-error.ts';
import type { SocketOptions } from './socket-options.ts';
import type { SocketParameters } from './socket-parameters.ts';

const NORMAL = 1000;

export class SingleStream {
  readonly #socket: SocketExchange;
  readonly #parameters: SocketParameters;
  readonly #options: SocketOptions;
  readonly #voiceName: string;
  readonly #inactivity: Inactivity;
  #context: Context | null = null;

  constructor(socket: SocketExchange, parameters: SocketParameters, options: SocketOptions, voiceName: string) {
    this.#socket = socket;
    this.#parameters = parameters;
    this.#options = options;
    this.#voiceName = voiceName;
    this.#inactivity = new Inactivity(socket.timetable, parameters.inactivityMs, () =>
      this.#refuse(inactivityError(parameters.inactivityMs)),
    );
    socket.onMessage((message) => this.take(message));
  }

  take(message: string | Buffer): void {
    if (this.#context?.isClosing === true) return;
    this.#inactivity.alive();
    let read: ClientMessage;
    try {
      read = readClientMessage(message);
    } catch (error) {
      this.#refuse({ error: 'invalid_message', message: (error as Error).message });
      return;
    }
    this.#context ??= new Context(this.#socket, this.#parameters, this.#options, this.#voiceName, read, {
      chunk: ({ audio, alignment, normalizedAlignment }) =>
        this.#socket.send({ audio: audio.toString('base64'), isFinal: null, normalizedAlignment, alignment }),
      failed: (error) => this.#refuse(error),
    });
    if (!this.#context.keepsSettings(read)) this.#refuse(SETTINGS_CHANGED);
    else if (read.text === '' && !read.flush) this.#end(this.#context);
    else this.#context.take(read);
  }

  #end(context: Context): void {
    this.#inactivity.stop();
    context.close(true, () => {
      this.#socket.send({ audio: null, isFinal: true, normalizedAlignment: null, alignment: null });
      const { closeAfterMs } = this.#options.latencies;
      this.#socket.timetable.apart().after(closeAfterMs, () => this.#socket.close(NORMAL, ''));
    });
  }

  #refuse(error: ApiError): void {
    this.#inactivity.stop();
    this.#context?.silence();
    closeWithError(this.#socket, error, this.#options.latencies.closeAfterMs);
  }
}
