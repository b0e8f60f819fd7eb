/**
 * The socket of a session, over losses: connects, greets, notices a dead line, resumes with the token of the last
 * `session.ready`, and gives up when the server's window is over. It knows nothing of audio.
 */
import type { Ready, ServerMessage } from './wire.ts';

export interface ConnectionEvents {
  /** The first message of a new session and of a resumed one. */
  hello(resumed: boolean): object;
  ready(ready: Ready): void;
  message(message: ServerMessage): void;
  audio(bytes: ArrayBuffer): void;
  roundTrip(rttMs: number): void;
  /** The line is gone; attempts are under way. */
  lost(): void;
  attempt(count: number): void;
  /** The first socket was lost before it was any good, and its token with it: open() once more with another. */
  tokenLost(): void;
  /** Once; nothing follows. `code` is the server's, `network`, `token_lost` (before the first ready) or `ended`. */
  over(code: string, reason: string): void;
}

export interface Connection {
  open(token: string): void;
  send(message: object): void;
  /** False when it was not sent. */
  sendAudio(packet: ArrayBuffer): boolean;
  readonly isLive: boolean;
  readonly bufferedBytes: number;
  /** Drops the socket and resumes, to negotiate anew. */
  renew(): void;
  /** Ordinary end; `message` is sent first when the line is up. */
  close(message: object | null): void;
}

const CONNECT_MS = 5_000;
const READY_MS = 10_000;
const PONG_MS = 3_000;
const ERROR_MS = 50;
const BACKOFF_MS = [250, 500, 1_000, 2_000, 4_000];
const RESUME_WINDOW_MS = 30_000;
/** An own close code, so that the server takes it for a loss and not for an end. */
const CLOSE_SUSPECT = 4000;
const FINAL_CLOSES = new Set([1000, 1009, 4400, 4401, 4403, 4404, 4409, 4410, 4429]);

export function createConnection(address: (token: string) => string, events: ConnectionEvents): Connection {
  let socket: WebSocket | null = null;
  let resumeToken: string | null = null;
  let resumeWindowMs = RESUME_WINDOW_MS;
  let isReady = false;
  let isOver = false;
  let lostAtMs = 0;
  let attempts = 0;
  let retryTimer = 0;
  let limitTimer = 0;
  let pingTimer = 0;
  let pongTimer = 0;
  let pingId = 0;
  let pingedAtMs = 0;
  let told: ServerMessage | null = null;
  let hasAskedAnew = false;

  function connect(token: string): void {
    let own: WebSocket;
    try {
      own = new WebSocket(address(token));
    } catch {
      // What the page's policy forbids looks like a lost socket elsewhere, and is told apart like one.
      setTimeout(() => closed(1006));
      return;
    }
    own.binaryType = 'arraybuffer';
    socket = own;
    told = null;
    limit(CONNECT_MS);
    own.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (socket !== own) return;
      if (typeof data === 'string') take(data);
      else events.audio(data);
    };
    own.onclose = ({ code }) => {
      if (socket === own) closed(code);
    };
    // Chromium tells of a socket that the page's policy forbids by an error alone, without a close.
    own.onerror = () =>
      setTimeout(() => socket === own && own.readyState === WebSocket.CLOSED && closed(1006), ERROR_MS);
  }

  /** Whoever does not get further by then is dropped. */
  function limit(ms: number): void {
    clearTimeout(limitTimer);
    limitTimer = setTimeout(() => drop(), ms) as unknown as number;
  }

  function drop(): void {
    const old = socket;
    socket = null;
    old?.close(CLOSE_SUSPECT);
    closed(1006);
  }

  function take(text: string): void {
    const message = parsed(text);
    if (message === null) return;
    if (message.type === 'welcome') {
      limit(READY_MS);
      send(events.hello(resumeToken !== null));
    } else if (message.type === 'session.ready') {
      ready(message as unknown as Ready);
    } else if (message.type === 'ping') {
      send({ type: 'pong', id: message.id });
    } else if (message.type === 'pong') {
      if (message.id !== pingId) return;
      clearTimeout(pongTimer);
      pongTimer = 0;
      events.roundTrip(performance.now() - pingedAtMs);
    } else {
      if (message.type === 'error') told = message;
      events.message(message);
    }
  }

  function ready(message: Ready): void {
    clearTimeout(limitTimer);
    ({ resumeToken } = message);
    resumeWindowMs = message.resumeWindowMs ?? RESUME_WINDOW_MS;
    isReady = true;
    attempts = 0;
    lostAtMs = 0;
    clearInterval(pingTimer);
    pingTimer = setInterval(ping, message.limits?.pingIntervalMs ?? 5_000) as unknown as number;
    events.ready(message);
    ping();
  }

  function ping(): void {
    if (!isReady || pongTimer !== 0) return;
    pingedAtMs = performance.now();
    send({ type: 'ping', id: ++pingId, clientTime: Date.now() });
    pongTimer = setTimeout(() => {
      pongTimer = 0;
      drop();
    }, PONG_MS) as unknown as number;
  }

  function closed(code: number): void {
    socket = null;
    isReady = false;
    clearTimeout(limitTimer);
    clearTimeout(pongTimer);
    clearInterval(pingTimer);
    pongTimer = 0;
    if (isOver) return;
    const verdict = verdictOn(code);
    if (verdict === 'token_lost' && !hasAskedAnew) {
      hasAskedAnew = true;
      events.tokenLost();
      return;
    }
    if (verdict !== null) {
      finish(verdict, `close_${code}`);
      return;
    }
    if (lostAtMs === 0) {
      lostAtMs = performance.now();
      events.lost();
    }
    retryTimer = setTimeout(retry, BACKOFF_MS[Math.min(attempts, BACKOFF_MS.length - 1)]) as unknown as number;
  }

  /** What a closed socket means for the session; null: resume it. */
  function verdictOn(code: number): string | null {
    if (code === 1000) return 'ended';
    if (FINAL_CLOSES.has(code)) return told?.code ?? `closed_${code}`;
    if (resumeToken === null) return told?.code ?? 'token_lost';
    const isTooLate = lostAtMs !== 0 && performance.now() - lostAtMs > resumeWindowMs;
    return isTooLate ? (told?.code ?? 'network') : null;
  }

  function retry(): void {
    clearTimeout(retryTimer);
    if (isOver || socket !== null || resumeToken === null) return;
    events.attempt(++attempts);
    connect(resumeToken);
  }

  function finish(code: string, reason: string): void {
    if (isOver) return;
    stop();
    events.over(code, reason);
  }

  function stop(): void {
    isOver = true;
    clearTimeout(retryTimer);
    clearTimeout(limitTimer);
    clearTimeout(pongTimer);
    clearInterval(pingTimer);
    removeEventListener('online', retry);
    document.removeEventListener('visibilitychange', look);
  }

  /** A page that slept may have lost its line without being told. */
  function look(): void {
    if (document.visibilityState !== 'visible') return;
    retry();
    ping();
  }

  function send(message: object): void {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  }

  addEventListener('online', retry);
  document.addEventListener('visibilitychange', look);
  return {
    open: connect,
    send,
    sendAudio(packet) {
      if (!isReady || socket?.readyState !== WebSocket.OPEN) return false;
      socket.send(packet);
      return true;
    },
    get isLive() {
      return isReady;
    },
    get bufferedBytes() {
      return socket?.bufferedAmount ?? 0;
    },
    renew: () => isReady && drop(),
    close(message) {
      stop();
      if (message !== null) send(message);
      const old = socket;
      socket = null;
      old?.close(1000);
    },
  };
}

function parsed(text: string): ServerMessage | null {
  try {
    const value = JSON.parse(text) as ServerMessage | null;
    return typeof value?.type === 'string' ? value : null;
  } catch {
    return null;
  }
}
