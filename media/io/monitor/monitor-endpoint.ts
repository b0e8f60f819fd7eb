/**
 * `/ws/monitor?token=`: people who listen in to a call. Whose the token is, control says (`monitor-desk.ts`); who is
 * refused is let in, told why and shut out, because a page cannot read a failed handshake. A listener says little; what
 * it wants of the call goes by way of control, and its sound reaches the call only while the person has taken it over.
 * Tokens are secrets: they are in no log line.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../contract/clock.ts';
import { MONITOR_CLOSE_CODES, type MonitorAction, type MonitorAnswer } from '../../contract/monitor.ts';
import { RefusalLog } from '../refusal-log.ts';
import type { SocketRoute } from '../socket-server/media-socket-server.ts';
import { type Listener, refuse } from './listener.ts';
import type { MonitorDesk } from './monitor-desk.ts';

export const MONITOR_PATH = '/ws/monitor';
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
/** Messages of text that a page may send. */
const BURST = 20;
const PER_SECOND = 5;
/** Sound that a page may send, bytes: 32 kB a second are real time; a stalled network brings some seconds at once. */
const SOUND_BURST = 128 * 1024;
const SOUND_PER_SECOND = 48 * 1024;
/** 20 ms of mono at 16 kHz; 200 ms at most in a message. */
const SOUND_FRAME_BYTES = 640;
const MOST_SOUND_FRAMES = 10;
const LONGEST_TEXT = 1_000;

const LIMITS = {
  maxMessageBytes: 8 * 1024,
  maxBufferedMessageBytes: 64 * 1024,
  // Above what `listener.ts` calls slow, with room for what was said so far.
  maxBackpressureBytes: 4 * 1024 * 1024,
  idleTimeoutSeconds: 32,
  pingsItself: true,
};

type FromListener =
  | { type: 'sound'; on: boolean }
  | { type: 'ping'; id: number }
  | { type: 'ask'; id: number; action: MonitorAction };

/** What a socket carries. */
export interface MonitorSocketData {
  answer: MonitorAnswer;
  listener: Listener | null;
  openedAtMs: number;
  messages: number;
  /** By which what it sent is ahead of the rate that it may send at, and when that was so. */
  soundAheadBytes: number;
  soundAtMs: number;
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
        const nowMs = clock.nowMs();
        const sound = { soundAheadBytes: 0, soundAtMs: nowMs };
        const data: MonitorSocketData = { answer, listener: null, openedAtMs: nowMs, messages: 0, ...sound };
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
      const nowMs = clock.nowMs();
      if (isBinary) {
        const spentBytes = ((nowMs - data.soundAtMs) / 1000) * SOUND_PER_SECOND;
        data.soundAheadBytes = Math.max(0, data.soundAheadBytes - spentBytes) + message.byteLength;
        data.soundAtMs = nowMs;
        if (data.soundAheadBytes > SOUND_BURST || !isSound(message)) listener.shutOut('bad_message');
        else desk.personSound(listener, message);
        return;
      }
      const allowed = BURST + ((nowMs - data.openedAtMs) / 1000) * PER_SECOND;
      const said = ++data.messages > allowed ? null : read(message);
      if (said === null) listener.shutOut('bad_message');
      else if (said.type === 'sound') desk.setSound(listener, said.on);
      else if (said.type === 'ask') desk.ask(listener, said.id, said.action);
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
  const { type, on, id, ...more } = (body ?? {}) as Record<string, unknown>;
  if (type === 'sound' && typeof on === 'boolean') return { type, on };
  if (typeof id !== 'number') return null;
  if (type === 'ping') return { type, id };
  const action = actionOf(type, more);
  return action === null ? null : { type: 'ask', id, action };
}

function actionOf(type: unknown, { text, note = null }: Record<string, unknown>): MonitorAction | null {
  switch (type) {
    case 'whisper':
      return isText(text) ? { type, text: text.trim() } : null;
    case 'barge':
      return isText(text) ? { type: 'say', text: text.trim(), interrupt: true } : null;
    case 'takeover':
      return { type };
    case 'handback':
      return note === null || isText(note) ? { type, note: note?.trim() ?? null } : null;
    default:
      return null;
  }
}

const isText = (text: unknown): text is string =>
  typeof text === 'string' && text.trim() !== '' && text.length <= LONGEST_TEXT;

const isSound = ({ byteLength }: Uint8Array): boolean =>
  byteLength > 0 && byteLength % SOUND_FRAME_BYTES === 0 && byteLength <= MOST_SOUND_FRAMES * SOUND_FRAME_BYTES;
