/**
 * `/ws/monitor?token=`: people who listen in to a call. Whose the token is, control says (`monitor-desk.ts`); who is
 * refused is let in, told why and shut out, because a page cannot read a failed handshake. A listener says little, and
 * nothing of it reaches the call. Tokens are secrets: they are in no log line.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../contract/clock.ts';
import { MONITOR_CLOSE_CODES, type MonitorAnswer } from '../../contract/monitor.ts';
import { RefusalLog } from '../refusal-log.ts';
import type { SocketRoute } from '../socket-server/media-socket-server.ts';
import { type Listener, refuse } from './listener.ts';
import type { MonitorDesk } from './monitor-desk.ts';

export const MONITOR_PATH = '/ws/monitor';
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
/** Messages that a page may send: to switch the sound, and to measure. */
const BURST = 20;
const PER_SECOND = 5;

const LIMITS = {
  maxMessageBytes: 1024,
  maxBufferedMessageBytes: 16 * 1024,
  // Above what `listener.ts` calls slow, with room for what was said so far.
  maxBackpressureBytes: 4 * 1024 * 1024,
  idleTimeoutSeconds: 32,
  pingsItself: true,
};

type FromListener = { type: 'sound'; on: boolean } | { type: 'ping'; id: number };

/** What a socket carries. */
export interface MonitorSocketData {
  answer: MonitorAnswer;
  listener: Listener | null;
  openedAtMs: number;
  messages: number;
}

export interface MonitorEndpointOptions {
  desk: MonitorDesk;
  clock: Clock;
  log: Logger;
  /** Counts. */
  refused(closeCode: number): void;
}

export function createMonitorEndpoint(options: MonitorEndpointOptions): SocketRoute<MonitorSocketData> {
  const { desk, clock, log } = options;
  const refusals = new RefusalLog(clock, 'listening in', (fields, text) => log.info(fields, text));

  async function answerTo(query: string, remoteAddress: string): Promise<MonitorAnswer> {
    const tokens = new URLSearchParams(query).getAll('token');
    const [token = ''] = tokens;
    const isToken = tokens.length === 1 && TOKEN.test(token);
    const answer: MonitorAnswer = isToken ? await desk.claim(token) : { ok: false, code: 'token_invalid' };
    if (!answer.ok) {
      refusals.tell({ code: answer.code, why: 'a listener is refused', remoteAddress });
      options.refused(MONITOR_CLOSE_CODES[answer.code]);
    }
    return answer;
  }

  return {
    pathPrefix: MONITOR_PATH,
    limits: LIMITS,
    upgrade({ query, remoteAddress }, decision) {
      void answerTo(query, remoteAddress).then((answer) => {
        const data: MonitorSocketData = { answer, listener: null, openedAtMs: clock.nowMs(), messages: 0 };
        if (!decision.accept(data) && answer.ok) desk.neverOpened(answer.monitorId);
      });
    },
    open(socket) {
      const { answer } = socket.data;
      if (answer.ok) socket.data.listener = desk.open(socket, answer);
      else refuse(socket, answer.code);
    },
    message(socket, message, isBinary) {
      const { data } = socket;
      const { listener } = data;
      if (listener === null) return;
      const allowed = BURST + ((clock.nowMs() - data.openedAtMs) / 1000) * PER_SECOND;
      const said = isBinary || ++data.messages > allowed ? null : read(message);
      if (said === null) listener.shutOut('bad_message');
      else if (said.type === 'sound') desk.setSound(listener, said.on);
      else listener.tell({ type: 'pong', id: said.id, streamMs: desk.streamMs(listener) });
    },
    drained() {},
    closed({ data: { listener } }) {
      if (listener !== null) desk.closed(listener);
    },
  };
}

/** Null: nothing that a listener says. */
function read(message: Uint8Array): FromListener | null {
  let body: unknown;
  try {
    body = JSON.parse(Buffer.from(message).toString('utf8'));
  } catch {
    return null;
  }
  const { type, on, id } = (body ?? {}) as Record<string, unknown>;
  if (type === 'sound' && typeof on === 'boolean') return { type, on };
  return type === 'ping' && typeof id === 'number' ? { type, id } : null;
}
