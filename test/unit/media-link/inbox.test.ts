import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Gate, Inbox, type InboxOptions } from '../../../src/media-link/inbox.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

interface Said {
  number: number;
  call: string;
  live: boolean;
}

/** An inbox whose handling a test releases by hand. */
function inboxOf(changes: Partial<InboxOptions<Said>> = {}) {
  const clock = new VirtualClock();
  const begun: Said[][] = [];
  const finish: ((error?: Error) => void)[] = [];
  const acked: number[] = [];
  const paused: boolean[] = [];
  const inbox = new Inbox<Said>({
    clock,
    handle(messages) {
      begun.push([...messages]);
      return new Promise<void>((resolve, reject) =>
        finish.push((error) => (error === undefined ? resolve() : reject(error))),
      );
    },
    mergeable: (message) => message.live,
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

  test('live messages that pile up are handled together, at most 64, and never across another kind', async () => {
    const { push, begun, finish, settle } = inboxOf();
    push(1, 'a');
    for (let number = 2; number <= 81; number++) push(number, 'a', true);
    push(82, 'a');
    push(83, 'a', true);
    for (let batch = 0; batch < 5; batch++) {
      await settle();
      finish[batch]!();
    }
    await settle();
    expect(begun.map((batch) => batch.length)).toEqual([1, 64, 16, 1, 1]);
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
          const { inbox, push, acked, clock, settle } = inboxOf({
            async handle(messages) {
              if (fate.next().value === 0) throw new Error('away');
              handled.push(...messages);
            },
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
