import { describe, expect, test } from 'vitest';
import type { History } from '../../../../bench/chaos/history.ts';
import { checkHistory } from '../../../../bench/chaos/history-checker.ts';

/** Two calls: one talked and recorded, one busy. Nothing is wrong with it. */
function goodHistory(): History {
  const talked = '+14155510001';
  const busy = '+14155530002';
  const received = [
    { id: 'evt_1', callUuid: 'a', event: 'call.completed', sequence: 1, verified: true, body: '{"id":"evt_1"}' },
    { id: 'evt_3', callUuid: 'b', event: 'call.no_answer', sequence: 1, verified: true, body: '{"id":"evt_3"}' },
    { id: 'evt_2', callUuid: 'a', event: 'recording.ready', sequence: 2, verified: true, body: '{"id":"evt_2"}' },
  ];
  return {
    placements: [
      { number: talked, httpStatus: 200, callUuid: 'a', tries: 1 },
      { number: busy, httpStatus: 200, callUuid: 'b', tries: 2 },
    ],
    calls: [
      {
        callUuid: 'a',
        number: talked,
        status: 'completed',
        endedReason: 'user_hangup',
        answered: true,
        states: ['dialing', 'ringing', 'in_progress', 'completed'],
        reopened: 1,
      },
      {
        callUuid: 'b',
        number: busy,
        status: 'no_answer',
        endedReason: 'busy',
        answered: false,
        states: ['dialing', 'no_answer'],
        reopened: 0,
      },
    ],
    events: received.map(({ id, callUuid, event, sequence }) => ({
      id,
      callUuid,
      event,
      sequence,
      state: 'delivered',
      attempts: 1,
    })),
    received,
    phones: [
      { number: talked, answered: true, isOver: true, streams: [{ openedAtEpochMs: 1, closedAtEpochMs: 2 }] },
      { number: busy, answered: false, isOver: true, streams: [] },
    ],
  };
}

const rulesOf = (history: History): string[] => [...new Set(checkHistory(history).map(({ rule }) => rule))].sort();

/** Changes the first item of a list; `remove` takes it out. */
function broken(change: (history: Mutable) => void): string[] {
  const history = structuredClone(goodHistory()) as unknown as Mutable;
  change(history);
  return rulesOf(history as unknown as History);
}

// biome-ignore lint/suspicious/noExplicitAny: histories are broken on purpose, in every way.
type Mutable = Record<keyof History, any[]>;

test('a history in which nothing went wrong breaks no rule', () => {
  expect(checkHistory(goodHistory())).toEqual([]);
});

test('a repetition with the same body is no fault, and neither is an event that overtakes one whose first attempt failed', () => {
  const history = structuredClone(goodHistory()) as unknown as Mutable;
  history.received.push(structuredClone(history.received[0]));
  expect(checkHistory(history as unknown as History)).toEqual([]);
  history.received = [history.received[2], history.received[0], history.received[1]];
  expect(rulesOf(history as unknown as History)).toEqual(['events come in order']);
  history.events[0].attempts = 2;
  expect(checkHistory(history as unknown as History)).toEqual([]);
});

describe('a broken history is seen', () => {
  test.each<[string, (history: Mutable) => void, string[]]>([
    ['no answer ever came', (h) => (h.placements[0].httpStatus = null), ['every request is answered']],
    ['a good request was refused', (h) => (h.placements[0].httpStatus = 422), ['a good request is taken']],
    [
      'a call that was told is not in the database',
      (h) => {
        h.calls.shift();
        h.events = h.events.filter(({ callUuid }: { callUuid: string }) => callUuid !== 'a');
        h.received = h.received.filter(({ callUuid }: { callUuid: string }) => callUuid !== 'a');
      },
      ['no call is lost', 'no phone rings without a call'],
    ],
    ['the client was told another id', (h) => (h.placements[0].callUuid = 'b'), ['no call is lost']],
    ['a call nobody asked for', (h) => h.placements.pop(), ['no call is invented']],
    [
      'one request made two calls',
      (h) => {
        h.calls.push({ ...h.calls[1], callUuid: 'c' });
        h.events.push({ ...h.events[1], id: 'evt_4', callUuid: 'c' });
        h.received.push({ ...h.received[1], id: 'evt_4', callUuid: 'c' });
      },
      ['one request makes one call'],
    ],
    ['a phone rang twice', (h) => h.phones.push(h.phones[0]), ['no phone is rung twice']],
    ['a phone is off the hook', (h) => (h.phones[0].isOver = false), ['no phone stays off the hook']],
    ['a talk with nobody', (h) => (h.phones[0].answered = false), ['only who answered was talked to']],
    [
      'a call never ended',
      (h) => {
        h.calls[0].status = 'in_progress';
        h.calls[0].states.pop();
      },
      ['every call ends', 'the event says the state'],
    ],
    ['an end without a reason', (h) => (h.calls[1].endedReason = null), ['every end has a reason']],
    [
      'two ends',
      (h) => h.calls[0].states.push('failed'),
      ['one terminal state', 'states follow legally', 'the row says what the log says'],
    ],
    [
      'a state was left for an earlier one',
      (h) => h.calls[0].states.splice(3, 0, 'ringing'),
      ['states follow legally'],
    ],
    [
      'two terminal events are stored',
      (h) => (h.events[2].event = 'call.failed'),
      [
        'one terminal event a call',
        'the event says the state',
        'the terminal event is the first',
        'what is received is what is stored',
      ],
    ],
    [
      'two terminal events were received',
      (h) => (h.received[2].event = 'call.failed'),
      ['one terminal event is received a call', 'what is received is what is stored'],
    ],
    ['an event was never received', (h) => h.received.pop(), ['no event is lost']],
    [
      'an event was made up',
      (h) => h.received.push({ ...h.received[0], id: 'evt_9', event: 'recording.ready', sequence: 3 }),
      ['no event is invented'],
    ],
    ['a signature is wrong', (h) => (h.received[0].verified = false), ['every event is signed']],
    [
      'a repetition has another body',
      (h) => h.received.push({ ...h.received[0], body: '{}' }),
      ['a repetition has the same body'],
    ],
    [
      'a delivery that came is still pending',
      (h) => (h.events[0].state = 'pending'),
      ['a delivered event is known as such'],
    ],
  ])('%s', (_what, change, rules) => {
    expect(broken(change)).toEqual([...rules].sort());
  });
});
