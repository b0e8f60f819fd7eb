/**
 * `multi-stream-input` of the emulated ElevenLabs: up to five contexts on a socket. A context takes its place until its
 * `isFinal` has left, also when it was closed long before; and any message of a context that is not there makes one, a
 * flush or a keepalive too. The sixth ends the socket.
 */
import { Inactivity } from '../inactivity.ts';
import type { SocketExchange } from '../provider.ts';
import { type ApiError, closeWithError } from './api-error.ts';
import { type ClientMessage, readClientMessage } from './client-message.ts';
import { Context, SETTINGS_CHANGED } from './context.ts';
import { inactivityError } from './inactivity-error.ts';
import type { SocketOptions } from './socket-options.ts';
import type { SocketParameters } from './socket-parameters.ts';

const DEFAULT_CONTEXT = 'default';
const NORMAL = 1000;

interface Entry {
  context: Context;
  inactivity: Inactivity;
}

export class MultiStream {
  readonly #socket: SocketExchange;
  readonly #parameters: SocketParameters;
  readonly #options: SocketOptions;
  readonly #voiceName: string;
  /** By id, those that take text. */
  readonly #contexts = new Map<string, Entry>();
  /** All whose `isFinal` has not left. */
  readonly #open = new Set<Context>();
  readonly #inactivity: Inactivity;
  #isEnding = false;

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
    if (this.#isEnding) return;
    this.#inactivity.alive();
    let read: ClientMessage;
    try {
      read = readClientMessage(message);
    } catch (error) {
      this.#refuse({ error: 'invalid_message', message: (error as Error).message });
      return;
    }
    if (read.closeSocket) this.#end();
    else this.#takeRead(read);
  }

  #takeRead(read: ClientMessage): void {
    // Keeps the socket, and no context.
    if (read.contextId === null && read.text === '' && !read.flush && !read.closeContext) return;
    const id = read.contextId ?? DEFAULT_CONTEXT;
    const entry = this.#contexts.get(id);
    if (read.closeContext) {
      if (entry !== undefined) this.#close(id, entry);
    } else if (entry === undefined) this.#begin(id, read);
    else if (!entry.context.keepsSettings(read)) this.#refuse(SETTINGS_CHANGED);
    else {
      entry.inactivity.alive();
      entry.context.take(read);
    }
  }

  #begin(id: string, first: ClientMessage): void {
    const { mostContexts } = this.#options;
    if (this.#open.size >= mostContexts) {
      const message =
        `Maximum simultaneous contexts per WebSocket connection exceeded (${mostContexts}). ` +
        'Please close an existing context before opening a new one.';
      this.#refuse({ error: 'max_active_conversations', message });
      return;
    }
    const context = new Context(this.#socket, this.#parameters, this.#options, this.#voiceName, first, {
      chunk: ({ audio, alignment, normalizedAlignment }) =>
        this.#socket.send({
          audio: audio.toString('base64'),
          isFinal: null,
          normalizedAlignment,
          alignment,
          contextId: id,
        }),
      failed: (error) => this.#refuse(error),
    });
    const inactivity = new Inactivity(this.#socket.timetable, this.#parameters.inactivityMs, () => {
      const entry = this.#contexts.get(id);
      if (entry?.context === context) this.#close(id, entry);
    });
    this.#open.add(context);
    this.#contexts.set(id, { context, inactivity });
    this.#socket.note('context', { contextId: id, open: this.#open.size });
    context.take(first);
  }

  #close(id: string, { context, inactivity }: Entry): void {
    // The id may be used again at once; the place is free when this one is over.
    this.#contexts.delete(id);
    inactivity.stop();
    context.close(false, () => {
      this.#open.delete(context);
      this.#socket.send({ audio: null, isFinal: true, normalizedAlignment: null, alignment: null, contextId: id });
      if (this.#isEnding && this.#open.size === 0) this.#leave();
    });
  }

  /** What was flushed is spoken, then the socket closes. */
  #end(): void {
    this.#isEnding = true;
    this.#inactivity.stop();
    for (const [id, entry] of [...this.#contexts]) this.#close(id, entry);
    if (this.#open.size === 0) this.#leave();
  }

  #leave(): void {
    const { closeAfterMs } = this.#options.latencies;
    this.#socket.timetable.apart().after(closeAfterMs, () => this.#socket.close(NORMAL, ''));
  }

  #refuse(error: ApiError): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#inactivity.stop();
    for (const { inactivity } of this.#contexts.values()) inactivity.stop();
    for (const context of this.#open) context.silence();
    closeWithError(this.#socket, error, this.#options.latencies.closeAfterMs);
  }
}
