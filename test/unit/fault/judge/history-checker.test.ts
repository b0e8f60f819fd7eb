/** A checker that finds nothing is worth nothing: each fault is planted once in a history that is otherwise sound. */
import { describe, expect, test } from 'vitest';
import type { History } from '../../../fault/judge/history.ts';
import { checkHistory, checkWebhooks, violationLines } from '../../../fault/judge/history-checker.ts';

const bodyOf = (id: string, callUuid: string, event: string, sequence: number): string =>
  JSON.stringify({ id, callUuid, event, sequence });

/** Two calls: one talked and recorded, one busy. Nothing is wrong with it. */
function goodHistory(): History {
  const talked = '+14155510001';
  const busy = '+14155530002';
  const events = [
    { id: 'evt_1', callUuid: 'a', event: 'call.completed', sequence: 1 },
    { id: 'evt_3', callUuid: 'b', event: 'call.no_answer', sequence: 1 },
    { id: 'evt_2', callUuid: 'a', event: 'recording.ready', sequence: 2 },
  ].map((one) => ({ ...one, body: bodyOf(one.id, one.callUuid, one.event, one.sequence), state: 'delivered' }));
  return {
    placements: [
      { number: talked, httpStatus: 200, callUuid: 'a', tries: 1 },
      { number: busy, httpStatus: 200, callUuid: 'b', tries: 2 },
    ],
    told: new Set(['a', 'b']),
    asked: new Set(),
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
    events,
    received: events.map(({ id, body }) => ({ id, body, verified: true, attempt: 1, answered: 200 })),
    phones: [
      { number: talked, answered: true, isOver: true, streams: [{ openedAtEpochMs: 1, closedAtEpochMs: 2 }] },
      { number: busy, answered: false, isOver: true, streams: [] },
    ],
  };
}

const rulesOf = (history: History): string[] => [...new Set(checkHistory(history).map(({ rule }) => rule))].sort();

// biome-ignore lint/suspicious/noExplicitAny: histories are changed on purpose, in every way.
type Mutable = Record<keyof History, any>;
type Change = (history: Mutable) => void;

function rulesAfter(change: Change): string[] {
  const history = structuredClone(goodHistory()) as unknown as Mutable;
  change(history);
  return rulesOf(history as unknown as History);
}

/** The call that talked was also told of as ringing. */
const withRinging: Change = (h) => {
  h.asked.add('call.ringing');
  for (const of of [h.events, h.received]) {
    for (const one of of.filter(({ id }: { id: string }) => id !== 'evt_3')) {
      const told = JSON.parse(one.body);
      one.body = bodyOf(told.id, told.callUuid, told.event, told.sequence + 1);
      if (one.sequence !== undefined) one.sequence++;
    }
  }
  const body = bodyOf('evt_0', 'a', 'call.ringing', 1);
  h.events.unshift({ id: 'evt_0', callUuid: 'a', event: 'call.ringing', sequence: 1, body, state: 'delivered' });
  h.received.unshift({ id: 'evt_0', body, verified: true, attempt: 1, answered: 200 });
};

describe('a sound history breaks no rule', () => {
  test.each<[string, Change]>([
    ['each event once', () => {}],
    ['a repetition with the same body', (h) => h.received.push({ ...h.received[0], attempt: 2 })],
    [
      'failed, overtaken, then taken',
      (h) => {
        h.received[0].answered = 500;
        h.received.push({ ...h.received[0], attempt: 2, answered: 200 });
      },
    ],
    [
      'the first attempt never arrived, and was overtaken',
      (h) => h.received.push({ ...h.received.shift(), attempt: 2 }),
    ],
    [
      'cut off by a death, and made again under its number',
      (h) => {
        h.received[0].answered = null;
        h.received.push({ ...h.received[0], answered: 200 });
      },
    ],
    ['an event before the end that the receiver asked for', withRinging],
  ])('%s', (_what, change) => expect(rulesAfter(change)).toEqual([]));
});

describe('a broken history is seen', () => {
  test.each<[string, Change, string[]]>([
    ['no answer ever came', (h) => (h.placements[0].httpStatus = null), ['every request is answered']],
    ['a good request was refused', (h) => (h.placements[0].httpStatus = 422), ['a good request is taken']],
    [
      'a call that was told is not in the database',
      (h) => {
        h.calls.shift();
        h.events = h.events.filter(({ callUuid }: { callUuid: string }) => callUuid !== 'a');
        h.received = [h.received[1]];
      },
      ['no call is lost', 'no phone rings without a call', 'one terminal event a call'],
    ],
    ['the client was told another id', (h) => (h.placements[0].callUuid = 'b'), ['no call is lost']],
    ['a call nobody asked for', (h) => h.placements.pop(), ['no call is invented']],
    [
      'one request made two calls',
      (h) => {
        const body = bodyOf('evt_4', 'c', 'call.no_answer', 1);
        h.calls.push({ ...h.calls[1], callUuid: 'c' });
        h.events.push({ ...h.events[1], id: 'evt_4', callUuid: 'c', body });
        h.received.push({ ...h.received[1], id: 'evt_4', body });
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
      (h) => (h.received[2].body = bodyOf('evt_2', 'a', 'call.failed', 2)),
      ['one terminal event is received a call', 'what is received is what is stored'],
    ],
    [
      'a call that was told has no event',
      (h) => {
        h.events.splice(1, 1);
        h.received.splice(1, 1);
      },
      ['one terminal event a call'],
    ],
    [
      'an event before the end that nobody asked for',
      (h) => {
        withRinging(h);
        h.asked.clear();
      },
      ['the terminal event is the first'],
    ],
    [
      'a hole in the numbers',
      (h) => {
        h.events.shift();
        h.received.shift();
      },
      ['events are numbered from 1 without a hole', 'one terminal event a call'],
    ],
    ['an event was never received', (h) => h.received.pop(), ['no event is lost']],
    ['an event was received and never taken', (h) => (h.received[2].answered = 503), ['no event is lost']],
    ['an event hung', (h) => (h.received[2].answered = null), ['no event is lost']],
    [
      'an event was made up',
      (h) => h.received.push({ ...h.received[0], id: 'evt_9', body: bodyOf('evt_9', 'a', 'recording.ready', 3) }),
      ['no event is invented'],
    ],
    ['a signature is wrong', (h) => (h.received[0].verified = false), ['every event is signed']],
    [
      'a repetition has another body',
      (h) => h.received.push({ ...h.received[0], body: '{}' }),
      ['what is received is what is stored'],
    ],
    [
      'a body says another call than its row',
      (h) => {
        for (const one of [h.events[2], h.received[2]]) one.body = bodyOf('evt_2', 'b', 'recording.ready', 2);
      },
      ['what is received is what is stored'],
    ],
    [
      'a delivery that came is still pending',
      (h) => (h.events[0].state = 'pending'),
      ['a delivered event is known as such'],
    ],
    ['an event overtook another', (h) => h.received.push(h.received.shift()), ['events come in order']],
  ])('%s', (_what, change, rules) => {
    expect(rulesAfter(change)).toEqual([...rules].sort());
  });
});

test('webhooks are judged by themselves where nobody placed calls through a carrier', () => {
  const { told, asked, calls, events, received } = goodHistory();
  expect(checkWebhooks({ told, asked, calls, events, received })).toEqual([]);
  const broken = checkWebhooks({ told: new Set([...told, 'c']), asked, calls, events, received: received.slice(1) });
  expect(violationLines(broken)).toEqual([
    'one terminal event a call: c has 0',
    'no event is lost: evt_1 call.completed of a was never taken, its delivery is delivered',
  ]);
});

test('of many violations people are told the first, and how many there are', () => {
  const many = Array.from({ length: 25 }, (_, at) => ({ rule: 'no event is lost', what: String(at) }));
  expect(violationLines(many)).toHaveLength(21);
  expect(violationLines(many).at(-1)).toBe('… and 5 more');
});
