/**
 * A carrier's end of a media socket, as cheap as Node allows, for the load generator: a raw TCP socket, frames masked with a
 * zero key (RFC 6455 §5.3 allows any), one preassembled message whose counters are overwritten in place. Plivo's wire format.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';

export interface FarEnd {
  /** Called for each message from the gateway with its arrival (ms, monotonic) and its payload bytes (whole message). */
  onMessage(payload: Buffer, arrivedAtMs: number): void;
  onClose(): void;
}

const OPCODE_TEXT = 0x1;
const OPCODE_CLOSE = 0x8;
const OPCODE_PING = 0x9;
const COUNTER_DIGITS = 9;

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
  readonly #media: Buffer;
  readonly #counterAt: number[];
  #pending: Buffer = Buffer.alloc(0);
  #isOpen = false;
  #sequence = 1;
  #opened: { resolve(): void; reject(error: Error): void } | null = null;

  /** `url` is `ws://host:port/path`; `payload` one 20 ms frame in base64, repeated for ever. */
  constructor(url: string, callId: string, payload: string, farEnd: FarEnd) {
    const { hostname, port, pathname, host } = new URL(url);
    this.callId = callId;
    this.#farEnd = farEnd;
    const blank = '0'.repeat(COUNTER_DIGITS);
    // Counters with leading zeros are no JSON numbers, so the digits stand in strings, as some carriers send them.
    const text = `{"event":"media","sequenceNumber":"${blank}","streamId":"${callId}","media":{"track":"inbound","timestamp":"${blank}","chunk":"${blank}","payload":"${payload}"},"extra_headers":""}`;
    const { frame, textStart } = clientFrame(text);
    this.#media = frame;
    this.#counterAt = [...text.matchAll(/"0{9}"/g)].map((match) => textStart + match.index + 1);
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.once('connect', () => {
      const key = randomBytes(16).toString('base64');
      this.#socket.write(
        `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
      );
    });
    this.#socket.on('data', (data: Buffer) => this.#received(data));
    this.#socket.on('error', (error) => this.#opened?.reject(error));
    this.#socket.on('close', () => {
      this.#isOpen = false;
      this.#opened?.reject(new Error('closed during the handshake'));
      farEnd.onClose();
    });
  }

  opened(): Promise<void> {
    if (this.#isOpen) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#opened = { resolve, reject };
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

  /** One frame of audio; `atMs` is the stream's time. */
  sendFrame(atMs: number): void {
    if (!this.#isOpen) return;
    const [sequenceAt, timestampAt, chunkAt] = this.#counterAt as [number, number, number];
    this.#writeDigits(sequenceAt, this.#sequence);
    this.#writeDigits(timestampAt, atMs);
    this.#writeDigits(chunkAt, this.#sequence);
    this.#sequence++;
    // A copy, because the socket may still hold the last one when the kernel's buffer is full.
    this.#socket.write(Buffer.from(this.#media));
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

  #received(data: Buffer): void {
    const arrivedAtMs = performance.now();
    this.#pending = this.#pending.length === 0 ? data : Buffer.concat([this.#pending, data]);
    if (!this.#isOpen) {
      const end = this.#pending.indexOf('\r\n\r\n');
      if (end < 0) return;
      const status = this.#pending.toString('latin1', 0, 12);
      this.#pending = this.#pending.subarray(end + 4);
      if (status !== 'HTTP/1.1 101') {
        this.#opened?.reject(new Error(`the gateway answered ${status}`));
        return;
      }
      this.#isOpen = true;
      this.#opened?.resolve();
      this.#opened = null;
    }
    let at = 0;
    while (this.#pending.length - at >= 2) {
      const opcode = this.#pending[at]! & 0x0f;
      const short = this.#pending[at + 1]! & 0x7f;
      const headerBytes = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (this.#pending.length - at < headerBytes) break;
      const length =
        short === 126 ? this.#pending.readUInt16BE(at + 2) : short === 127 ? this.#pending.readUInt32BE(at + 6) : short;
      const start = at + headerBytes;
      if (this.#pending.length - start < length) break;
      const payload = this.#pending.subarray(start, start + length);
      if (opcode === OPCODE_TEXT) this.#farEnd.onMessage(payload, arrivedAtMs);
      else if (opcode === OPCODE_PING) this.#socket.write(clientFrame(payload.toString('latin1'), 0xa).frame);
      else if (opcode === OPCODE_CLOSE) this.#socket.end();
      at = start + length;
    }
    this.#pending = this.#pending.subarray(at);
  }
}
