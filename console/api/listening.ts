/**
 * Listening in to a call that runs: a token of the service, then `/ws/monitor` (docs/live-listening.md). It says what
 * comes and why it ended; `pages/call/live-sound.ts` plays it.
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
  ended(why: ListeningEnd): void;
}

const PING_EVERY_MS = 2_000;
/** Several processes may share the port; one of them has the call. */
const MOST_TRIES = 40;
const TRY_AGAIN_MS = 30;

/** Rejects with the service's refusal where there is no token to be had. Returns what ends it. */
export async function listenIn(enterprise: string, callUuid: string, events: ListeningEvents): Promise<() => void> {
  const asked = await ask<{ token: string; path: string }>(ofWorkspace(enterprise, `calls/${callUuid}/monitor`), {
    method: 'POST',
    body: {},
  });
  const address = `${location.origin.replace(/^http/, 'ws')}${asked.path}?token=${asked.token}`;
  let socket: WebSocket;
  let hasEnded = false;
  let pingedAtMs = 0;
  let said: string | null = null;
  const timer = setInterval(() => {
    if (socket.readyState !== WebSocket.OPEN) return;
    pingedAtMs = performance.now();
    socket.send('{"type":"ping","id":1}');
  }, PING_EVERY_MS);

  function end(why: ListeningEnd | null): void {
    if (hasEnded) return;
    hasEnded = true;
    clearInterval(timer);
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
      else if (message['type'] === 'error') said = String(message['code']);
    };
    socket.onclose = () => {
      if (hasEnded) return;
      if (said === 'elsewhere' && tries < MOST_TRIES) setTimeout(() => hasEnded || open(tries + 1), TRY_AGAIN_MS);
      else end((said as ListeningEnd | null) ?? 'lost');
    };
  }
  open(1);
  return () => end(null);
}
