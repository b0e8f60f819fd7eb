/**
 * A carrier's end of a media socket, as cheap as Node allows, for the load generator: a raw TCP socket, frames masked
 * with a zero key (RFC 6455 §5.3 allows any), one preassembled message whose counters are overwritten in place, and one
 * read buffer for all sockets. Plivo's wire format.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely, type SecureContext } from 'node:tls';

export interface FarEnd {
  /** The handshake is done. */
  onOpen(): void;
  /**
   * Called for each message from the gateway with its arrival (ms, monotonic): `bytes[start, end)` is its text, void
   * after the call.
   */
  onMessage(bytes: Buffer, start: number, end: number, arrivedAtMs: number): void;
  onClose(why: string): void;
}

const OPCODE_TEXT = 0x1;
const OPCODE_CLOSE = 0x8;
const OPCODE_PING = 0x9;
const OPCODE_PONG = 0xa;
const COUNTER_DIGITS = 9;
const READ_BYTES = 64 * 1024;
/** Filled and read within one callback, so all sockets share it. */
const readBuffer = Buffer.alloc(READ_BYTES);

/** A masked (zero key) final frame around `text`; returns the frame and the offset of the text in it. */
function clientFrame(text: string, opcode = OPCODE_TEXT): { frame: Buffer; textStart: number } {
  const payload = Buffer.from(text, 'latin1');
  const header =
    payload.length < 126
      ? Buffer.from([0x80 | opcode, 0x80 | payload.length])
      : Buffer.from([0x80 | opcode, 0x80 | 126, payload.length >> 8, payload.length & 0xff]);
  return { frame: Buffer.concat([header, Buffer.alloc(4), payload]), textStart: header.length + 4 };
}

export class MediaSocketClient {
  readonly callId: string;
  readonly #socket: Socket;
  readonly #farEnd: FarEnd;
  #media: Buffer;
  readonly #counterAt: number[];
  readonly #payloadAt: number;
  #pending: Buffer | null = null;
  #isOpen = false;
  #sequence = 1;
  #why = '';

  /**
   * `url` is `ws://host:port/path`; `payload` one 20 ms frame in base64, repeated for ever; `tls`: whom to trust of
   * `wss://`, null else. Dials at once.
   */
  constructor(url: string, callId: string, payload: string, farEnd: FarEnd, tls: SecureContext | null = null) {
    const { hostname, port, pathname, host } = new URL(url);
    this.callId = callId;
    this.#farEnd = farEnd;
    const blank = '0'.repeat(COUNTER_DIGITS);
    // Counters with leading zeros are no JSON numbers, so the digits stand in strings, as some carriers send them.
    const text = `{"event":"media","sequenceNumber":"${blank}","streamId":"${callId}","media":{"track":"inbound","timestamp":"${blank}","chunk":"${blank}","payload":"${payload}"},"extra_headers":""}`;
    const { frame, textStart } = clientFrame(text);
    this.#media = frame;
    this.#counterAt = [...text.matchAll(/"0{9}"/g)].map((match) => textStart + match.index + 1);
    this.#payloadAt = textStart + text.indexOf('"payload":"') + '"payload":"'.length;
    const onread = {
      buffer: readBuffer,
      callback: (lengthBytes: number, buffer: Uint8Array) => {
        this.#received(buffer as Buffer, lengthBytes);
        return true;
      },
    };
    const to = { host: hostname, port: Number(port), noDelay: true, onread };
    this.#socket = tls === null ? connect(to) : connectSecurely({ ...to, secureContext: tls });
    this.#socket.once(tls === null ? 'connect' : 'secureConnect', () => {
      const key = randomBytes(16).toString('base64');
      this.#socket.write(
        `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
      );
    });
    this.#socket.on('error', (error) => {
      this.#why = error.message;
    });
    this.#socket.on('close', () => {
      this.#isOpen = false;
      farEnd.onClose(this.#why);
    });
  }

  /** The carrier's first message. */
  start(): void {
    const start = {
      event: 'start',
      sequenceNumber: 0,
      start: {
        callId: this.callId,
        streamId: randomUUID(),
        accountId: 'MALOADTEST',
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000 },
      },
      extra_headers: '',
    };
    this.#socket.write(clientFrame(JSON.stringify(start)).frame);
  }

  /**
   * One frame of audio; `atMs` is the stream's time. `payload`: from now on this sound, in base64 of the length that
   * the first one has.
   */
  sendFrame(atMs: number, payload?: Uint8Array): void {
    if (!this.#isOpen) return;
    // The kernel did not take the last one: the socket still holds our buffer.
    if (this.#socket.writableLength > 0) this.#media = Buffer.from(this.#media);
    if (payload !== undefined) this.#media.set(payload, this.#payloadAt);
    this.#writeDigits(this.#counterAt[0]!, this.#sequence);
    this.#writeDigits(this.#counterAt[1]!, atMs);
    this.#writeDigits(this.#counterAt[2]!, this.#sequence);
    this.#sequence++;
    this.#socket.write(this.#media);
  }

  /** An event that is no audio, as JSON. */
  sendEvent(event: object): void {
    if (this.#isOpen) this.#socket.write(clientFrame(JSON.stringify(event)).frame);
  }

  close(): void {
    this.#socket.destroy();
  }

  #writeDigits(at: number, value: number): void {
    let rest = Math.round(value);
    for (let i = COUNTER_DIGITS - 1; i >= 0; i--) {
      this.#media[at + i] = 48 + (rest % 10);
      rest = Math.floor(rest / 10);
    }
  }

  #received(read: Buffer, readBytes: number): void {
    const arrivedAtMs = performance.now();
    let bytes = read;
    let end = readBytes;
    if (this.#pending !== null) {
      bytes = Buffer.concat([this.#pending, read.subarray(0, readBytes)]);
      end = bytes.length;
      this.#pending = null;
    }
    let at = this.#isOpen ? 0 : this.#handshake(bytes, end);
    while (this.#isOpen && end - at >= 2) {
      const short = bytes[at + 1]! & 0x7f;
      const headerBytes = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (end - at < headerBytes) break;
      const length = short === 126 ? bytes.readUInt16BE(at + 2) : short === 127 ? bytes.readUInt32BE(at + 6) : short;
      const start = at + headerBytes;
      if (end - start < length) break;
      const opcode = bytes[at]! & 0x0f;
      at = start + length;
      if (opcode === OPCODE_TEXT) this.#farEnd.onMessage(bytes, start, at, arrivedAtMs);
      else if (opcode === OPCODE_PING)
        this.#socket.write(clientFrame(bytes.toString('latin1', start, at), OPCODE_PONG).frame);
      else if (opcode === OPCODE_CLOSE) this.#closedBy(bytes, start, at);
    }
    if (at < end) this.#pending = Buffer.from(bytes.subarray(at, end));
  }

  /** Where the first frame begins; 0 while the answer is not whole. */
  #handshake(bytes: Buffer, end: number): number {
    const headEnd = bytes.subarray(0, end).indexOf('\r\n\r\n');
    if (headEnd < 0) return 0;
    const status = bytes.toString('latin1', 0, 12);
    if (status === 'HTTP/1.1 101') {
      this.#isOpen = true;
      this.#farEnd.onOpen();
      return headEnd + 4;
    }
    this.#why = `the gateway answered ${status}`;
    this.#socket.destroy();
    return end;
  }

  #closedBy(bytes: Buffer, start: number, end: number): void {
    this.#why =
      end - start >= 2 ? `close ${bytes.readUInt16BE(start)} ${bytes.toString('utf8', start + 2, end)}` : 'close';
    this.#socket.end();
  }
}
