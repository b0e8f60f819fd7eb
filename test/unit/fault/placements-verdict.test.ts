/** A judge that finds nothing is worth nothing: each fault is planted once. */
import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../bench/harness/seeded-random.ts';
import { planPlacements, WAYS, type Way } from '../../fault/placements/plan.ts';
import { type Dialled, type Ended, faultsOfRun, type PlacementOutcome } from '../../fault/placements/verdict.ts';

const NUMBER = '+14155000001';
const outcome = (way: Way, httpStatus: number, callUuids = ['call-1'], tookMs = 40): PlacementOutcome => ({
  planned: { number: NUMBER, way, idempotencyKey: null },
  httpStatus,
  errorCode: null,
  callUuids: new Set(callUuids),
  requests: 1,
  tookMs,
});
const rung = (hangupName: string | null): Dialled => ({ to: NUMBER.slice(1), hangupName });
const ends = (terminalEvents: number): Map<string, Ended> =>
  new Map([['call-1', { callUuid: 'call-1', status: 'no_answer', terminalEvents }]]);

describe('faultsOfRun', () => {
  test.each<[string, PlacementOutcome, Dialled[], Map<string, Ended>, RegExp | null]>([
    ['a busy number dialled once', outcome('accepted', 200), [rung('Busy Line')], ends(1), null],
    ['a refused one that was cancelled', outcome('late', 500), [rung('Cancelled')], ends(1), null],
    [
      'a number dialled twice',
      outcome('reset', 500),
      [rung('Cancelled'), rung('Busy Line')],
      ends(1),
      /dialled 2 times/,
    ],
    ['a number never dialled', outcome('accepted', 200), [], ends(1), /never dialled/],
    ['told 500, and rings on', outcome('late', 500), [rung('Declined')], ends(1), /rang on after .* 500: Declined/],
    [
      'an ordinary one told 500 late, and busy',
      outcome('accepted', 500, ['call-1'], 5_001),
      [rung('Busy Line')],
      ends(1),
      null,
    ],
    ['an ordinary one told 500 soon', outcome('accepted', 500), [rung('Busy Line')], ends(1), /rang on .* Busy Line/],
    ['an ordinary one told 500, and rings', outcome('accepted', 500), [rung(null)], ends(1), /still rings/],
    ['told 500, and rings still', outcome('late', 500), [rung(null)], ends(1), /still rings/],
    ['told 200, and cancelled', outcome('late', 200), [rung('Cancelled')], ends(1), /cancelled although/],
    [
      'two ids for one request',
      outcome('accepted', 200, ['call-1', 'call-2']),
      [rung('Busy Line')],
      ends(1),
      /2 call ids/,
    ],
    ['refused with 503 and never dialled', outcome('accepted', 503, []), [], new Map(), null],
    ['told 503, and dialled', outcome('accepted', 503, []), [rung('Busy Line')], new Map(), /dialled although .* 503/],
    ['no end', outcome('accepted', 200), [rung('Busy Line')], new Map(), /has no end/],
    ['two ends', outcome('accepted', 200), [rung('Busy Line')], ends(2), /2 terminal events/],
  ])('%s', (_what, one, dialled, ended, expected) => {
    const faults = faultsOfRun([one], dialled, ended);
    if (expected === null) expect(faults).toEqual([]);
    else expect(faults.join('\n')).toMatch(expected);
  });
});

test('a plan of 10,000 has a number each, every way near its share, and half of the keys', () => {
  const plan = planPlacements(10_000, createRandom(7));
  expect(new Set(plan.map(({ number }) => number)).size).toBe(10_000);
  for (const way of Object.keys(WAYS) as Way[]) {
    const share = plan.filter((one) => one.way === way).length / plan.length;
    expect(Math.abs(share - WAYS[way].share)).toBeLessThan(0.02);
  }
  expect(Math.abs(plan.filter(({ idempotencyKey }) => idempotencyKey !== null).length - 5_000)).toBeLessThan(300);
});
