/**
 * What a socket server tells of its connections, by the address of whoever holds the other end: a client, or a proxy
 * before us. A connection opens and waits; it asks, which ends the wait; it is answered, and waits again. One that
 * becomes a socket of a route is gone from here.
 */
export interface ConnectionWatch {
  /** False: it is to be closed at once, and nothing more is said of it. */
  opened(peer: string): boolean;
  asked(peer: string): void;
  /** And kept for another request. */
  answered(peer: string): void;
  /** Not told of one that waits again after an answer, where the server does not know whose it was. */
  gone(peer: string, wasAsking: boolean): void;
}

/** Where nobody watches. */
export const UNWATCHED: ConnectionWatch = { opened: () => true, asked() {}, answered() {}, gone() {} };
