/**
 * Closes a socket over which neither sound nor a message came for too long, as the service does. Used by both
 * versions.
 */
import { Inactivity } from '../inactivity.ts';
import type { SocketExchange } from '../provider.ts';

export function watchIdle(exchange: SocketExchange, timeoutMs: number): Inactivity {
  return new Inactivity(exchange.timetable, timeoutMs, () =>
    exchange.close(1011, 'NET-0001: Neither audio data nor a text message was received within the timeout window.'),
  );
}
