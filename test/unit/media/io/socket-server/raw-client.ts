/** A WebSocket client in bytes, so that a test can send what no library would. Loopback only. */
import { connect, type Socket } from 'node:net';
import { PATIENCE_MS } from '../../../../../bench/harness/patience.ts';

export interface Frame {
  fin: boolean;
  opcode: number;
  payload: Buffer;
}

export const TEXT = 1;
export const BINARY = 2;
export const CLOSE = 8;
export const PING = 9;
export const PONG = 10;

/** One masked client frame. `opcode` 0 continues a message; `lieBytes` announces another length than is sent. */
export function frame(
  opcode: number,
  payload: Uint8Array | string,
  options: { fin?: boolean; masked?: boolean; lieBytes?: number } = {},
): Buffer {
  const body = Buffer.from(payload);
  const announced = options.lieBytes ?? body.length;
  const masked = options.masked ?? true;
  const head: number[] = [((options.fin ?? true) ? 0x80 : 0) | opcode];
  const maskBit = masked ? 0x80 : 0;
  if (announced < 126) head.push(maskBit | announced);
  else if (announced < 65536) head.push(maskBit | 126, announced >> 8, announced & 255);
  else {
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(announced));
    head.push(maskBit | 127, ...length);
  }
  if (!masked) return Buffer.concat([Buffer.from(head), body]);
  const mask = Buffer.from([1, 2, 3, 4]);
  return Buffer.concat([Buffer.from(head), mask, body.map((byte, i) => byte ^ mask[i & 3]!)]);
}

export class RawClient {
  readonly socket: Socket;
  readonly frames: Frame[] = [];
  httpHead = '';
  isClosed = false;
  #bytes: Buffer = Buffer.alloc(0);
  readonly #waiting = new Set<() => void>();

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1' });
    this.socket.setNoDelay(true);
    this.socket.on('data', (data) => {
      this.#bytes = Buffer.concat([this.#bytes, data]);
      this.#parse();
      this.#wake();
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.isClosed = true;
      this.#wake();
    });
  }

  get httpStatus(): number {
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.httpHead)?.[1] ?? 0);
  }

  requestUpgrade(path: string, headers: Record<string, string> = {}): void {
    const extra = Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    this.socket.write(
      `GET ${path} HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${extra}\r\n`,
    );
  }

  async open(path: string, headers: Record<string, string> = {}): Promise<this> {
    this.requestUpgrade(path, headers);
    await this.until(() => this.httpHead !== '', 'the answer to the upgrade');
    if (this.httpStatus !== 101) throw new Error(`upgrade answered ${this.httpStatus}`);
    return this;
  }

  send(bytes: Uint8Array): void {
    if (!this.socket.destroyed) this.socket.write(bytes);
  }

  /** Code of the close frame that came; 1006 when the connection went without one. */
  async closeCode(): Promise<number> {
    await this.until(() => this.isClosed || this.frames.some((one) => one.opcode === CLOSE), 'the close');
    const closing = this.frames.find((one) => one.opcode === CLOSE);
    return closing === undefined ? 1006 : closing.payload.length >= 2 ? closing.payload.readUInt16BE(0) : 1005;
  }

  async next(opcode: number): Promise<Frame> {
    await this.until(() => this.frames.some((one) => one.opcode === opcode), `a frame of opcode ${opcode}`);
    const at = this.frames.findIndex((one) => one.opcode === opcode);
    return this.frames.splice(at, 1)[0]!;
  }

  until(condition: () => boolean, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        if (!condition()) return;
        this.#waiting.delete(check);
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(check);
        reject(new Error(`waited ${PATIENCE_MS / 1000} s for ${what}`));
      }, PATIENCE_MS);
      this.#waiting.add(check);
      check();
    });
  }

  destroy(): void {
    this.socket.destroy();
  }

  #wake(): void {
    for (const check of [...this.#waiting]) check();
  }

  #parse(): void {
    if (this.httpHead === '') {
      const end = this.#bytes.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.httpHead = this.#bytes.subarray(0, end).toString('latin1');
      this.#bytes = this.#bytes.subarray(end + 4);
    }
    if (this.httpStatus !== 101) return;
    for (;;) {
      if (this.#bytes.length < 2) return;
      let length = this.#bytes[1]! & 0x7f;
      let at = 2;
      if (length === 126) {
        if (this.#bytes.length < 4) return;
        length = this.#bytes.readUInt16BE(2);
        at = 4;
      } else if (length === 127) {
        if (this.#bytes.length < 10) return;
        length = Number(this.#bytes.readBigUInt64BE(2));
        at = 10;
      }
      if (this.#bytes.length < at + length) return;
      this.frames.push({
        fin: (this.#bytes[0]! & 0x80) !== 0,
        opcode: this.#bytes[0]! & 0x0f,
        payload: Buffer.from(this.#bytes.subarray(at, at + length)),
      });
      this.#bytes = this.#bytes.subarray(at + length);
    }
  }
}
