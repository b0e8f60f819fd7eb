/**
 * What time alone brings about in a web session that has a socket: pings, and the signs of a slow reader or a dead
 * network. `web-leg.ts` asks once a service.
 */
import type { OutboundMessages } from './outbound-messages.ts';
import type { WebLine } from './web-line.ts';
import type { WebSound } from './web-sound.ts';

export const PING_EVERY_MS = 5_000;
/**
 * A browser that reports its position says nothing at all while it is spoken to: its network is dead, whatever TCP
 * believes.
 */
const STALLED_MS = 1_500;

export class SessionWatch {
  readonly #line: WebLine;
  readonly #outbound: OutboundMessages;
  #pingAtMs = 0;

  constructor(line: WebLine, outbound: OutboundMessages) {
    this.#line = line;
    this.#outbound = outbound;
  }

  /** The session begins, or goes on. */
  begin(nowMs: number): void {
    this.#pingAtMs = nowMs;
  }

  look({ microphone, playout }: WebSound, nowMs: number): 'fine' | 'too_slow' | 'stalled' {
    if (nowMs - this.#pingAtMs >= PING_EVERY_MS) {
      this.#pingAtMs = nowMs;
      this.#outbound.ping(nowMs);
    }
    this.#outbound.tick(nowMs);
    microphone.watch(nowMs);
    const line = this.#line;
    if (line.fellBehind()) {
      this.#outbound.warnOnce('slow_client', 'The client reads too slowly; audio is left out');
    }
    if (line.isTooSlow) return 'too_slow';
    return line.silentMs(nowMs) > STALLED_MS && playout.expectsReports(nowMs) ? 'stalled' : 'fine';
  }
}
