/** The judge of a cluster's run sees each fault: planted once, in calls that are well. */
import { expect, test } from 'vitest';
import type { EmulatedCall } from '../../../../bench/harness/emulator-process.ts';
import type { CallSeen } from '../../../fault/cluster/conversations.ts';
import { asLeft } from '../../../fault/cluster/fault.ts';
import { kept, moved } from '../../../fault/cluster/verdicts.ts';

const FAULT_AT = 10_000;

/** Streams and words as the phone has them, by when they began. */
function call(change: Partial<CallSeen> = {}, streams = [1_000], words = [1_500, 5_000]): CallSeen {
  const phone = {
    streams: streams.map((openedAtEpochMs) => ({ openedAtEpochMs, closedAtEpochMs: null, closeCode: null })),
    agentBegan: words.map((atEpochMs) => ({ atEpochMs, playedMs: 0 })),
  } as unknown as EmulatedCall;
  return {
    ...{ callUuid: 'c', number: '+1', node: 'b', endedReason: 'agent_hangup', epoch: 1, isWhole: true, phone },
    ...change,
  };
}

/** One whose next word came so long after the fault. */
const back = (afterMs: number, change: Partial<CallSeen> = {}): CallSeen =>
  call({ epoch: 2, ...change }, [1_000, FAULT_AT + afterMs - 100], [1_500, 9_900, FAULT_AT + afterMs]);

test('a call that was to notice nothing has one stream, one owner, its own end, and all was said', () => {
  expect(kept([call(), call()], 'there')).toEqual({ lines: ['2 of 2 calls there noticed nothing'], broken: [] });
  for (const harmed of [
    call({ epoch: 2 }),
    call({ endedReason: 'node_lost' }),
    call({ isWhole: false }),
    call({}, [1_000, 2_000]),
    call({ phone: null }),
  ]) {
    expect(kept([call(), harmed], 'there').broken).toHaveLength(1);
  }
});

test('of calls that were taken away the next word counts from the fault, by the phone', () => {
  const { lines, broken } = moved([back(800), back(1_000), back(1_400)], FAULT_AT, 1_500);
  expect(lines).toEqual([
    '3 of 3 calls lived on',
    'next word after p50 1000 ms, p95 1400 ms (1500 allowed), longest 1400 ms',
  ]);
  expect(broken).toEqual([]);
});

test.each<[string, CallSeen[]]>([
  ['there was none', []],
  ['the word was late', [back(1_501)]],
  ['it went on without a word', [back(800), call({ epoch: 2 }, [1_000, 10_500], [1_500])]],
  ['something was never said', [back(800, { isWhole: false })]],
  ['too many died', [...Array.from({ length: 18 }, () => back(800)), call({ endedReason: 'node_lost' })]],
])('%s: broken', (_what, calls) => {
  expect(moved(calls, FAULT_AT, 1_500).broken).toHaveLength(1);
});

test('one in twenty may die, and is counted by its cause', () => {
  const { lines, broken } = moved(
    [...Array.from({ length: 19 }, () => back(800)), call({ endedReason: 'node_lost' })],
    FAULT_AT,
    1_500,
  );
  expect(lines[0]).toBe('19 of 20 calls lived on; the others ended by 1 × node_lost');
  expect(broken).toEqual([]);
});

test('the word after a reset has 1.5 s where 40 % of the machine are left, and as much more as there is less', () => {
  const allowed = (restShare: number): number => asLeft(1_500, { restShare });
  expect([0.9, 0.4, 0.2, 0.01].map(allowed)).toEqual([1_500, 1_500, 3_000, 6_000]);
});
