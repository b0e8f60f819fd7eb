import { describe, expect, test } from 'vitest';
import { createUnwrittenTalk } from '../../../src/media-link/unwritten-talk.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

describe('what media said and control has not written', () => {
  test('is waited for until it is written', async () => {
    const { clock, waits, talk } = talkOf();
    waits.add('a');
    const ends = endOf(talk.allWritten('a'));
    await passes(clock, 50);
    expect(ends.isOver).toBe(false);
    waits.delete('a');
    await passes(clock, 10);
    expect(ends.isOver).toBe(true);
  });

  test('of another call is not waited for', async () => {
    const { waits, talk } = talkOf();
    waits.add('b');
    await talk.allWritten('a');
  });

  test('is waited for as long as the reader has, and no longer', async () => {
    const { clock, waits, talk } = talkOf();
    waits.add('a');
    const ends = endOf(talk.allWritten('a', 300));
    await passes(clock, 290);
    expect(ends.isOver).toBe(false);
    await passes(clock, 10);
    expect(ends.isOver).toBe(true);
  });
});

test('what another node has not written is waited for too, and hurried with ours', async () => {
  const clock = new VirtualClock();
  const asked: string[] = [];
  let written = (): void => {};
  const talk = createUnwrittenTalk({
    clock,
    hurry: () => void asked.push('here'),
    hasUnwritten: () => false,
    elsewhere: {
      hurry: () => void asked.push('elsewhere'),
      written: (callUuid, limitMs) =>
        new Promise((resolve) => {
          asked.push(`${callUuid} ${limitMs}`);
          written = resolve;
        }),
    },
  });
  talk.hurry();
  const ends = endOf(talk.allWritten('a', 300));
  await talk.writtenHere('a', 300);
  await passes(clock, 50);
  expect(ends.isOver).toBe(false);
  written();
  await passes(clock, 10);
  expect(ends.isOver).toBe(true);
  expect(asked).toEqual(['here', 'elsewhere', 'a 300']);
});

function talkOf() {
  const clock = new VirtualClock();
  const waits = new Set<string>();
  return { clock, waits, talk: createUnwrittenTalk({ clock, hurry() {}, hasUnwritten: (call) => waits.has(call) }) };
}

function endOf(waited: Promise<void>): { isOver: boolean } {
  const ends = { isOver: false };
  void waited.then(() => {
    ends.isOver = true;
  });
  return ends;
}

async function passes(clock: VirtualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) {
    clock.advanceMs(10);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
