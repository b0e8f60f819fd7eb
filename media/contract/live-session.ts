/**
 * What control and media tell each other about a web session (contract §9), beyond what every call has. The messages on
 * the socket itself are `media/io/legs/web/client-messages.ts` and `docs/live-protocol.md`.
 */
import type { LegFormat } from './audio-format.ts';
import type { Turn } from './conversation.ts';

/** Why a socket is refused or closed; `error.code` of the protocol. */
export type LiveErrorCode =
  | 'token_invalid'
  | 'token_expired'
  | 'token_used'
  | 'origin_not_allowed'
  | 'agent_not_found'
  | 'concurrency_limit'
  | 'draining'
  | 'session_over'
  | 'server'
  | 'bad_message'
  | 'unsupported_audio'
  | 'audio_flood'
  | 'message_too_big'
  | 'start_timeout'
  | 'slow_client'
  | 'replaced';

export const LIVE_CLOSE_CODES: Readonly<Record<LiveErrorCode, number>> = {
  token_invalid: 4401,
  token_expired: 4401,
  token_used: 4401,
  origin_not_allowed: 4403,
  agent_not_found: 4404,
  concurrency_limit: 4429,
  draining: 4503,
  session_over: 4410,
  server: 4500,
  bad_message: 4400,
  unsupported_audio: 4400,
  audio_flood: 4400,
  message_too_big: 1009,
  start_timeout: 4408,
  slow_client: 4408,
  replaced: 4409,
};

/** What media knows of an upgrade request at `/ws/live`. */
export interface LiveUpgradeRequest {
  parentOrigin: string;
  /** The `Origin` header; null: the client is no browser. */
  origin: string | null;
  remoteAddress: string;
}

export interface NegotiatedAudio {
  input: LegFormat;
  output: LegFormat;
}

/** The part of a `CallSetup` that only a web session has. */
export interface WebSetup {
  origin: string;
  /**
   * Hex; media makes this session's resume tokens with it (`media/io/legs/web/resume-token.ts`), control checks them.
   */
  resumeKeyHex: string;
  maxSessionSeconds: number;
  /** The session goes on after its process was lost: what was negotiated, and the turns so far. */
  resumed: { audio: NegotiatedAudio | null; turns: Turn[] } | null;
}
