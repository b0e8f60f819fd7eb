import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Gate } from '../../../src/media-link/gate.ts';
import { BATCH_AFTER_MS, Inbox, type InboxOptions, UNFOLLOWED_BATCH_AFTER_MS } from '../../../src/media-link/inbox.ts';
import { LATE_AFTER_MS } from '../../../src/media-link/late-words.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

interface Said {
  number: number;
  call: string;
  live: boolean;
}

type Live = Said & { live: true };

/** An inbox whose handling a test releases by hand. */
function inboxOf(changes: Partial<InboxOptions<Said, Live>> = {}) {
  const clock = new VirtualClock();
  const begun: Said[][] = [];
  const finish: ((error?: Error) => void)[] = [];
  const acked: number[] = [];
  const paused: boolean[] = [];
  const begin = (messages: readonly Said[]): Promise<void> => {
    begun.push([...messages]);
    return new Promise<void>((resolve, reject) =>
      finish.push((error) => (error === undefined ? resolve() : reject(error))),
    );
  };
  const inbox = new Inbox<Said, Live>({
    clock,
    handle: (message, before) => begin([...before, message]),
    handleTogether: (calls) => begin(calls.flat()),
    isBatchable: (message): message is Live => message.live,
    shouldRetry: (error) => (error as Error).message === 'away',
    handledUpTo: (number) => void acked.push(number),
    setPaused: (value) => void paused.push(value),
    gate: new Gate(8),
    ...changes,
  });
  const push = (number: number, call: string, live = false): void => inbox.push(number, call, { number, call, live });
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 8; turn++) await Promise.resolve();
  };
  return { inbox, clock, begun, finish, acked, paused, push, settle };
}

describe('the inbox of a media process', () => {
  test('messages of one call wait for each other, those of another call do not', async () => {
    const { push, begun, finish, settle } = inboxOf();
    push(1, 'a');
    push(2, 'a');
    push(3, 'b');
    await settle();
    expect(begun.map((batch) => batch[0]!.number)).toEqual([1, 3]);
    finish[0]!();
    await settle();
    expect(begun.map((batch) => batch[0]!.number)).toEqual([1, 3, 2]);
  });

  test('only an unbroken run of handled messages is acknowledged', async () => {
    const { inbox, push, finish, acked, settle } = inboxOf();
    push(1, 'a');
    push(2, 'b');
    inbox.skip(3);
    await settle();
    finish[1]!();
    await settle();
    expect(acked).toEqual([]);
    finish[0]!();
    await settle();
    expect(acked).toEqual([3]);
  });

  test('while the database is away the same message is tried again each 500 ms, and what follows waits', async () => {
    const { push, begun, finish, acked, clock, settle } = inboxOf();
    push(1, 'a');
    push(2, 'a');
    for (let attempt = 0; attempt < 3; attempt++) {
      await settle();
      finish.at(-1)!(new Error('away'));
      await settle();
      clock.advanceMs(499);
      await settle();
      expect(begun).toHaveLength(attempt + 1);
      clock.advanceMs(1);
    }
    await settle();
    expect(begun.every((batch) => batch[0]!.number === 1)).toBe(true);
    expect(acked).toEqual([]);
    finish.at(-1)!();
    await settle();
    expect(begun.at(-1)![0]!.number).toBe(2);
    expect(acked).toEqual([1]);
  });

  test('a message that can never be stored is dropped and does not hold up the next', async () => {
    const { push, begun, finish, acked, settle } = inboxOf();
    push(1, 'a');
    push(2, 'a');
    await settle();
    finish[0]!(new Error('never'));
    await settle();
    expect(begun.at(-1)![0]!.number).toBe(2);
    expect(acked).toEqual([1]);
  });

  test('what was written is said, what was not or only skipped is not', async () => {
    let written = 0;
    const { inbox, clock, push, finish, settle } = inboxOf({ written: () => written++ });
    inbox.skip(1);
    push(2, 'a');
    await settle();
    finish[0]!(new Error('away'));
    await settle();
    push(3, 'b');
    await settle();
    finish[1]!(new Error('never'));
    await settle();
    expect(written).toBe(0);
    clock.advanceMs(500);
    await settle();
    finish[2]!();
    await settle();
    expect(written).toBe(1);
  });

  test('what calls tell in passing is handled together, of all calls, once in 100 ms', async () => {
    const { push, begun, finish, acked, clock, settle } = inboxOf();
    push(1, 'a', true);
    push(2, 'b', true);
    clock.advanceMs(BATCH_AFTER_MS - 1);
    push(3, 'a', true);
    await settle();
    expect(begun).toEqual([]);
    clock.advanceMs(1);
    await settle();
    expect(begun.map((batch) => batch.map(({ number }) => number))).toEqual([[1, 3, 2]]);
    push(4, 'a', true);
    finish[0]!();
    await settle();
    expect(acked).toEqual([3]);
    clock.advanceMs(BATCH_AFTER_MS - 1);
    await settle();
    expect(begun).toHaveLength(1);
    clock.advanceMs(1);
    await settle();
    expect(begun.at(-1)!.map(({ number }) => number)).toEqual([4]);
  });

  test('what nobody follows waits for longer; one call that is followed, or 500 messages, and it waits for 100 ms', async () => {
    const followed = new Set<string>();
    const { push, begun, finish, clock, settle } = inboxOf({ isFollowed: (call) => followed.has(call) });
    const numbers = (): number[] => begun.at(-1)?.map(({ number }) => number) ?? [];
    const pass = async (ms: number): Promise<void> => {
      clock.advanceMs(ms);
      await settle();
    };
    push(1, 'a', true);
    await pass(UNFOLLOWED_BATCH_AFTER_MS - 1);
    expect(numbers()).toEqual([]);
    push(2, 'b', true);
    await pass(1);
    expect(numbers()).toEqual([1, 2]);
    finish[0]!();
    await settle();

    push(3, 'a', true);
    await pass(300);
    followed.add('b');
    push(4, 'b', true);
    await pass(BATCH_AFTER_MS - 1);
    expect(begun).toHaveLength(1);
    await pass(1);
    expect(numbers()).toEqual([3, 4]);
    finish[1]!();
    await settle();

    followed.clear();
    for (let number = 5; number < 505; number++) push(number, `call ${number}`, true);
    await pass(BATCH_AFTER_MS);
    expect(begun.at(-1)).toHaveLength(500);
  });

  test('what the database has not taken in time is told to followers, once and in order, behind what changes the call', async () => {
    const followers = new Map([
      ['a', 1],
      ['b', 2],
    ]);
    const early: number[] = [];
    const { push, finish, clock, settle } = inboxOf({
      isFollowed: (call) => followers.has(call),
      late: { lastFollower: (call) => followers.get(call) ?? 0, tell: ({ number }) => void early.push(number) },
    });
    const pass = async (ms: number): Promise<void> => {
      clock.advanceMs(ms);
      await settle();
    };
    push(1, 'a', true);
    push(2, 'c', true);
    await pass(LATE_AFTER_MS - 1);
    push(3, 'a', true);
    expect(early).toEqual([]);
    await pass(1);
    expect(early).toEqual([1]);
    followers.set('c', 3);
    push(4, 'c', true);
    await pass(LATE_AFTER_MS);
    // What was told before somebody followed is told with what comes after.
    expect(early).toEqual([1, 3, 2, 4]);

    push(5, 'b');
    push(6, 'b', true);
    await pass(3 * LATE_AFTER_MS);
    expect(early).toEqual([1, 3, 2, 4]);
    finish[1]!();
    await settle();
    await pass(LATE_AFTER_MS);
    expect(early.splice(0)).toEqual([1, 3, 2, 4, 6]);

    // Who begins to follow meanwhile is told from the beginning of what waits.
    followers.set('a', 4);
    push(7, 'a', true);
    await pass(LATE_AFTER_MS);
    expect(early).toEqual([1, 3, 7]);
  });

  test('nobody looks at what waits of a call that nobody follows any more, or once the process is given up', async () => {
    let isFollowed = true;
    const early: number[] = [];
    const late = { lastFollower: () => (isFollowed ? 1 : 0), tell: ({ number }: Said) => void early.push(number) };
    const { inbox, push, clock, settle } = inboxOf({ isFollowed: () => isFollowed, late });
    push(1, 'a');
    for (let number = 2; number < 50; number++) push(number, 'a', true);
    push(50, 'b');
    push(51, 'b', true);
    await settle();
    expect(clock.pendingTimers).toBe(2);
    isFollowed = false;
    clock.advanceMs(LATE_AFTER_MS);
    expect(clock.pendingTimers).toBe(0);
    isFollowed = true;
    push(52, 'b', true);
    inbox.close();
    clock.advanceMs(LATE_AFTER_MS);
    expect([clock.pendingTimers, early]).toEqual([0, []]);
  });

  test('what was stored in time is told early to nobody', async () => {
    const early: number[] = [];
    const { push, finish, clock, settle } = inboxOf({
      isFollowed: () => true,
      late: { lastFollower: () => 1, tell: ({ number }) => void early.push(number) },
    });
    push(1, 'a', true);
    clock.advanceMs(BATCH_AFTER_MS);
    await settle();
    finish[0]!();
    await settle();
    clock.advanceMs(LATE_AFTER_MS);
    expect(early).toEqual([]);
  });

  test('what a process has told that is gone is written at once, also what comes up after it', async () => {
    const { inbox, push, begun, finish, clock, settle } = inboxOf({ isFollowed: () => false });
    const numbers = (): number[][] => begun.map((batch) => batch.map(({ number }) => number));
    push(1, 'a', true);
    inbox.setHurried(true);
    clock.advanceMs(0);
    await settle();
    expect(numbers()).toEqual([[1]]);
    push(2, 'a', true);
    finish[0]!();
    await settle();
    clock.advanceMs(0);
    await settle();
    expect(numbers()).toEqual([[1], [2]]);
    inbox.setHurried(false);
    push(3, 'b', true);
    finish[1]!();
    await settle();
    clock.advanceMs(BATCH_AFTER_MS);
    await settle();
    expect(begun).toHaveLength(2);
  });

  test('what else comes for a call is handled with what it has told before, and with that alone', async () => {
    const { push, begun, finish, clock, settle } = inboxOf();
    const numbers = (): number[][] => begun.map((batch) => batch.map(({ number }) => number));
    push(1, 'a', true);
    push(2, 'b', true);
    push(3, 'a');
    await settle();
    expect(numbers()).toEqual([[1, 3]]);
    push(4, 'a', true);
    push(5, 'a');
    finish[0]!();
    await settle();
    expect(numbers()).toEqual([
      [1, 3],
      [4, 5],
    ]);
    clock.advanceMs(BATCH_AFTER_MS);
    await settle();
    expect(numbers().at(-1)).toEqual([2]);
  });

  test('where they cannot be stored together, each is tried by itself, in their order', async () => {
    const stored: number[] = [];
    const { push, acked, settle } = inboxOf({
      async handle(message, before) {
        if (before.length > 0) throw new Error('never');
        stored.push(message.number);
      },
      async handleTogether(calls) {
        if (calls.flat().some(({ number }) => number === 1)) throw new Error('never');
        stored.push(...calls.flat().map(({ number }) => number));
      },
      shouldRetry: () => false,
    });
    push(1, 'a', true);
    push(2, 'a', true);
    push(3, 'a');
    for (let turn = 0; turn < 10; turn++) await settle();
    expect({ stored, acked }).toEqual({ stored: [2, 3], acked: [3] });
  });

  test('at most 64 of a call are handled together, and one more of another kind', async () => {
    const { push, begun, finish, clock, settle } = inboxOf();
    push(1, 'a');
    for (let number = 2; number <= 81; number++) push(number, 'a', true);
    push(82, 'a');
    push(83, 'a', true);
    for (let batch = 0; batch < 4; batch++) {
      await settle();
      clock.advanceMs(BATCH_AFTER_MS);
      await settle();
      finish[batch]!();
    }
    await settle();
    expect(begun.map((batch) => batch.length)).toEqual([1, 64, 17, 1]);
  });

  test('where one of several cannot be stored, each is tried by itself, and it alone is dropped', async () => {
    const stored: number[] = [];
    const dropped: number[] = [];
    const { push, acked, clock, settle } = inboxOf({
      async handleTogether(calls) {
        if (calls.flat().some(({ number }) => number === 2)) throw new Error('never');
        stored.push(...calls.flat().map(({ number }) => number));
      },
      shouldRetry(_error, messages) {
        if (messages.length === 1) dropped.push(messages[0]!.number);
        return false;
      },
    });
    for (const [number, call] of [
      [1, 'a'],
      [2, 'b'],
      [3, 'a'],
      [4, 'b'],
    ] as const)
      push(number, call, true);
    clock.advanceMs(BATCH_AFTER_MS);
    for (let turn = 0; turn < 10; turn++) await settle();
    expect({ stored, dropped, acked }).toEqual({ stored: [1, 3, 4], dropped: [2], acked: [4] });
  });

  test('at 10 unhandled messages reading stops, at 5 it goes on', async () => {
    const { push, finish, paused, settle } = inboxOf({ pauseAt: 10 });
    for (let number = 1; number <= 10; number++) push(number, 'a');
    expect(paused).toEqual([true]);
    for (let done = 0; done < 5; done++) {
      await settle();
      finish[done]!();
    }
    await settle();
    expect(paused).toEqual([true, false]);
  });

  test('after close nothing is acknowledged any more', async () => {
    const { inbox, push, finish, acked, settle } = inboxOf();
    push(1, 'a');
    await settle();
    inbox.close();
    finish[0]!();
    await settle();
    expect(acked).toEqual([]);
  });

  test("whatever fails and in whatever order: every message handled once, in its call's order, and all acknowledged", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ call: fc.constantFrom('a', 'b', 'c'), live: fc.boolean() }), { maxLength: 30 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 3 })),
        async (sent, fate) => {
          const handled: Said[] = [];
          const handleAll = async (messages: readonly Said[]): Promise<void> => {
            if (fate.next().value === 0) throw new Error('away');
            handled.push(...messages);
          };
          const { inbox, push, acked, clock, settle } = inboxOf({
            handle: (message, before) => handleAll([...before, message]),
            handleTogether: (calls) => handleAll(calls.flat()),
          });
          for (const [index, { call, live }] of sent.entries()) push(index + 1, call, live);
          for (let step = 0; step < 400 && inbox.unhandledCount > 0; step++) {
            await settle();
            clock.advanceMs(500);
          }
          expect(handled).toHaveLength(sent.length);
          for (const call of ['a', 'b', 'c']) {
            const numbers = handled.filter((said) => said.call === call).map((said) => said.number);
            expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
          }
          expect(acked.at(-1) ?? 0).toBe(sent.length);
        },
      ),
      { seed: 3, numRuns: 100 },
    );
  });
});
