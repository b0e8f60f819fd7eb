/**
 * Deliveries that this process has written lately: to whom, and of which call. So that who sends them need not look
 * that up, and does not try the second event of a call while the first is under way. A loss of it costs statements
 * only.
 */

export interface WrittenDelivery {
  endpointId: string;
  /** Null: of no call. */
  callUuid: string | null;
}

const MOST_REMEMBERED = 5_000;
const remembered = new Map<string, WrittenDelivery>();

export function rememberWritten(id: string, written: WrittenDelivery): void {
  remembered.set(id, written);
  if (remembered.size > MOST_REMEMBERED) remembered.delete(remembered.keys().next().value!);
}

export function writtenHere(id: string): WrittenDelivery | undefined {
  return remembered.get(id);
}
