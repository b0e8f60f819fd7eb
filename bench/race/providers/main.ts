/**
 * The providers of the race, all in one process and on one port, without TLS: recogniser, model and voice with scripted
 * answers and latencies. Forked by `../providers-process.ts`: says `ready` with its port, then answers `ProvidersOrder`
 * by IPC; ends when disconnected.
 */
import { loadUwsBinary } from '../../../media/io/socket-server/uws-server.ts';
import { LATENCIES, TOKENS } from '../conversation.ts';
import type { FromProviders, ProvidersOrder } from './orders.ts';
import { Recogniser } from './recogniser.ts';
import { Schedule, takeLatenessP99Ms } from './schedule.ts';
import { VoiceSocket } from './voice.ts';

/** What is used of its sockets and of its answers. */
interface OpenSocket {
  send(message: string, isBinary: boolean, compress: boolean): unknown;
  end(code?: number, reason?: string): void;
  getUserData(): Open;
}

interface Response {
  cork(run: () => void): unknown;
  writeStatus(status: string): Response;
  writeHeader(name: string, value: string): Response;
  write(piece: string): unknown;
  end(piece: string): unknown;
}

interface Open {
  kind: 'listen' | 'speak';
  query: URLSearchParams;
  isSingle: boolean;
  recogniser: Recogniser | null;
  voice: VoiceSocket | null;
}

const loaded = loadUwsBinary();
if (!loaded.ok) throw new Error(`the providers of the race need uWebSockets.js: ${loaded.why}`);
const { uws } = loaded;
const app = uws.App();
const say = (message: FromProviders): void => void process.send?.(message);
const sockets = new Set<OpenSocket>();
let cpu = process.cpuUsage();
let questions = 0;
/** So many questions are refused, as one who asks too often is. */
let refusals = 0;

function serveSockets(path: string, kind: Open['kind'], isSingle: boolean): void {
  app.ws<Open>(path, {
    compression: uws.DISABLED,
    maxPayloadLength: 1024 * 1024,
    idleTimeout: 0,
    upgrade(res, req, context) {
      const open: Open = { kind, isSingle, query: new URLSearchParams(req.getQuery()), recogniser: null, voice: null };
      const [key, protocol, extensions] = ['key', 'protocol', 'extensions'].map((name) =>
        req.getHeader(`sec-websocket-${name}`),
      );
      res.writeStatus('101 Switching Protocols').writeHeader('dg-request-id', 'race');
      res.upgrade(open, key!, protocol!, extensions!, context);
    },
    open(socket) {
      sockets.add(socket);
      const open = socket.getUserData();
      const { query } = open;
      let isOpen = true;
      const send = (text: string): void => {
        if (isOpen && sockets.has(socket)) socket.send(text, false, false);
      };
      if (kind === 'listen') {
        open.recogniser = new Recogniser({
          encoding: query.get('encoding') ?? 'linear16',
          rateHz: Number(query.get('sample_rate') ?? 16_000),
          tellsStarts: query.get('vad_events') === 'true',
          requestId: 'race',
          say: (message) => send(JSON.stringify(message)),
        });
        return;
      }
      open.voice = new VoiceSocket({
        format: query.get('output_format') ?? 'pcm_16000',
        isAuto: query.get('auto_mode') === 'true',
        isSingle,
        say: send,
        close() {
          isOpen = false;
          if (sockets.has(socket)) socket.end(1000);
        },
      });
    },
    message(socket, message, isBinary) {
      const { recogniser, voice } = socket.getUserData();
      if (recogniser !== null) {
        if (isBinary) recogniser.sound(new Uint8Array(message));
        else {
          const { type } = JSON.parse(Buffer.from(message).toString()) as { type?: string };
          recogniser.command(type);
          if (type === 'CloseStream') socket.end(1000);
        }
      } else voice?.message(Buffer.from(message).toString());
    },
    close(socket) {
      sockets.delete(socket);
      socket.getUserData().recogniser?.close();
      socket.getUserData().voice?.closed();
    },
  });
}

serveSockets('/v1/listen', 'listen', false);
serveSockets('/v1/text-to-speech/:voice/multi-stream-input', 'speak', false);
serveSockets('/v1/text-to-speech/:voice/stream-input', 'speak', true);

const HEAD = { id: 'race', object: 'chat.completion.chunk', created: 1, model: 'race' };
const PIECES = TOKENS.map((content, index) => {
  const delta = index === 0 ? { role: 'assistant', content } : { content };
  return `data: ${JSON.stringify({ ...HEAD, choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
});
const USAGE = { prompt_tokens: 100, completion_tokens: TOKENS.length, total_tokens: 100 + TOKENS.length };
const LAST = `data: ${JSON.stringify({ ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`;
const END = `${LAST}data: ${JSON.stringify({ ...HEAD, choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`;
const REFUSAL = JSON.stringify({ error: { message: 'too many requests', type: 'rate_limit_error' } });

app.post('/v1/chat/completions', (res) => {
  const askedAtMs = performance.now();
  let isOver = false;
  res.onAborted(() => {
    isOver = true;
  });
  res.onData((_chunk, isLast) => {
    if (!isLast) return;
    questions++;
    if (refusals > 0) {
      refusals--;
      isOver = true;
      res.cork(() => void res.writeStatus('429 Too Many Requests').writeHeader('retry-after', '1').end(REFUSAL));
    } else answer(res, askedAtMs, () => isOver);
  });
});

function answer(res: Response, askedAtMs: number, isOver: () => boolean): void {
  const schedule = new Schedule();
  for (const [index, piece] of PIECES.entries()) {
    schedule.at(askedAtMs + LATENCIES.firstTokenMs + index * LATENCIES.tokenMs, () => {
      if (isOver()) return;
      res.cork(() => {
        if (index === 0) res.writeStatus('200 OK').writeHeader('content-type', 'text/event-stream');
        res.write(piece);
        if (index === PIECES.length - 1) res.end(END);
      });
    });
  }
}

process.on('message', (order: ProvidersOrder) => {
  if (order.type === 'report') {
    const used = process.cpuUsage(cpu);
    cpu = process.cpuUsage();
    say({ type: 'report', cpuMs: (used.user + used.system) / 1_000, latenessP99Ms: takeLatenessP99Ms(), questions });
    questions = 0;
  } else if (order.type === 'refuse') refusals += order.times;
  else for (const socket of sockets) if (socket.getUserData().kind === order.kind) socket.end(1011, 'going away');
});
process.on('disconnect', () => process.exit(0));

app.listen('127.0.0.1', 0, (token) => {
  if (token === false) throw new Error('the providers of the race found no port on 127.0.0.1');
  const port = uws.us_socket_local_port(token as unknown as Parameters<typeof uws.us_socket_local_port>[0]);
  say({ type: 'ready', port });
});
