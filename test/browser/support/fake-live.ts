/**
 * A small service for browser tests: the real routes of `embed.js`, and a `/ws/live` that speaks docs/live-protocol.md
 * with a tone for a voice. Tests say what it answers and when its line breaks; the conversation itself is tested
 * against the real service.
 */
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { type WebSocket, WebSocketServer } from 'ws';
import { loadOpusCodec } from '../../../media/audio/opus-codec.ts';
import { registerWidget } from '../../../src/api/widget/widget-routes.ts';
import { PLAIN_LOOK, shownLook, type WidgetLook } from '../../../src/embed/widget-looks.ts';
import type { Queryable } from '../../../src/store/database.ts';
import { eventually } from '../../support/eventually.ts';

type Message = Record<string, unknown> & { type: string };

export interface FakeSession {
  callUuid: string;
  origin: string;
  start: Message;
  received: Message[];
  /** Of the microphone, since the session began. */
  packets: Buffer[];
  /** When each of them came. */
  cameAtEpochMs: number[];
  /** When the first sound of the last utterance was sent. */
  saidAtEpochMs: number;
  resumes: number;
  /** Of the sockets that it had. */
  closeCodes: number[];
  codec: { input: string; output: string };
  send(message: object): void;
  /**
   * An utterance of a tone, at most 200 ms ahead of real time; it cuts the one before. Resolves when all was sent, or
   * it was cut.
   */
  say(durationMs: number): Promise<string>;
  /** Barge-in: what is being said ends. Returns the epoch ms of the decision. */
  clear(): number;
  /** `session.ended`, and the socket's close so much later. */
  end(reason: string, closeAfterMs?: number): void;
  /** As a network would: no close frame. */
  cut(): void;
}

export interface FakeLive {
  url: string;
  sessions: FakeSession[];
  /** Answers of POST /api/embed/session that are not 200, oldest first; then tokens again. */
  refusals: { status: number; code: string }[];
  tokens: number;
  /** Milliseconds of the greeting; 0: none. */
  greetingMs: number;
  /** What it answers in `session.ready`; default: the first of each list. */
  offers: { input: string[]; output: string[] };
  /** No answer to an upgrade while true. */
  refuseSockets: boolean;
  /** Closes the next socket right after the upgrade with these. */
  closeNext: { code: string; close: number } | null;
  /** Of every widget key. */
  framedBy: string[];
  look: WidgetLook;
  waitFor: typeof eventually;
  /** Resolves when this number has not changed for 300 ms. */
  waitForRest(what: string, of: () => number): Promise<void>;
  close(): Promise<void>;
}

const FRAME_MS = 20;
const LEAD_MS = 200;
const REST_MS = 300;

export async function startFakeLive(): Promise<FakeLive> {
  const app = Fastify({ forceCloseConnections: true });
  app.setValidatorCompiler(validatorCompiler);
  const opus = loadOpusCodec();
  const sockets = new WebSocketServer({ noServer: true });
  const known = new Map<string, FakeSession & { attach(socket: WebSocket): void }>();
  let issued = 0;

  const fake: FakeLive = {
    url: '',
    sessions: [],
    refusals: [],
    tokens: 0,
    greetingMs: 600,
    offers: { input: ['opus', 'pcm_s16le'], output: ['opus', 'pcm_s16le'] },
    refuseSockets: false,
    closeNext: null,
    framedBy: [],
    look: PLAIN_LOOK,
    waitFor: eventually,
    async waitForRest(what, of) {
      let [known, sinceMs] = [of(), Date.now()];
      await fake.waitFor(`${what} to rest`, () => {
        if (of() !== known) [known, sinceMs] = [of(), Date.now()];
        return Date.now() - sinceMs > REST_MS;
      });
    },
    async close() {
      for (const client of sockets.clients) client.terminate();
      await app.close();
    },
  };

  app.addHook('onRequest', async (request, reply) => {
    if (request.url !== '/api/embed/session') return;
    reply.headers({
      'access-control-allow-origin': request.headers.origin ?? '*',
      'access-control-allow-headers': 'content-type',
      'access-control-expose-headers': 'X-Error-Code',
    });
  });
  app.options('/api/embed/session', async (_request, reply) => reply.code(204).send());
  app.post('/api/embed/session', async (_request, reply) => {
    const refusal = fake.refusals.shift();
    if (refusal !== undefined) {
      return reply.code(refusal.status).header('x-error-code', refusal.code).send({ success: false, message: 'No' });
    }
    fake.tokens++;
    return { token: `first-${++issued}` };
  });
  app.get('/embed/looks/:publicKey', async (_request, reply) => {
    reply.headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-store' });
    return shownLook(fake.look);
  });
  app.get('/livez', async () => ({ status: 'ok' }));

  function createSession(origin: string): FakeSession & { attach(socket: WebSocket): void } {
    let socket: WebSocket;
    let utterances = 0;
    let saying: { id: string; isCut: boolean } | null = null;
    let ordinal = 0;
    const format = (side: 'input' | 'output'): { codec: string; sampleRate: number; frameMs: number } => {
      const wanted = [(session.start['audio'] as Record<string, unknown>)?.[side]].flat() as {
        codec: string;
        sampleRate: number;
      }[];
      const found = wanted.find((one) => fake.offers[side].includes(one.codec)) ?? wanted[0]!;
      return { codec: found.codec, sampleRate: found.sampleRate, frameMs: FRAME_MS };
    };
    const session: FakeSession & { attach(socket: WebSocket): void } = {
      callUuid: `call-${known.size + 1}`,
      origin,
      start: { type: '' },
      received: [],
      packets: [],
      cameAtEpochMs: [],
      saidAtEpochMs: 0,
      resumes: -1,
      closeCodes: [],
      codec: { input: '', output: '' },
      send: (message) => socket.readyState === socket.OPEN && socket.send(JSON.stringify(message)),
      async say(durationMs) {
        const mine = { id: `u${++utterances}`, isCut: false };
        // Who comes back is greeted anew, and hears one voice at a time.
        if (saying !== null) saying.isCut = true;
        saying = mine;
        const { codec, sampleRate } = format('output');
        session.send({ type: 'agent.audio', phase: 'start', utteranceId: mine.id, turnId: `t${utterances}` });
        session.send({
          type: 'transcript',
          role: 'agent',
          turnId: `t${utterances}`,
          ordinal: ++ordinal,
          delta: `Utterance ${utterances}.`,
          final: false,
        });
        const encoder =
          codec === 'opus'
            ? opus.createEncoder({ rateHz: 48_000, channels: 1, bitsPerSec: 32_000, complexity: 3 })
            : null;
        const samples = new Int16Array((sampleRate * FRAME_MS) / 1000);
        const packet = new Uint8Array(4000);
        const beganAtMs = Date.now();
        for (let atMs = 0; atMs < durationMs && !mine.isCut && socket.readyState < socket.CLOSED; atMs += FRAME_MS) {
          for (let i = 0; i < samples.length; i++) {
            samples[i] = 9000 * Math.sin((2 * Math.PI * 440 * ((atMs * sampleRate) / 1000 + i)) / sampleRate);
          }
          const bytes =
            encoder === null
              ? Buffer.from(samples.buffer.slice(0))
              : Buffer.from(packet.slice(0, encoder.encode(samples, packet, 0)));
          if (atMs === 0) session.saidAtEpochMs = performance.timeOrigin + performance.now();
          if (socket.readyState === socket.OPEN) socket.send(bytes);
          const aheadMs = atMs - (Date.now() - beganAtMs);
          if (aheadMs > LEAD_MS) await new Promise((done) => setTimeout(done, aheadMs - LEAD_MS));
        }
        encoder?.close();
        if (!mine.isCut)
          session.send({
            type: 'agent.audio',
            phase: 'end',
            utteranceId: mine.id,
            turnId: `t${utterances}`,
            audioMs: durationMs,
          });
        return mine.id;
      },
      clear() {
        if (saying !== null) saying.isCut = true;
        const decidedAtEpochMs = Date.now();
        session.send({ type: 'playback.clear', utteranceId: saying?.id ?? 'u0', reason: 'barge_in' });
        return decidedAtEpochMs;
      },
      end(reason, closeAfterMs = 0) {
        session.send({
          type: 'session.ended',
          reason,
          callUuid: session.callUuid,
          durationMs: 1000,
          drainMs: 0,
          ordinal: ++ordinal,
        });
        if (closeAfterMs === 0) socket.close(1000);
        else setTimeout(() => socket.close(1000), closeAfterMs);
      },
      cut: () => socket.terminate(),
      attach(next) {
        const old = socket as WebSocket | undefined;
        socket = next;
        old?.close(4409);
        session.resumes++;
        next.on('close', (code) => session.closeCodes.push(code));
        next.on('message', (data: Buffer, isBinary: boolean) => {
          if (isBinary) {
            session.packets.push(data);
            session.cameAtEpochMs.push(performance.timeOrigin + performance.now());
            return;
          }
          const message = JSON.parse(data.toString()) as Message;
          session.received.push(message);
          if (message.type === 'ping') session.send({ type: 'pong', id: message['id'], serverTime: Date.now() });
          if (message.type === 'session.end') session.end(String(message['reason'] ?? 'user_hangup'));
          if (message.type !== 'session.start' && message.type !== 'session.resume') return;
          session.start = message;
          const resumeToken = `resume-${known.size}-${session.resumes}`;
          known.set(resumeToken, session);
          const audio = { input: format('input'), output: format('output') };
          session.codec = { input: audio.input.codec, output: audio.output.codec };
          session.send({
            type: 'session.ready',
            callUuid: session.callUuid,
            sessionId: 's',
            resumeToken,
            resumeWindowMs: 30_000,
            resumed: session.resumes > 0,
            audio,
            limits: { maxSessionSeconds: 900, pingIntervalMs: 5_000 },
          });
          session.send({ type: 'status', status: 'connected' });
          if (fake.greetingMs > 0) void session.say(fake.greetingMs);
        });
        session.send({ type: 'welcome', protocol: '1', requestId: 'r', serverTime: Date.now() });
      },
    };
    return session;
  }

  const database = { query: async () => [{ allowedOrigins: fake.framedBy }] } as unknown as Queryable;
  registerWidget(app, { publicUrl: 'http://127.0.0.1', database });
  await app.listen({ host: '127.0.0.1', port: 0 });
  fake.url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  app.server.on('upgrade', (request, socket, head) => {
    if (fake.refuseSockets) {
      socket.destroy();
      return;
    }
    const query = new URL(request.url ?? '', 'http://x').searchParams;
    sockets.handleUpgrade(request, socket, head, (client) => {
      const refused = fake.closeNext;
      if (refused !== null) {
        fake.closeNext = null;
        client.send(JSON.stringify({ type: 'error', code: refused.code, message: 'No', fatal: true }));
        client.close(refused.close);
        return;
      }
      const token = query.get('token') ?? '';
      let session = known.get(token);
      if (session === undefined) {
        session = createSession(query.get('parentOrigin') ?? '');
        known.set(token, session);
        fake.sessions.push(session);
      }
      session.attach(client);
    });
  });
  return fake;
}
