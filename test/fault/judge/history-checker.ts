/**
 * Judges a run by what everybody saw of it: no call lost or invented, no phone rung twice, each call's states in a
 * legal order with one end, one terminal event a call, every event delivered, in order, signed. Pure; it knows nothing
 * of who was killed when. A test plants each fault once. The rules are the contract's (§1 states, §6 webhooks), written
 * here anew and not taken from the code that is judged.
 */
import type { CallHistory, CallRow, History, ReceivedRequest, StoredEvent, WebhookHistory } from './history.ts';

export interface Violation {
  rule: string;
  what: string;
}

type Tell = (rule: string, what: string) => void;

const TOLD_AT_MOST = 20;
const TERMINAL = new Set(['completed', 'no_answer', 'failed']);
const TERMINAL_EVENTS = new Set(['call.completed', 'call.no_answer', 'call.failed']);
/** Contract §1: what may follow what. */
const FOLLOWS: Readonly<Record<string, readonly string[]>> = {
  queued: ['dialing', 'failed'],
  dialing: ['ringing', 'in_progress', 'no_answer', 'failed'],
  ringing: ['in_progress', 'no_answer', 'failed'],
  in_progress: ['completed', 'failed'],
};

/** Empty when the history keeps every rule. */
export function checkHistory(history: History): Violation[] {
  return [...checkCalls(history), ...checkWebhooks(history)];
}

/** Placements, states, phones. */
function checkCalls(history: CallHistory): Violation[] {
  const { violations, tell } = collector();
  const byUuid = new Map(history.calls.map((call) => [call.callUuid, call]));
  const byNumber = grouped(history.calls, ({ number }) => number);
  const phones = grouped(history.phones, ({ number }) => number);
  for (const { number, httpStatus, errorCode = null, callUuid } of history.placements) {
    if (httpStatus === null) tell('every request is answered', number);
    else if (httpStatus >= 400 && httpStatus < 500)
      tell('a good request is taken', `${number} was answered ${httpStatus} ${errorCode}`);
    if (httpStatus === 200 && (callUuid === null || byUuid.get(callUuid)?.number !== number)) {
      tell('no call is lost', `${number} was told ${callUuid}, which the database does not have`);
    }
    const calls = byNumber.get(number) ?? [];
    if (calls.length > 1) tell('one request makes one call', `${number} has ${calls.length}`);
    const rung = phones.get(number) ?? [];
    if (rung.length > 1) tell('no phone is rung twice', `${number} was dialled ${rung.length} times`);
    if (rung.length > 0 && calls.length === 0) tell('no phone rings without a call', number);
  }
  const wanted = new Set(history.placements.map(({ number }) => number));
  for (const call of history.calls) {
    if (!wanted.has(call.number)) tell('no call is invented', `${call.callUuid} to ${call.number}`);
    checkStates(call, tell);
    const phone = phones.get(call.number)?.[0];
    if (phone !== undefined && !phone.isOver) tell('no phone stays off the hook', `${call.callUuid} ${call.status}`);
    if (call.answered && phone?.answered !== true) tell('only who answered was talked to', call.callUuid);
    if (call.status === 'completed' && !call.answered) tell('completed means answered', call.callUuid);
    if (call.status === 'no_answer' && call.answered) tell('no_answer means not answered', call.callUuid);
  }
  return violations;
}

function checkStates({ callUuid, status, endedReason, states }: CallRow, tell: Tell): void {
  if (!TERMINAL.has(status)) tell('every call ends', `${callUuid} is ${status}`);
  else if (endedReason === null) tell('every end has a reason', callUuid);
  const path = states.join(' > ');
  if (states.length === 0 || !['queued', 'dialing'].includes(states[0]!)) tell('states begin at the beginning', path);
  for (let at = 1; at < states.length; at++) {
    if (!FOLLOWS[states[at - 1]!]?.includes(states[at]!)) tell('states follow legally', `${callUuid}: ${path}`);
  }
  if (states.filter((state) => TERMINAL.has(state)).length > 1) tell('one terminal state', `${callUuid}: ${path}`);
  if (states.at(-1) !== status) tell('the row says what the log says', `${callUuid}: ${path}, row ${status}`);
}

/** Terminal events, deliveries, signatures, order. */
export function checkWebhooks(history: WebhookHistory): Violation[] {
  const { violations, tell } = collector();
  const storedOf = grouped(history.events, ({ callUuid }) => callUuid);
  const receivedOf = grouped(history.received, ({ body }) => String(toldBy(body)['callUuid']));
  const statusOf = new Map(history.calls.map(({ callUuid, status }) => [callUuid, status]));
  for (const callUuid of new Set([...history.told, ...statusOf.keys(), ...storedOf.keys()])) {
    const stored = storedOf.get(callUuid) ?? [];
    checkEventsOfCall(callUuid, stored, { status: statusOf.get(callUuid), asked: history.asked }, tell);
    const ends = (receivedOf.get(callUuid) ?? []).filter(({ body }) =>
      TERMINAL_EVENTS.has(String(toldBy(body)['event'])),
    );
    const ids = new Set(ends.map(({ id }) => id));
    if (ids.size > 1) tell('one terminal event is received a call', `${callUuid}: ${[...ids].join(', ')}`);
  }
  const taken = new Set(history.received.filter(isTaken).map(({ id }) => id));
  for (const { id, callUuid, event, state } of history.events) {
    if (!taken.has(id))
      tell('no event is lost', `${id} ${event} of ${callUuid} was never taken, its delivery is ${state}`);
    else if (state !== 'delivered') tell('a delivered event is known as such', `${id} ${event}: ${state}`);
  }
  const byId = new Map(history.events.map((event) => [event.id, event]));
  for (const { id, verified, body } of history.received) {
    if (!verified) tell('every event is signed', id);
    const known = byId.get(id);
    if (known === undefined) tell('no event is invented', id);
    else if (known.body !== body) tell('what is received is what is stored', `${id} was sent with another body`);
    else if (!isOf(known)) tell('what is received is what is stored', `${id} does not say what its row says`);
  }
  checkOrder(history.received, byId, tell);
  return violations;
}

/** As stored: one end, in its place, and numbers without a hole. */
function checkEventsOfCall(
  callUuid: string,
  stored: readonly StoredEvent[],
  { status, asked }: { status: string | undefined; asked: ReadonlySet<string> },
  tell: Tell,
): void {
  const terminal = stored.filter(({ event }) => TERMINAL_EVENTS.has(event));
  if (terminal.length !== 1) tell('one terminal event a call', `${callUuid} has ${terminal.length}`);
  for (const { event, sequence } of terminal) {
    if (status !== undefined && event !== `call.${status}`) {
      tell('the event says the state', `${callUuid} is ${status} and told as ${event}`);
    }
    const before = stored.filter((one) => one.sequence < sequence && !asked.has(one.event));
    if (before.length > 0) tell('the terminal event is the first', `${callUuid}: ${before[0]!.event} is before it`);
  }
  const numbers = stored.map(({ sequence }) => sequence).sort((a, b) => a - b);
  if (numbers.some((number, at) => number !== at + 1)) {
    tell('events are numbered from 1 without a hole', `${callUuid} has ${numbers.join(', ')}`);
  }
}

function isTaken({ answered }: ReceivedRequest): boolean {
  return answered !== null && answered >= 200 && answered < 300;
}

/** The body of a stored event says the same as the columns of its row. */
function isOf({ id, callUuid, event, sequence, body }: StoredEvent): boolean {
  const told = toldBy(body);
  return told['id'] === id && told['callUuid'] === callUuid && told['event'] === event && told['sequence'] === sequence;
}

function toldBy(body: string): Record<string, unknown> {
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/**
 * An event's first attempt begins only after the first attempt of the event before it has ended. A first attempt that
 * never reached the receiver shows in the attempt number of the next.
 */
function checkOrder(received: readonly ReceivedRequest[], byId: ReadonlyMap<string, StoredEvent>, tell: Tell): void {
  const furthest = new Map<string, number>();
  const seen = new Set<string>();
  for (const { id, attempt } of received) {
    const event = byId.get(id);
    if (event === undefined) continue;
    const { callUuid, sequence } = event;
    const before = furthest.get(callUuid) ?? 0;
    // An attempt that was cut off by a death is made again under its number, so what was seen may come again.
    if (attempt === 1 && sequence < before && !seen.has(id)) {
      tell('events come in order', `${callUuid}: ${event.event} (${sequence}) began after number ${before}`);
    }
    seen.add(id);
    furthest.set(callUuid, Math.max(before, sequence));
  }
}

/** For people: the first of many, and how many there are. */
export function violationLines(violations: readonly Violation[]): string[] {
  const more = violations.length - TOLD_AT_MOST;
  const lines = violations.slice(0, TOLD_AT_MOST).map(({ rule, what }) => `${rule}: ${what}`);
  return more > 0 ? [...lines, `… and ${more} more`] : lines;
}

function collector(): { violations: Violation[]; tell: Tell } {
  const violations: Violation[] = [];
  return { violations, tell: (rule, what) => violations.push({ rule, what }) };
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
