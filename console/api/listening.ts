/**
 * Listening in to a call that runs, and speaking with its caller: a token of the service, then `/ws/monitor`
 * (docs/live-listening.md). It says what comes and why it ended; `pages/call/live-sound.ts` plays it.
 */
import { ask, ofWorkspace } from './request.ts';

export interface SoundFormat {
  codec: 'mulaw' | 'pcm_s16le' | 'opus';
  rateHz: number;
}

/** `lost`: without a word; else as the service says. */
export type ListeningEnd =
  | 'call_over'
  | 'call_moved'
  | 'call_not_live'
  | 'session_over'
  | 'slow_listener'
  | 'too_many_listeners'
  | 'service_away'
  | 'lost';

export interface ListeningEvents {
  ready(caller: SoundFormat, agent: SoundFormat): void;
  /** `streamMs`: the service's time of the call as it sent the message. */
  sound(frames: DataView): void;
  /** To the service and back. */
  roundTrip(ms: number): void;
  /** A person speaks in the agent's place, or does so no more. */
  takeover(isOn: boolean): void;
  ended(why: ListeningEnd): void;
}

/** `done`, or why not. */
export type MonitorResult = 'done' | 'not_allowed' | 'not_in_progress' | 'unanswered' | 'taken' | (string & {});

export interface Listening {
  end(): void;
  /** Answered in any case. */
  ask(what: { type: 'takeover' } | { type: 'handback'; note?: string }): Promise<MonitorResult>;
  /** 20 ms of the microphone, mono, 16 kHz, 16 bit; for who has the call. */
  speak(frame: ArrayBuffer): void;
}

const PING_EVERY_MS = 2_000;
/** Several processes may share the port; one of them has the call. */
const MOST_TRIES = 40;
const TRY_AGAIN_MS = 30;
/** A second of sound: a line that keeps back more is no line to talk over. */
const MOST_WAITING_BYTES = 32_000;

/** Rejects with the service's refusal where there is no token to be had. */
export async function listenIn(enterprise: string, callUuid: string, events: ListeningEvents): Promise<Listening> {
  const given = await ask<{ token: string; path: string }>(ofWorkspace(enterprise, `calls/${callUuid}/monitor`), {
    method: 'POST',
    body: {},
  });
  const address = `${location.origin.replace(/^http/, 'ws')}${given.path}?token=${given.token}`;
  let socket: WebSocket;
  let hasEnded = false;
  let pingedAtMs = 0;
  let said: string | null = null;
  let asked = 0;
  const asks = new Map<number, (result: MonitorResult) => void>();
  const timer = setInterval(() => {
    if (socket.readyState !== WebSocket.OPEN) return;
    pingedAtMs = performance.now();
    socket.send('{"type":"ping","id":1}');
  }, PING_EVERY_MS);

  function end(why: ListeningEnd | null): void {
    if (hasEnded) return;
    hasEnded = true;
    clearInterval(timer);
    for (const answer of asks.values()) answer('unanswered');
    socket.close(1000);
    if (why !== null) events.ended(why);
  }

  function open(tries: number): void {
    said = null;
    socket = new WebSocket(address);
    socket.binaryType = 'arraybuffer';
    socket.onmessage = ({ data }) => {
      if (hasEnded) return;
      if (data instanceof ArrayBuffer) {
        events.sound(new DataView(data));
        return;
      }
      const message = JSON.parse(String(data)) as Record<string, unknown>;
      if (message['type'] === 'monitor.ready') {
        events.ready(message['caller'] as SoundFormat, message['agent'] as SoundFormat);
        socket.send('{"type":"sound","on":true}');
      } else if (message['type'] === 'pong') events.roundTrip(performance.now() - pingedAtMs);
      else if (message['type'] === 'answer') answered(Number(message['id']), String(message['result']));
      else if (message['type'] === 'event') follow(message['event'] as { type: string; phase?: string });
      else if (message['type'] === 'error') said = String(message['code']);
    };
    socket.onclose = () => {
      if (hasEnded) return;
      if (said === 'elsewhere' && tries < MOST_TRIES) setTimeout(() => hasEnded || open(tries + 1), TRY_AGAIN_MS);
      else end((said as ListeningEnd | null) ?? 'lost');
    };
  }

  function answered(id: number, result: MonitorResult): void {
    asks.get(id)?.(result);
    asks.delete(id);
  }

  function follow({ type, phase }: { type: string; phase?: string }): void {
    if (type === 'takeover') events.takeover(phase === 'began');
  }

  open(1);
  return {
    end: () => end(null),
    ask: (what) =>
      new Promise((resolve) => {
        if (hasEnded || socket.readyState !== WebSocket.OPEN) return resolve('unanswered');
        const id = ++asked;
        asks.set(id, resolve);
        socket.send(JSON.stringify({ ...what, id }));
      }),
    speak(frame) {
      if (socket.readyState === WebSocket.OPEN && socket.bufferedAmount < MOST_WAITING_BYTES) socket.send(frame);
    },
  };
}
