/**
 * Closes a socket over which neither sound nor a message came for too long, as the service does. Used by both
 * versions.
 */
import type { SocketExchange } from '../provider.ts';

export function watchIdle(exchange: SocketExchange, timeoutMs: number): { touch(): void; stop(): void } {
  const close = (): void =>
    exchange.close(1011, 'NET-0001: Neither audio data nor a text message was received within the timeout window.');
  let timer = setTimeout(close, timeoutMs);
  return {
    touch() {
      clearTimeout(timer);
      timer = setTimeout(close, timeoutMs);
    },
    stop: () => clearTimeout(timer),
  };
}
