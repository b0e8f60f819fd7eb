/** A checker that finds nothing is worth nothing: each fault is planted once in a history that is otherwise sound. */
import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../../bench/harness/seeded-random.ts';
import { faultsOfHistory } from '../../../../bench/history/checker.ts';
import type { ReceivedRequest, StoredEvent } from '../../../../bench/history/history.ts';
import { drawSchedule } from '../../../../bench/history/nemesis.ts';

const stored = (sequence: number, event: string): StoredEvent => ({
  id: `evt_${sequence}`,
  callUuid: 'call-1',
  event,
  sequence,
  body: `{"sequence":${sequence}}`,
});
const RINGING = stored(1, 'call.ringing');
const ENDED = stored(2, 'call.no_answer');
const request = (event: StoredEvent, more: Partial<ReceivedRequest> = {}): ReceivedRequest => ({
  id: event.id,
  body: event.body,
  verified: true,
  attempt: 1,
  answered: 200,
  ...more,
});
const faults = (received: ReceivedRequest[], events = [RINGING, ENDED], placed = ['call-1']): string[] =>
  faultsOfHistory({ placed: new Set(placed), stored: events, received });

describe('a sound history', () => {
  test.each<[string, ReceivedRequest[]]>([
    ['each once', [request(RINGING), request(ENDED)]],
    ['one twice', [request(RINGING), request(ENDED), request(RINGING, { attempt: 2 })]],
    ['failed, then taken', [request(RINGING, { answered: 500 }), request(ENDED), request(RINGING, { attempt: 2 })]],
    ['the first attempt never arrived', [request(ENDED), request(RINGING, { attempt: 2 })]],
    ['cut off by a death', [request(RINGING, { answered: null }), request(ENDED), request(RINGING)]],
  ])('%s', (_what, received) => expect(faults(received)).toEqual([]));
});

describe('a planted fault is found', () => {
  test.each<[string, string[], RegExp]>([
    ['never sent', faults([request(RINGING)]), /^lost: call.no_answer/],
    ['sent, never taken', faults([request(RINGING), request(ENDED, { answered: 503 })]), /^lost: call.no_answer/],
    ['hung', faults([request(RINGING), request(ENDED, { answered: null })]), /^lost/],
    ['stands nowhere', faults([request(RINGING), request(ENDED), request(stored(9, 'x'))]), /^invented: evt_9/],
    ['another body', faults([request(RINGING), request(ENDED, { body: '{}' })]), /^changed: evt_2/],
    ['no signature', faults([request(RINGING), request(ENDED, { verified: false })]), /^unsigned: evt_2/],
    ['order', faults([request(ENDED), request(RINGING)]), /^order: call.ringing \(1\) .* after number 2/],
    ['no end', faults([request(RINGING)], [RINGING]), /^ends: call call-1 has 0/],
    [
      'two ends',
      faults([request(ENDED), request(stored(3, 'call.failed'))], [ENDED, stored(3, 'call.failed')]),
      /2 term/,
    ],
    [
      'a call without anything',
      faults([request(RINGING), request(ENDED)], [RINGING, ENDED], ['call-2']),
      /call-2 has 0/,
    ],
    ['a hole in the numbers', faults([request(ENDED)], [ENDED]), /^numbers: call call-1 has events 2/],
  ])('%s', (_what, found, expected) => expect(found.join('\n')).toMatch(new RegExp(expected.source, 'm')));
});

describe('a schedule', () => {
  const draw = (seed: number, hasQueueServer = true): ReturnType<typeof drawSchedule> =>
    drawSchedule(createRandom(seed), { lengthMs: 10_000, hasQueueServer });

  test('has every kind, in time, in another order for another seed and in the same for the same', () => {
    const kinds = draw(1).map((strike) => (strike.kind === 'receiver' ? strike.mode : strike.kind));
    expect([...kinds].sort()).toEqual(['control', 'database', 'fail', 'hang', 'media', 'queue', 'refuse']);
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
    for (const [index, { atMs }] of draw(3).entries()) {
      expect(atMs).toBeGreaterThanOrEqual(index === 0 ? 0 : draw(3)[index - 1]!.atMs);
      expect(atMs).toBeLessThanOrEqual(10_000);
    }
  });

  test('strikes no queue server where there is none', () => {
    expect(draw(1, false).some(({ kind }) => kind === 'queue')).toBe(false);
  });
});
