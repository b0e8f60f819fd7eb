/**
 * A stranger's voice bot on Twilio Media Streams, as people write it from the carrier's documents: beeps hello, beeps
 * back when the caller has finished, and stops when it is interrupted. Uses `ws` and nothing of Parley.
 */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { CarrierMessage } from './carrier-message.ts';

const SILENT = 0xff;

/** A square wave, as mu-law in base64. */
const beep = (ms: number): string =>
  Buffer.from(Array.from({ length: ms * 8 }, (_, i) => (i % 16 < 8 ? 0x90 : 0x10))).toString('base64');

export interface TwilioBot {
  url: string;
  upgrades: IncomingHttpHeaders[];
  /** All that the carrier said, by stream. */
  streams: CarrierMessage[][];
  close(): Promise<void>;
}

/** With a token it takes signed upgrades only. `beepMs`: of what it says. */
export async function startTwilioBot(authToken: string | null, beepMs = 300): Promise<TwilioBot> {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  const upgrades: IncomingHttpHeaders[] = [];
  const streams: CarrierMessage[][] = [];
  server.on('upgrade', (request, socket, head) => {
    upgrades.push(request.headers);
    const url = `ws://${request.headers.host}${request.url}`;
    const expected = authToken === null ? null : createHmac('sha1', authToken).update(url).digest('base64');
    if (expected !== null && request.headers['x-twilio-signature'] !== expected)
      return void socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    sockets.handleUpgrade(request, socket, head, (open) => {
      const heard: CarrierMessage[] = [];
      streams.push(heard);
      let streamSid = '';
      let quietFrames = -1;
      let isPlaying = false;
      const say = (message: object): void => open.send(JSON.stringify({ ...message, streamSid }));
      const speak = (name: string): void => {
        isPlaying = true;
        say({ event: 'media', media: { payload: beep(beepMs) } });
        say({ event: 'mark', mark: { name } });
      };
      open.on('message', (text) => {
        const message: CarrierMessage = JSON.parse(String(text));
        heard.push(message);
        if (message.event === 'mark') isPlaying = false;
        if (message.event === 'start') {
          streamSid = message.start.streamSid;
          speak('hello');
        }
        if (message.event !== 'media') return;
        const isQuiet = Buffer.from(message.media.payload, 'base64').every((byte) => byte === SILENT);
        if (!isQuiet && isPlaying) say({ event: 'clear' });
        if (!isQuiet) quietFrames = 0;
        else if (quietFrames >= 0 && ++quietFrames === 10) {
          quietFrames = -1;
          speak(`reply ${heard.length}`);
        }
      });
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/media/abc`,
    upgrades,
    streams,
    close: () =>
      new Promise((closed) => {
        for (const socket of sockets.clients) socket.terminate();
        server.close(() => closed());
      }),
  };
}
