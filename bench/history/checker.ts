/**
 * Does a history keep what webhooks promise (contract §6)? Nothing lost, nothing invented, order in each call, exactly one terminal
 * event a call, every signature valid. Pure: the runs that produce histories are `run.ts`, and a test plants each fault once.
 */
import type { History, ReceivedRequest, StoredEvent } from './history.ts';

const TERMINAL: ReadonlySet<string> = new Set(['call.completed', 'call.no_answer', 'call.failed']);
const TOLD_AT_MOST = 20;

/** Faults in plain words; empty when the history is sound. */
export function faultsOfHistory(history: History): string[] {
  return [...lost(history), ...invented(history), ...outOfOrder(history), ...ends(history)];
}

/** For people: the first of many, and how many there are. */
export function faultLines(faults: readonly string[]): string[] {
  const more = faults.length - TOLD_AT_MOST;
  return more > 0 ? [...faults.slice(0, TOLD_AT_MOST), `… and ${more} more`] : [...faults];
}

/** Every stored event was taken by the receiver at least once. */
function lost({ stored, received }: History): string[] {
  const taken = new Set(received.filter(isTaken).map(({ id }) => id));
  return stored
    .filter(({ id }) => !taken.has(id))
    .map(({ id, event, callUuid }) => `lost: ${event} of call ${callUuid} (${id}) was never taken`);
}

function isTaken({ answered }: ReceivedRequest): boolean {
  return answered !== null && answered >= 200 && answered < 300;
}

/** Every request carries a stored event, letter for letter, with a valid signature. */
function invented({ stored, received }: History): string[] {
  const byId = new Map(stored.map((event) => [event.id, event]));
  const faults: string[] = [];
  for (const { id, body, verified } of received) {
    const event = byId.get(id);
    if (event === undefined) faults.push(`invented: ${id} stands in no call`);
    else if (event.body !== body) faults.push(`changed: ${id} was sent with another body than is stored`);
    if (!verified) faults.push(`unsigned: ${id} has no valid signature`);
  }
  return faults;
}

/**
 * An event's first attempt begins only after the first attempt of the event before it has ended. A first attempt that never
 * reached the receiver shows in the attempt number of the next.
 */
function outOfOrder({ stored, received }: History): string[] {
  const byId = new Map(stored.map((event) => [event.id, event]));
  const furthest = new Map<string, number>();
  const seen = new Set<string>();
  const faults: string[] = [];
  for (const { id, attempt } of received) {
    const event = byId.get(id);
    if (event === undefined) continue;
    const { callUuid, sequence } = event;
    const before = furthest.get(callUuid) ?? 0;
    // An attempt that was cut off by a death is made again under its number, so what was seen may come again.
    if (attempt === 1 && sequence < before && !seen.has(id)) {
      faults.push(`order: ${event.event} (${sequence}) of call ${callUuid} began after number ${before}`);
    }
    seen.add(id);
    furthest.set(callUuid, Math.max(before, sequence));
  }
  return faults;
}

/** Each call that a client was told of has one terminal event, and so has every other; numbers begin at 1 without a hole. */
function ends({ placed, stored }: History): string[] {
  const byCall = new Map<string, StoredEvent[]>();
  for (const callUuid of placed) byCall.set(callUuid, []);
  for (const event of stored) {
    const events = byCall.get(event.callUuid);
    if (events === undefined) byCall.set(event.callUuid, [event]);
    else events.push(event);
  }
  const faults: string[] = [];
  for (const [callUuid, events] of byCall) {
    const terminal = events.filter(({ event }) => TERMINAL.has(event));
    if (terminal.length !== 1) faults.push(`ends: call ${callUuid} has ${terminal.length} terminal events`);
    const numbers = events.map(({ sequence }) => sequence).sort((a, b) => a - b);
    if (numbers.some((number, index) => number !== index + 1)) {
      faults.push(`numbers: call ${callUuid} has events ${numbers.join(', ')}`);
    }
  }
  return faults;
}
