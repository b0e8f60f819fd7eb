/**
 * Judges a run by what everybody saw of it: no call lost or invented, no phone rung twice, each call's states in a legal order with one
 * end, one terminal event a call, every event delivered, in order, signed. Pure; it knows nothing of who was killed when.
 * The rules are the contract's (§1 states, §6 webhooks), written here anew and not taken from the code that is judged.
 */
import type { CallRow, History, ReceivedEvent, StoredEvent } from './history.ts';

export interface Violation {
  rule: string;
  what: string;
}

type Tell = (rule: string, what: string) => void;

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
export function checkCalls(history: History): Violation[] {
  const { violations, tell } = collector();
  const byUuid = new Map(history.calls.map((call) => [call.callUuid, call]));
  const byNumber = grouped(history.calls, ({ number }) => number);
  const phones = grouped(history.phones, ({ number }) => number);
  for (const { number, httpStatus, callUuid } of history.placements) {
    if (httpStatus === null) tell('every request is answered', number);
    else if (httpStatus >= 400 && httpStatus < 500)
      tell('a good request is taken', `${number} was answered ${httpStatus}`);
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
export function checkWebhooks(history: History): Violation[] {
  const { violations, tell } = collector();
  const stored = new Map(history.events.map((event) => [event.id, event]));
  const storedOf = grouped(history.events, ({ callUuid }) => callUuid);
  const receivedOf = grouped(history.received, ({ callUuid }) => callUuid);
  const receivedIds = new Set(history.received.map(({ id }) => id));
  for (const { callUuid, status } of history.calls) {
    const terminal = (storedOf.get(callUuid) ?? []).filter(({ event }) => TERMINAL_EVENTS.has(event));
    if (terminal.length !== 1) tell('one terminal event a call', `${callUuid} has ${terminal.length}`);
    for (const { event, sequence } of terminal) {
      if (event !== `call.${status}`) tell('the event says the state', `${callUuid} is ${status} and told as ${event}`);
      if (sequence !== 1) tell('the terminal event is the first', `${callUuid}: ${sequence}`);
    }
    const told = (receivedOf.get(callUuid) ?? []).filter(({ event }) => TERMINAL_EVENTS.has(event));
    const ids = new Set(told.map(({ id }) => id));
    if (ids.size > 1) tell('one terminal event is received a call', `${callUuid}: ${[...ids].join(', ')}`);
    checkOrder(receivedOf.get(callUuid) ?? [], stored, tell);
  }
  for (const { id, callUuid, event, state } of history.events) {
    if (!receivedIds.has(id)) tell('no event is lost', `${id} ${event} of ${callUuid}, its delivery is ${state}`);
    else if (state !== 'delivered') tell('a delivered event is known as such', `${id} ${event}: ${state}`);
  }
  const bodies = new Map<string, string>();
  for (const { id, event, callUuid, verified, body } of history.received) {
    if (!verified) tell('every event is signed', id);
    const known = stored.get(id);
    if (known === undefined) tell('no event is invented', id);
    else if (known.callUuid !== callUuid || known.event !== event) tell('what is received is what is stored', id);
    if ((bodies.get(id) ?? body) !== body) tell('a repetition has the same body', id);
    bodies.set(id, body);
  }
  return violations;
}

/** First arrivals come in the order of `sequence`; an event whose first attempt failed may be overtaken. */
function checkOrder(received: readonly ReceivedEvent[], stored: ReadonlyMap<string, StoredEvent>, tell: Tell): void {
  const first = received.filter(({ id }, at) => received.findIndex((other) => other.id === id) === at);
  for (let at = 0; at < first.length; at++) {
    const late = first[at]!;
    const overtaker = first.slice(0, at).find(({ sequence }) => sequence > late.sequence);
    if (overtaker !== undefined && (stored.get(late.id)?.attempts ?? 0) <= 1) {
      tell('events come in order', `${late.callUuid}: ${overtaker.sequence} before ${late.sequence}`);
    }
  }
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
