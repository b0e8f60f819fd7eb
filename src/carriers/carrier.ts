/**
 * The port that every carrier implements (control side). A carrier knows wire formats, signatures and codes; it knows
 * nothing of the database, of workspaces or of what a call means. Everything it learns it returns as neutral values.
 * What it can beyond what every carrier can, it declares in `media/contract/carriers.ts`, and has the optional part
 * for.
 */

import type { LegFormat } from '../../media/contract/audio-format.ts';
import type { EndedReason } from '../../media/contract/call-outcome.ts';

export interface PlaceRequest {
  callUuid: string;
  /** E.164 with its plus. */
  to: string;
  from: string;
  ringTimeoutSeconds: number;
  maxDurationSeconds: number;
  /**
   * Base of this call's callbacks, `{PUBLIC_URL}/carriers/{name}/{callUuid}`; the carrier adds `/answer`, `/ring`, …
   */
  callbackBase: string;
  /**
   * Tell whether a person or a machine answered, by a `machine` event within so long. Only of a carrier that declares
   * it.
   */
  detectMachine?: { timeoutMs: number };
}

/** What became of a placement. Only `unknown` may have dialled without our knowing: it is looked up, never repeated. */
export type PlaceOutcome =
  | { kind: 'accepted'; carrierRequestId: string }
  /** Explicitly refused; nothing was dialled. */
  | { kind: 'refused'; reason: EndedReason; carrierCode: string; message: string }
  /** An explicit 429, so nothing was dialled and one more try is allowed. */
  | { kind: 'throttled'; retryAfterSeconds: number }
  /**
   * Timed out, reset or 5xx after the request may have been read. `lateAcceptance` settles if the answer comes after
   * all.
   */
  | { kind: 'unknown'; why: string; lateAcceptance: Promise<string | null> };

/** A callback as received: the public URL that the carrier signed, and the parsed form. */
export interface CallbackRequest {
  method: 'GET' | 'POST';
  /** Full public URL with query, as the carrier dialled it. */
  url: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  params: Record<string, string>;
}

export interface CarrierEnd {
  /** Null: ended normally after an answer; who hung up decides the reason. */
  reason: EndedReason | null;
  hangupBy: 'caller' | 'platform' | 'carrier' | null;
  sipCode: number | null;
  carrierCause: string | null;
  durationSeconds: number | null;
}

export type CarrierEvent =
  | { type: 'ringing'; carrierCallId: string }
  | { type: 'answered'; carrierCallId: string }
  /** The stream of the last document is over, or never opened, and the call is not: it asks what to do next. */
  | { type: 'stream_over'; carrierCallId: string }
  | { type: 'ended'; carrierCallId: string; end: CarrierEnd }
  | { type: 'stream'; carrierCallId: string; state: 'started' | 'stopped' | 'failed' | 'degraded'; detail: string }
  /** May come after the agent has begun to speak. Only of a carrier that declares `machineDetection`. */
  | { type: 'machine'; carrierCallId: string; answeredBy: 'person' | 'machine' | 'unknown' }
  | { type: 'ignored'; why: string };

/** An active call's state by the carrier's own account; `gone` is a definite "no such active call". */
export type CarrierLookup = 'queued' | 'ringing' | 'in_progress' | 'gone' | 'unknown';

export interface StreamInstruction {
  /** `ws(s)://…/media/{carrier}/{token}` */
  mediaUrl: string;
  /** Where the carrier reports what became of the stream. */
  statusUrl: string;
  /** What the carrier asks when the stream is over and the call is not. */
  nextUrl: string;
  /** How long it waits before that. */
  pauseSeconds: number;
  format: LegFormat;
}

/** What a cheap authenticated request found out. `serverEpochMs`: the carrier's own clock, to the second. */
export interface AccessCheck {
  outcome: 'ok' | 'refused' | 'unreachable';
  /** For people; without secrets. */
  detail: string;
  serverEpochMs: number | null;
}

export interface Carrier {
  readonly name: string;
  /** Names of missing settings, no network. Empty: ready. */
  missingCredentials(): string[];
  place(request: PlaceRequest): Promise<PlaceOutcome>;
  /** The document that tells the carrier to open the media stream. */
  answerDocument(stream: StreamInstruction): { contentType: string; body: string };
  /** The document that ends a call that should not go on. */
  hangupDocument(): { contentType: string; body: string };
  verifyCallback(request: CallbackRequest): boolean;
  /**
   * The right signature of a callback that was verified, over its nonce too: each copy of one request has the same,
   * whatever else its headers hold, and no two requests share one.
   */
  signatureOf(request: CallbackRequest): string;
  /** The media socket's upgrade request. `unsupported`: this carrier does not sign it. */
  verifyUpgrade(request: { url: string; headers: Record<string, string> }): 'ok' | 'bad' | 'unsupported';
  /** `kind` is the callback path's last segment: `answer`, `next`, `ring`, `hangup`, `stream`. */
  parseCallback(kind: string, request: CallbackRequest): CarrierEvent;
  /**
   * Idempotent: a call that is already over counts as hung up. Resolves false when the carrier could not be reached.
   */
  hangup(carrierCallId: string): Promise<boolean>;
  /** Before the answer, by the id that `place` returned. Idempotent likewise. */
  cancel(carrierRequestId: string): Promise<boolean>;
  lookup(carrierCallId: string): Promise<CarrierLookup>;
  /** Do the credentials hold? For `parley doctor`; costs nothing and changes nothing. */
  checkAccess?(): Promise<AccessCheck>;

  // What it declares: there exactly where `CarrierCapabilities` says so. Each resolves false when the carrier was not
  // reached, or refused.

  /** An active call leaves what it does, its stream too, and follows the document at this public address. */
  redirect?(carrierCallId: string, documentUrl: string): Promise<boolean>;
  /** An active call is handed to another number, E.164, and leaves us. */
  transfer?(carrierCallId: string, to: string): Promise<boolean>;
  /** Keys (0–9, *, #, A–D) towards the far end of an active call. */
  sendDigits?(carrierCallId: string, digits: string): Promise<boolean>;
  /** A call that nobody placed, by the carrier's first question about it; null: this is none. Numbers are E.164. */
  parseIncoming?(request: CallbackRequest): { carrierCallId: string; from: string; to: string } | null;
}

/** Makes the carrier for one line's decrypted credentials. */
export type CarrierFactory = (credentials: Record<string, string>, settings: { apiBase: string | null }) => Carrier;
