import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { MULAW_8K } from '../../../../../media/contract/audio-format.ts';
import { type Clock, systemClock } from '../../../../../media/contract/clock.ts';
import type { ConversationEvent, Turn } from '../../../../../media/contract/conversation.ts';
import { createPipelinePool, type PipelinePool } from '../../../../../media/io/threads/pipeline-pool.ts';
import type { PlacedCall, PlacedCallListener } from '../../../../../media/io/threads/pooled-call.ts';
import { CallBlock } from '../../../../../media/rings/call-block.ts';
import { eventually } from '../../../../support/eventually.ts';
import { toneSetup } from '../../../../support/tone-setup.ts';

const url = new URL('../stub-threads/pipeline-thread.js', import.meta.url);

class Watcher implements PlacedCallListener {
  readonly seen: string[] = [];
  readonly turns: Turn[] = [];
  block: CallBlock | null = null;
  conversationEvent(event: ConversationEvent): void {
    this.seen.push(event.type === 'step' ? `step ${event.stepId}` : event.type);
    if (event.type === 'turn') this.turns.push(event.turn);
  }
  checkpoint(): void {
    this.seen.push('checkpoint');
  }
  ended(reason: string): void {
    this.seen.push(`ended ${reason}`);
  }
  controlled(controlId: string): void {
    this.seen.push(`controlled ${controlId}`);
  }
  toolAsked(): void {}
  toolCancelled(): void {}
  closed(lost: boolean): void {
    this.seen.push(lost ? 'lost' : 'closed');
  }
  moved(): SharedArrayBuffer | null {
    this.seen.push('moved');
    return CallBlock.create(MULAW_8K).memory;
  }
}

/** A fifth of the speed of time: whoever is only slow, on a busy machine, is not taken for dead. */
const slowClock: Clock = {
  nowMs: () => systemClock.nowMs() / 5,
  epochMs: () => systemClock.epochMs(),
  after: (afterMs, run) => systemClock.after(5 * afterMs, run),
};

let pool: PipelinePool;
afterEach(() => pool.close());

async function makePool(threads: number): Promise<void> {
  pool = createPipelinePool({
    url,
    threads,
    workerData: { dataDir: '/nowhere', ioBell: new SharedArrayBuffer(4), mediaId: 'm', logLevel: 'silent' },
    enginePorts: () => ({}),
    clock: slowClock,
    log: pino({ level: 'silent' }),
  });
  await pool.ready;
}

function place(callUuid: string): { call: PlacedCall; watcher: Watcher } {
  const watcher = new Watcher();
  const block = CallBlock.create(MULAW_8K);
  watcher.block = block;
  return { call: pool.place(toneSetup({ callUuid }), block.memory, watcher), watcher };
}

const until = (condition: () => boolean, what: string): Promise<boolean> => eventually(what, condition);

describe('the pipeline pool', () => {
  test('spreads 6 calls over 2 threads 3 and 3, and stops each with its last turn before closed', async () => {
    await makePool(2);
    const calls = Array.from({ length: 6 }, (_, i) => place(`call-${i}`));
    await until(() => calls.every(({ watcher }) => watcher.seen.length === 2), 'all begun');
    const threads = calls.map(({ watcher }) => watcher.seen[0]!);
    expect(new Set(threads).size).toBe(2);
    expect(threads.filter((one) => one === threads[0]).length).toBe(3);
    for (const { call } of calls) {
      call.stop();
      call.stop();
    }
    await until(() => pool.calls === 0, 'all closed');
    for (const { watcher } of calls) expect(watcher.seen.slice(2)).toEqual(['turn', 'closed']);
  });

  test.each([
    ['throws', '1'],
    ['exits', '3'],
    ['runs out of memory', '4'],
    ['spins', '2'],
  ])(
    'a thread that %s moves its calls to the spare, each from its last checkpoint, and a new spare comes',
    async (_how, digit) => {
      await makePool(1);
      const first = place('first');
      const second = place('second');
      await until(() => second.watcher.seen.includes('checkpoint'), 'the checkpoint');
      first.call.command({ type: 'key', key: digit });
      await until(() => second.watcher.seen.filter((one) => one === 'checkpoint').length === 2, 'the move');
      for (const { watcher } of [first, second]) {
        expect(watcher.seen).toContain('moved');
        expect(watcher.seen.some((one) => /^step \d+ resumed s1 with turn 2$/.test(one))).toBe(true);
        expect(watcher.seen).not.toContain('lost');
      }
      first.call.stop();
      await until(() => first.watcher.seen.includes('closed'), 'the close');
    },
  );

  test('of what a thread was saying when it died, the words that were heard are a turn, and the next one has a number of its own', async () => {
    await makePool(1);
    const { call, watcher } = place('one');
    await until(() => watcher.seen.includes('checkpoint'), 'the call');
    call.command({ type: 'key', key: '7' });
    call.command({ type: 'key', key: '3' });
    watcher.block!.streamMs = 4_700;
    await until(() => watcher.seen.filter((one) => one === 'checkpoint').length === 2, 'the move');
    expect(watcher.turns).toEqual([
      {
        turnId: 't4',
        role: 'agent',
        startMs: 9_000,
        endMs: 9_700,
        text: 'Hello there.',
        heardText: 'Hello ',
        interrupted: true,
        kind: 'speech',
        stepId: 's1',
      },
    ]);
    const resumed = expect.stringMatching(/^step \d+ resumed s1 with turn 5, cut in 'Hello there\.' after 'Hello '$/);
    expect(watcher.seen.slice(2)).toEqual(['speech', 'turn', 'moved', resumed, 'checkpoint']);
  });

  test('of an utterance that grew while it was spoken, what was heard is a turn too, with all the text that had come', async () => {
    await makePool(1);
    const { call, watcher } = place('one');
    await until(() => watcher.seen.includes('checkpoint'), 'the call');
    call.command({ type: 'key', key: '8' });
    call.command({ type: 'key', key: '3' });
    await until(() => watcher.seen.filter((one) => one === 'checkpoint').length === 2, 'the move');
    expect(watcher.turns).toMatchObject([
      { turnId: 't4', text: 'Hello there, how are you', heardText: 'Hello there', interrupted: true },
    ]);
  });

  test('a call in whose work three threads died is lost; those beside it on another thread, and on its own, go on', async () => {
    await makePool(2);
    const killer = place('killer');
    await until(() => killer.watcher.seen.includes('checkpoint'), 'the call');
    const bystander = place('bystander');
    await until(() => bystander.watcher.seen.includes('checkpoint'), 'the call beside it');
    // On the killer's own thread: both have one call.
    const neighbour = place('neighbour');
    await until(() => neighbour.watcher.seen.includes('checkpoint'), 'the call on its thread');
    expect(neighbour.watcher.seen[0]).toBe(killer.watcher.seen[0]);
    for (let deaths = 1; deaths <= 3; deaths++) {
      const begun = () => killer.watcher.seen.filter((one) => one === 'checkpoint').length;
      await until(() => begun() === deaths, `start number ${deaths}`);
      killer.call.command({ type: 'key', key: '3' });
      await until(() => begun() === deaths + 1 || killer.watcher.seen.includes('lost'), 'the next');
    }
    expect(killer.watcher.seen.at(-1)).toBe('lost');
    expect(neighbour.watcher.seen.filter((one) => one === 'moved').length).toBe(3);
    expect(neighbour.watcher.seen).not.toContain('lost');
    expect(bystander.watcher.seen).not.toContain('moved');
    bystander.call.command({ type: 'key', key: '5' });
    await until(() => bystander.watcher.seen.includes('ended agent_hangup'), 'an answer');
  });

  test('a call that was being stopped when its thread died is closed, not moved', async () => {
    await makePool(1);
    const { call, watcher } = place('one');
    await until(() => watcher.seen.includes('checkpoint'), 'the call');
    call.command({ type: 'key', key: '3' });
    call.stop();
    await until(() => pool.calls === 0, 'the close');
    expect(watcher.seen).not.toContain('moved');
    expect(watcher.seen).not.toContain('lost');
  });

  const startingWith = (diesAt: number | 'all'): PipelinePool =>
    createPipelinePool({
      url,
      threads: 1,
      workerData: { dataDir: '', ioBell: new SharedArrayBuffer(4), mediaId: 'm', logLevel: 'silent', diesAt },
      enginePorts: () => ({}),
      clock: slowClock,
      log: pino({ level: 'silent' }),
    } as Parameters<typeof createPipelinePool>[0]);

  test('a thread that comes up and is lost before the last one is there is replaced: the pool starts', async () => {
    pool = startingWith(0);
    await pool.ready;
    // Its death may be heard of after the last one is there.
    await until(() => pool.deaths === 1, 'the death');
    const { watcher } = place('call-1');
    await until(() => watcher.seen.length > 0, 'begun');
  });

  test('threads that come up and die again and again make ready reject', async () => {
    pool = startingWith('all');
    await expect(pool.ready).rejects.toThrow(/pipeline thread died before it was ready: exit code 3/);
  });

  test('threads that cannot start make ready reject with the reason', async () => {
    pool = createPipelinePool({
      url: new URL('../stub-threads/no-such-thread.js', import.meta.url),
      threads: 1,
      workerData: { dataDir: '', ioBell: new SharedArrayBuffer(4), mediaId: 'm', logLevel: 'silent' },
      enginePorts: () => ({}),
      clock: slowClock,
      log: pino({ level: 'silent' }),
    });
    await expect(pool.ready).rejects.toThrow(/pipeline thread died before it was ready: .*no-such-thread/);
  });
});
