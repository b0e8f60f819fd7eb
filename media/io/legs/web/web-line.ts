/**
 * The socket that a web session has at the moment, or none: sends on it what the session says and plays, and watches
 * how well the browser reads. `web-leg.ts` owns one, gives it each new socket, and decides what a lost one means.
 * `sound` is on the frame path.
 */
import type { LiveErrorCode } from '../../../contract/live-session.ts';
import type { MediaSocket } from '../../socket-server/media-socket-server.ts';
import { refuse } from './refusal.ts';

/** A reader for whom this much waits gets no more sound; with this much it is to be cut. */
const SLOW_BYTES = 256 * 1024;
const TOO_SLOW_BYTES = 1024 * 1024;
/** Room for the longest message of sound, 20 ms of PCM at 48 kHz, and more. */
const SOUND_BYTES = 4096;

export class WebLine {
  sendsDropped = 0;
  #socket: MediaSocket<unknown> | null = null;
  #heardAtMs = 0;
  #isSlow = false;
  #room: Uint8Array = new Uint8Array(0);

  get isUp(): boolean {
    return this.#socket !== null;
  }

  has(socket: MediaSocket<unknown>): boolean {
    return this.#socket === socket;
  }

  /** The socket is the line from now on. The one before must have left. */
  open(socket: MediaSocket<unknown>, nowMs: number): void {
    this.#socket = socket;
    this.#heardAtMs = nowMs;
    this.#isSlow = false;
  }

  /** Nothing is sent any more. The socket, if there was one, is the caller's to close. */
  release(): MediaSocket<unknown> | null {
    const socket = this.#socket;
    this.#socket = null;
    return socket;
  }

  /** Leaves the socket, having told it why. */
  refuse(code: LiveErrorCode): void {
    const socket = this.release();
    if (socket !== null) refuse(socket, code);
  }

  /** The browser has sent something. */
  heard(nowMs: number): void {
    this.#heardAtMs = nowMs;
  }

  /** Since the browser was heard last. */
  silentMs(nowMs: number): number {
    return nowMs - this.#heardAtMs;
  }

  get isTooSlow(): boolean {
    return this.#socket !== null && this.#socket.bufferedBytes > TOO_SLOW_BYTES;
  }

  /** Once a service. True when the browser has fallen behind just now. */
  fellBehind(): boolean {
    if (this.#socket === null) return false;
    const wasSlow = this.#isSlow;
    this.#isSlow = this.#socket.bufferedBytes > (wasSlow ? SLOW_BYTES / 4 : SLOW_BYTES);
    return this.#isSlow && !wasSlow;
  }

  text(text: string): void {
    if (this.#socket === null) return;
    if (this.#socket.send(Buffer.from(text, 'utf8'), false) === 'dropped') this.sendsDropped++;
  }

  /** False: the browser is away, or reads too slowly for it. */
  sound(bytes: Uint8Array, start: number, lengthBytes: number): boolean {
    if (this.#isSlow || this.#socket === null) return false;
    // The socket copies; a view over shared memory is what neither library takes.
    const message = this.#roomFor(lengthBytes);
    for (let i = 0; i < lengthBytes; i++) message[i] = bytes[start + i]!;
    if (this.#socket.send(message, true) === 'dropped') this.sendsDropped++;
    return true;
  }

  /** Opus packets differ in length: a view of one room, made anew only when the length changes. */
  #roomFor(lengthBytes: number): Uint8Array {
    if (this.#room.length !== lengthBytes) {
      if (this.#room.buffer.byteLength < lengthBytes) this.#room = new Uint8Array(new ArrayBuffer(SOUND_BYTES));
      this.#room = new Uint8Array(this.#room.buffer, 0, lengthBytes);
    }
    return this.#room;
  }
}
