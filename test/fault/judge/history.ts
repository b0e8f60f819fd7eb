/**
 * What everybody saw of a run, as data: the client that placed calls, the database, the webhook receiver, the carrier
 * with its phones. Gathered at a run's end (`gather-history.ts`); `history-checker.ts` judges it and sees nothing else.
 */

/** Of one thing that the client wanted, tried with one idempotency key until there was an answer. */
export interface PlacementSeen {
  number: string;
  /** The last answer's; null: none ever came. */
  httpStatus: number | null;
  /** Its X-Error-Code; absent: nobody asked. */
  errorCode?: string | null;
  callUuid: string | null;
  tries: number;
}

export interface CallRow {
  callUuid: string;
  number: string;
  status: string;
  endedReason: string | null;
  answered: boolean;
  /** States in the order in which the call's log has them, the first one included. */
  states: string[];
  /** Streams that the carrier was asked to open anew. */
  reopened: number;
}

export interface StoredEvent {
  id: string;
  callUuid: string;
  event: string;
  /** 1, 2, 3 … in a call. */
  sequence: number;
  /** The exact text that was signed and sent. */
  body: string;
  /** Of its delivery. */
  state: string;
}

export interface ReceivedRequest {
  /** The header `webhook-id`. */
  id: string;
  /** As it came. */
  body: string;
  /** By the receiver's own check of the signature. */
  verified: boolean;
  /** The header `X-Delivery-Attempt`, 1 at first. */
  attempt: number;
  /** The status that the receiver answered; null: it let the request hang. */
  answered: number | null;
}

/** One call at the carrier. */
export interface PhoneSeen {
  number: string;
  answered: boolean;
  isOver: boolean;
  streams: { openedAtEpochMs: number; closedAtEpochMs: number | null }[];
}

/** Of placements and phones. */
export interface CallHistory {
  placements: readonly PlacementSeen[];
  calls: readonly CallRow[];
  phones: readonly PhoneSeen[];
}

/** Of events and their deliveries. */
export interface WebhookHistory {
  /** Calls that a client was told of as placed. */
  told: ReadonlySet<string>;
  /** Opt-in events that the receiver asked for: they may come before a call's end. */
  asked: ReadonlySet<string>;
  calls: readonly Pick<CallRow, 'callUuid' | 'status'>[];
  /** As the database has them. */
  events: readonly StoredEvent[];
  /** As they came in, in order. */
  received: readonly ReceivedRequest[];
}

/** All of it. */
export interface History extends CallHistory, Omit<WebhookHistory, 'calls'> {}
