/** A connection that fails for everybody is left alone for a while, and no call is lost by it. */
import { expect, test } from 'vitest';
import { ConnectionBreakers } from '../../../../../media/engines/provider/connection-breakers.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const FAILED = { fault: 'failed' } as const;
const WELL = { fault: null } as const;

function failing(times: number) {
  const clock = new VirtualClock();
  const breakers = new ConnectionBreakers(clock);
  for (let i = 0; i < times; i++) breakers.settled('main', FAILED);
  return { clock, breakers };
}

test('four failures in a row, and each call is refused once; another connection is not', () => {
  const { breakers } = failing(3);
  expect(breakers.refusal('main', 'call-1')).toBeNull();
  breakers.settled('main', { fault: 'timeout' });
  expect(breakers.refusal('main', 'call-1')).toContain('4 times');
  expect(breakers.refusal('main', 'call-2')).not.toBeNull();
  expect(breakers.refusal('main', 'call-1')).toBeNull();
  expect(breakers.refusal('other', 'call-1')).toBeNull();
});

test('an answer between failures begins the count anew', () => {
  const { breakers } = failing(3);
  breakers.settled('main', WELL);
  breakers.settled('main', FAILED);
  expect(breakers.refusal('main', 'call-1')).toBeNull();
});

test('after 5 s one call tries, and its answer closes it for all', () => {
  const { clock, breakers } = failing(4);
  clock.advanceMs(5_000);
  expect(breakers.refusal('main', 'call-1')).toBeNull();
  expect(breakers.refusal('main', 'call-2')).not.toBeNull();
  breakers.settled('main', WELL);
  expect(breakers.refusal('main', 'call-3')).toBeNull();
});

test('what is refused or throttled, or taken back early, says nothing; silence that was taken back is a failure', () => {
  const { breakers } = failing(3);
  breakers.settled('main', { fault: 'throttled' });
  breakers.settled('main', { fault: 'refused' });
  breakers.settled('main', { takenBackAfterMs: 400, spoke: false });
  expect(breakers.refusal('main', 'call-1')).toBeNull();
  breakers.settled('main', { takenBackAfterMs: 1_200, spoke: false });
  expect(breakers.refusal('main', 'call-1')).not.toBeNull();
});

test('what was taken back in the middle of an answer was well', () => {
  const { breakers } = failing(3);
  breakers.settled('main', { takenBackAfterMs: 4_000, spoke: true });
  breakers.settled('main', FAILED);
  expect(breakers.refusal('main', 'call-1')).toBeNull();
});

test('a call that is over is forgotten: a connection that never comes back remembers no more than live calls', () => {
  const { breakers } = failing(4);
  expect(breakers.refusal('main', 'call-1')).not.toBeNull();
  breakers.forget('call-1');
  expect(breakers.refusal('main', 'call-1')).not.toBeNull();
});
