/** What a fault run leaves behind, as data: what clients were told, what the database holds, what the receiver saw. */

export interface StoredEvent {
  id: string;
  callUuid: string;
  event: string;
  /** 1, 2, 3 … in a call. */
  sequence: number;
  /** The exact text that was signed and sent. */
  body: string;
}

export interface ReceivedRequest {
  /** The header `webhook-id`. */
  id: string;
  body: string;
  /** By the receiver's own check of the signature. */
  verified: boolean;
  /** The header `X-Delivery-Attempt`, 1 at first. */
  attempt: number;
  /** What the receiver answered; null: it let the request hang. */
  answered: number | null;
}

export interface History {
  /** Calls that a client was told of. */
  placed: ReadonlySet<string>;
  stored: readonly StoredEvent[];
  /** In the order of arrival. */
  received: readonly ReceivedRequest[];
}
