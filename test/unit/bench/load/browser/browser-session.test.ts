/**
 * A browser session against a server that speaks as much of the live protocol as it takes: which sockets there are, and
 * what became of each session is counted.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { FrameClock } from '../../../../../bench/emulators/frame-clock.ts';
import type { PlannedCall } from '../../../../../bench/load/contract/planned-call.ts';
import type { Clips } from '../../../../../bench/load/speech/clips.ts';
import { BrowserSession } from '../../../../../bench/load/targets/browser/browser-session.ts';
import type { Clock } from '../../../../../media/contract/clock.ts';
import { eventually } from '../../../../support/eventually.ts';

/** A session that long does not end by itself, however slow the machine is: its time is skipped once it is back. */
const LONG_MS = 600_000;

const ends: (() => unknown)[] = [];
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
});

interface LiveServer {
  url: string;
  /** What each socket was used for, in their order. */
  uses: string[];
  /** So many are open. */
  open(): number;
}

interface LiveBehaviour {
  /** False: it says nothing. */
  welcomes?: boolean;
  /** A session is ready, on its first socket. */
  onReady?(socket: WebSocket): void;
  /** One is asked for again, on its next. */
  onResume?(): void;
}

async function startLiveServer({ welcomes = true, onReady, onResume }: LiveBehaviour): Promise<LiveServer> {
  const uses: string[] = [];
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    const say = (message: object): void => socket.send(JSON.stringify(message));
    const ready = (): void => say({ type: 'session.ready', callUuid: 'call-1', resumeToken: 'again' });
    if (welcomes) say({ type: 'welcome' });
    socket.on('message', (data, isBinary) => {
      if (isBinary) return;
      const { type } = JSON.parse(String(data)) as { type: string };
      if (type === 'session.start' || type === 'session.resume') {
        uses.push(type);
        if (type === 'session.resume') onResume?.();
        ready();
        if (type === 'session.start') onReady?.(socket);
      }
      if (type !== 'session.end') return;
      say({ type: 'session.ended' });
      socket.close(1000);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  ends.push(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, uses, open: () => sockets.clients.size };
}

/**
 * Behind the timers by a tenth: what is waited for is never quite due when they ring. `skip`: so much passes at once.
 */
function slowClock(): Clock & { skip(ms: number): void } {
  const zeroMs = performance.now();
  let skippedMs = 0;
  return {
    nowMs: () => (performance.now() - zeroMs) * 0.9 + skippedMs,
    epochMs: () => Date.now(),
    skip(ms) {
      skippedMs += ms;
    },
    after(afterMs, run) {
      const timer = setTimeout(run, Math.max(0, afterMs));
      return () => clearTimeout(timer);
    },
  };
}

function sessionOf({ url }: LiveServer, more: Partial<PlannedCall> = {}, clock: Clock = slowClock()): BrowserSession {
  const frameClock = new FrameClock(clock);
  ends.push(() => frameClock.close());
  const planned: PlannedCall = {
    index: 0,
    atMs: 0,
    caller: 'visitor',
    by: 'browser',
    codec: 'pcm16',
    ringMs: 0,
    outcome: 'answer',
    lengthMs: 200,
    talk: { kind: 'silent' },
    network: { delayMs: 0, jitterMs: 0, lossShare: 0 },
    resumesAtMs: null,
    seed: 1,
    ...more,
  };
  const keys = { apiKey: '', enterprise: '', agentId: '', lineId: '', publicKey: '' };
  return new BrowserSession(planned, {
    clock,
    frameClock,
    frameSent: () => {},
    clips: { framesOf: async () => [] } as unknown as Clips,
    deployment: { url, origin: 'http://localhost', ...keys },
    gapBufferMs: 60,
    soundFolder: null,
    headers: {},
    token: async () => ({ token: 'one', version: null }),
  });
}

describe('a browser session', () => {
  test('that is planned to stay on one socket has one, although timers ring a moment early', async () => {
    const server = await startLiveServer({});
    expect(await sessionOf(server).run()).toMatchObject({ fate: 'talked', endedBy: 'far_end', resumes: [] });
    expect(server.uses).toEqual(['session.start']);
  });

  test('loses the one that it is planned to lose, and comes back once', async () => {
    const clock = slowClock();
    const server = await startLiveServer({ onResume: () => clock.skip(LONG_MS) });
    const call = await sessionOf(server, { lengthMs: LONG_MS, resumesAtMs: 100 }, clock).run();
    expect(call).toMatchObject({ fate: 'talked', endedBy: 'far_end' });
    expect(call.resumes.length).toBe(1);
    expect(server.uses).toEqual(['session.start', 'session.resume']);
  });

  test('comes back too where the target loses it', async () => {
    const clock = slowClock();
    const server = await startLiveServer({
      onReady: (socket) => socket.terminate(),
      onResume: () => clock.skip(LONG_MS),
    });
    const call = await sessionOf(server, { lengthMs: LONG_MS }, clock).run();
    expect(call).toMatchObject({ fate: 'talked' });
    expect(call.resumes.length).toBe(1);
  });

  test('that is stopped before the target has answered is over at once', async () => {
    const server = await startLiveServer({ welcomes: false });
    const session = sessionOf(server, { lengthMs: LONG_MS });
    const call = session.run();
    await eventually('its socket', () => server.open() === 1);
    await session.hangUp();
    expect(await call).toMatchObject({ fate: 'cut', answeredAtMs: null });
    expect(server.uses).toEqual([]);
  });
});
