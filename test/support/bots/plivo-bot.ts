/**
 * A stranger's voice bot on Plivo audio streams: serves the answer XML, checks signatures with the carrier's own
 * package, says hello in frames of 20 ms, echoes what it hears and clears when told nothing new. Uses `ws` and
 * `plivo`, nothing of Parley.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { validateV3Signature } from 'plivo';
import { WebSocketServer } from 'ws';
import type { CarrierMessage } from './carrier-message.ts';

const SILENT = 0xff;
const HELLO = Buffer.from(Array.from({ length: 160 }, (_, i) => (i % 16 < 8 ? 0x90 : 0x10))).toString('base64');

export interface PlivoBot {
  answerUrl: string;
  /** Fields of each request for the document, and whether the package found it signed. */
  answers: { fields: Record<string, string>; isSigned: boolean }[];
  upgrades: { isSigned: boolean }[];
  streams: CarrierMessage[][];
  close(): Promise<void>;
}

export async function startPlivoBot(authToken: string): Promise<PlivoBot> {
  const answers: PlivoBot['answers'] = [];
  const upgrades: PlivoBot['upgrades'] = [];
  const streams: CarrierMessage[][] = [];
  const isSigned = (method: string, url: string, headers: IncomingHttpHeaders, fields: object): boolean =>
    validateV3Signature(
      method,
      url,
      String(headers['x-plivo-signature-v3-nonce']),
      authToken,
      String(headers['x-plivo-signature-v3']),
      fields as never,
    ) === true;
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const fields = Object.fromEntries(new URLSearchParams(body));
      const url = `http://${request.headers.host}${request.url}`;
      answers.push({ fields, isSigned: isSigned('POST', url, request.headers, fields) });
      const stream = `ws://${request.headers.host}/stream?call=${fields['CallUUID']}&amp;from=xml`;
      response.setHeader('content-type', 'application/xml');
      response.end(
        `<Response><Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000" extraHeaders="shop=7">${stream}</Stream></Response>`,
      );
    });
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    // As the carrier's package for streams does: the https form of the address.
    const url = `http://${request.headers.host}${request.url}`;
    upgrades.push({ isSigned: isSigned('GET', url, request.headers, {}) });
    sockets.handleUpgrade(request, socket, head, (open) => {
      const heard: CarrierMessage[] = [];
      streams.push(heard);
      let streamId = '';
      const play = (payload: string): void =>
        open.send(
          JSON.stringify({ event: 'playAudio', media: { contentType: 'audio/x-mulaw', sampleRate: 8000, payload } }),
        );
      open.on('message', (text) => {
        const message: CarrierMessage = JSON.parse(String(text));
        heard.push(message);
        if (message.event === 'start') {
          streamId = message.start.streamId;
          for (let frame = 0; frame < 15; frame++) play(HELLO);
          open.send(JSON.stringify({ event: 'checkpoint', streamId, name: 'hello' }));
        }
        if (message.event === 'playedStream') open.send(JSON.stringify({ event: 'clearAudio', streamId }));
        if (message.event !== 'media') return;
        const sound = Buffer.from(message.media.payload, 'base64');
        if (sound.some((byte) => byte !== SILENT)) play(message.media.payload);
      });
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    answerUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/answer`,
    answers,
    upgrades,
    streams,
    close: () =>
      new Promise((closed) => {
        for (const socket of sockets.clients) socket.terminate();
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}
