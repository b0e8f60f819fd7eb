import { expect, test } from 'vitest';
import { CallRoomGauge } from '../../../media/io/call-room.ts';
import { createCallRoom } from '../../../src/limits/call-room.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

function rig(moreCalls = 3, carriesCalls = 0) {
  const clock = new VirtualClock();
  const told = { moreCalls, alwaysCalls: 0, carriesCalls, scarce: 'voice' };
  const refusals: unknown[] = [];
  const room = createCallRoom({ source: { room: () => told }, clock, refusing: (why) => refusals.push(why) });
  return { clock, told, refusals, room };
}

test('calls that ring take the places that media has, and give them back when they were never dialled', () => {
  const { room, refusals } = rig();
  expect(['a', 'b', 'c', 'd'].map((callUuid) => room.take(callUuid, 'api'))).toEqual([true, true, true, false]);
  expect(room.has('api')).toBe(false);
  expect(refusals).toEqual([{ scarce: 'voice', expected: 3 }]);
  room.release('b');
  room.release('b');
  expect(room.take('d', 'api')).toBe(true);
  expect(room.take('e', 'api')).toBe(false);
});

test('a call that is carried keeps its place until media counts it itself', () => {
  const { clock, told, room } = rig(1);
  room.take('a', 'api');
  room.carried('a');
  expect(room.has('api')).toBe(false);
  clock.advanceMs(499);
  expect(room.has('api')).toBe(false);
  clock.advanceMs(1);
  expect(room.has('api')).toBe(true);
  told.moreCalls = 0;
  expect(room.has('api')).toBe(false);
});

test('where few answer, those that ring count in part, but never for nothing', () => {
  const { room } = rig(10);
  for (let i = 0; i < 200; i++) {
    room.take(`none-${i}`, 'api');
    room.gone(`none-${i}`);
  }
  let taken = 0;
  while (taken < 100 && room.take(`call-${taken}`, 'api')) taken++;
  expect(taken).toBe(37);
});

test('a call of which nobody says anything more is forgotten', () => {
  const { clock, room } = rig(1);
  room.take('a', 'api');
  clock.advanceMs(90_000);
  expect(room.expected).toBe(0);
  expect(room.take('b', 'api')).toBe(true);
});

test('when room is scarce a visitor of a website is refused before a campaign, and that before an API call', () => {
  const at = (moreCalls: number): boolean[] => {
    const { room } = rig(moreCalls, 100);
    return (['web', 'campaign', 'api', 'inbound'] as const).map((priority) => room.has(priority));
  };
  expect(at(11)).toEqual([true, true, true, true]);
  expect(at(6)).toEqual([false, true, true, true]);
  expect(at(1)).toEqual([false, false, true, true]);
  expect(at(0)).toEqual([false, false, false, false]);
});

test('the few calls that a late machine always takes are there for a visitor and a campaign too, and no more than they', () => {
  const { clock, told, room } = rig();
  const gauge = new CallRoomGauge(clock);
  const idle = { busyRatio: 0, lateMs: 0 };
  const late = {
    voice: idle,
    recogniser: idle,
    providers: idle,
    pipeline: idle,
    sockets: { busyRatio: 0.3, lateMs: 45 },
  };
  const talking: string[] = [];
  const pass = (ms: number): void => {
    for (let at = 0; at < ms; at += 250) {
      clock.advanceMs(250);
      const { moreCalls, always, carries } = gauge.measure(late, talking);
      Object.assign(told, { moreCalls, alwaysCalls: always, carriesCalls: carries });
    }
  };
  pass(10_000);
  expect(told).toMatchObject({ moreCalls: 4, carriesCalls: 93 });
  for (const callUuid of ['a', 'b', 'c', 'd']) {
    expect(room.has('campaign')).toBe(true);
    expect(room.take(callUuid, 'web')).toBe(true);
  }
  expect(room.take('e', 'inbound')).toBe(false);
  for (const callUuid of ['a', 'b', 'c']) {
    talking.push(callUuid);
    room.carried(callUuid);
  }
  room.release('d');
  pass(1_000);
  expect(room.take('d', 'campaign')).toBe(true);
  expect((['web', 'campaign', 'api', 'inbound'] as const).map((priority) => room.has(priority))).toEqual(
    Array(4).fill(false),
  );
});
