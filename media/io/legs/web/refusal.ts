/**
 * How a socket is shut out: one `error` message and the close code that goes with it, because a page cannot read a
 * failed handshake. Used by `web-endpoint.ts` for who never had a session, and by `web-line.ts` for a session's own
 * socket.
 */
import { LIVE_CLOSE_CODES, type LiveErrorCode } from '../../../contract/live-session.ts';
import type { MediaSocket } from '../../socket-server/media-socket-server.ts';

const MESSAGES: Readonly<Record<LiveErrorCode, string>> = {
  token_invalid: 'Invalid token',
  token_expired: 'Token expired',
  token_used: 'Token already used',
  origin_not_allowed: 'Origin not allowed',
  agent_not_found: 'Agent not found',
  concurrency_limit: 'Too many sessions',
  draining: 'Service temporarily unavailable',
  session_over: 'Session is over',
  server: 'Internal server error',
  bad_message: 'Bad message',
  unsupported_audio: 'Unsupported audio format',
  audio_flood: 'Audio faster than real time',
  message_too_big: 'Message too big',
  start_timeout: 'No session.start in time',
  slow_client: 'Client reads too slowly',
  replaced: 'Replaced by a newer connection',
};

export function refuse(socket: MediaSocket<unknown>, code: LiveErrorCode): void {
  const text = JSON.stringify({ type: 'error', code, message: MESSAGES[code], fatal: true });
  socket.send(Buffer.from(text, 'utf8'), false);
  socket.close(LIVE_CLOSE_CODES[code], code);
}
