/**
 * What a carrier's media protocol is to the stream target: how the carrier's messages are written, what the target's
 * mean, how requests are signed and answer documents are read. One instance of a `Wire` a stream; implemented in a
 * folder a carrier.
 */
import type { SaidFrame } from '../../far-end/said-sound.ts';

/** What a message of the target asks for. */
export type TargetSays =
  | { says: 'audio'; base64: string }
  | { says: 'mark'; name: string }
  | { says: 'clear' }
  | { says: 'nothing' }
  /** It is against the protocol, and the carrier passes it over. */
  | { says: 'fault'; fault: string; event?: unknown };

export interface Wire {
  /** What the carrier says when the socket is open. */
  opening(): string[];
  /** 20 ms of the far end; `streamMs` since the stream's start. */
  media(frame: SaidFrame, streamMs: number): string;
  /** What stood before this mark has been played. */
  played(name: string): string;
  /** The queue was emptied, of which `pending` are the marks that had not been played. */
  cleared(pending: readonly string[]): string[];
  /** Before the carrier closes the socket; null: it just closes it. */
  closing(): string | null;
  /** A message that is JSON. */
  read(message: Record<string, unknown>): TargetSays;
}

export interface WireOptions {
  callId: string;
  /** Given to the target with the start. */
  parameters: Readonly<Record<string, string>>;
  epochMs(): number;
}

/** What an answer document tells the carrier to do, as far as the tool does it. */
export type Step =
  | { step: 'stream'; url: string; parameters: Record<string, string> }
  | { step: 'wait'; seconds: number }
  | { step: 'redirect'; url: string; method: 'GET' | 'POST' }
  | { step: 'hang-up' };

export interface SignedRequest {
  method: 'GET' | 'POST';
  url: string;
  /** Form fields of a POST. */
  params: Readonly<Record<string, string>>;
}

export interface CarrierProtocol {
  /** For a person: "Plivo audio streaming". */
  readonly name: string;
  /** Events that a target sends by this protocol. */
  readonly targetEvents: readonly string[];
  newCallId(): string;
  createWire(options: WireOptions): Wire;
  /** Headers that prove where a request comes from. */
  signatureOf(request: SignedRequest, authToken: string): Record<string, string>;
  /** Form fields of the request for an answer document. */
  answerParams(callId: string): Record<string, string>;
  /** Throws an `InvalidDocumentError` that says what is wrong with the document, or what the tool cannot play. */
  readDocument(xml: string): Step[];
}

/** The fields of a JSON object; empty for anything else. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
