import { describe, expect, it } from 'vitest';
import { createDecoderPool } from '../../../../../media/engines/local/decoder-pool.ts';
import type { CompiledGrammar } from '../../../../../media/engines/local/grammar.ts';
import { createListenScheduler, type ListenStream } from '../../../../../media/engines/local/listen-scheduler.ts';
import type { Hypothesis, PhraseDecoder } from '../../../../../media/engines/local/phrase-decoder.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const BATCH_SAMPLES = 640;

/** Hears the grammar's key and the number of batches so far, but for batches that begin with sample 1. Sample 666 breaks it. */
class FakeDecoder implements PhraseDecoder {
  grammarKey = '';
  loads = 0;
  inUtterance = false;
  #batches = 0;

  begin(grammar: CompiledGrammar): void {
    if (this.inUtterance) throw new Error('begun twice');
    if (grammar.key === 'unloadable') throw new Error('grammar broke');
    if (grammar.key !== this.grammarKey) this.loads++;
    this.grammarKey = grammar.key;
    this.inUtterance = true;
    this.#batches = 0;
  }

  push(monoSamples: Int16Array): void {
    if (monoSamples[0] === 666) throw new Error('decoder broke');
    if (monoSamples[0] !== 1) this.#batches++;
  }

  partial(): Hypothesis {
    return { text: `${this.grammarKey} ${this.#batches}`, rejected: false };
  }

  finish(): Hypothesis {
    this.inUtterance = false;
    return { text: `${this.grammarKey} of ${this.#batches}`, rejected: false };
  }

  words(): [] {
    return [];
  }
  abandon(): void {
    this.inUtterance = false;
  }
}

/** Turns run one at a time, when a test says so. `make` settles the making of decoders. */
function rig(limit: number) {
  const turns: (() => void)[] = [];
  const decoders: FakeDecoder[] = [];
  const errors: unknown[] = [];
  let failing = false;
  const pool = createDecoderPool({
    limit,
    create: async () => {
      if (failing) throw new Error('no memory');
      const decoder = new FakeDecoder();
      decoders.push(decoder);
      return decoder;
    },
    onFree: () => scheduler.wake(),
    onError: (error) => errors.push(error),
  });
  const clock = new VirtualClock();
  const scheduler = createListenScheduler({
    clock,
    pool,
    compile: ({ phrases }) => {
      if (phrases[0] === 'bad') throw new Error('bad grammar');
      return { key: phrases[0]!, anywhere: false, phrases, arcs: [], states: 2, words: new Map() };
    },
    yieldThen: (run) => turns.push(run),
  });
  const log: string[] = [];
  const open = (key: string): ListenStream =>
    scheduler.open(
      8000,
      { phrases: [key] },
      {
        onResult: ({ text, final, concluded }) =>
          log.push(final ? `${text} final` : concluded === true ? `${text} concluded` : text),
        onError: (message) => log.push(`${key} error: ${message}`),
      },
    );
  const run = (most = 1000): void => {
    for (let i = 0; i < most && turns.length > 0; i++) turns.shift()!();
  };
  /** Runs all turns, and lets decoders be made in between. */
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) {
      run();
      await Promise.resolve();
    }
  };
  return {
    clock,
    decoders,
    errors,
    log,
    open,
    pool,
    run,
    scheduler,
    settle,
    failCreation: (value: boolean) => {
      failing = value;
    },
  };
}

const batch = (first = 0): Int16Array => new Int16Array(BATCH_SAMPLES).fill(first);

describe('the listen scheduler', () => {
  it('gives two streams that are behind a turn each, and not all of one first', async () => {
    const { log, open, run, settle } = rig(2);
    const a = open('a');
    const b = open('b');
    a.push(batch());
    b.push(batch());
    await settle();
    log.length = 0;
    for (let i = 0; i < 6; i++) a.push(batch());
    for (let i = 0; i < 6; i++) b.push(batch());
    run(2);
    expect(log.map((text) => text[0])).toEqual(['a', 'b']);
    run();
    const order = log.map((text) => text[0]).join('');
    expect(order).toBe('ababab');
  });

  it('says how far behind it is: what waits for a turn, and what is more than was heard in that time', async () => {
    const { clock, open, run, scheduler, settle } = rig(1);
    expect(scheduler.lateMs).toBe(0);
    const a = open('a');
    a.push(batch());
    await settle();
    expect(scheduler.lateMs).toBe(0);
    a.push(batch());
    clock.advanceMs(300);
    expect(scheduler.lateMs).toBe(300);
    // Seven batches of 80 ms.
    for (let i = 0; i < 6; i++) a.push(batch());
    expect(scheduler.lateMs).toBe(560);
    run();
    expect(scheduler.lateMs).toBe(0);
    // It waits for the one decoder that there is.
    const b = open('b');
    b.push(batch());
    clock.advanceMs(2_000);
    run();
    expect(scheduler.lateMs).toBe(2_000);
  });

  it('concludes with all that came before, decodes nothing more, and gives the decoder to others', async () => {
    const { decoders, log, open, settle } = rig(1);
    const a = open('a');
    a.push(batch());
    a.conclude();
    await settle();
    a.push(batch());
    await settle();
    expect(log).toEqual(['a of 1 concluded']);
    const b = open('b');
    b.push(batch());
    b.finish();
    await settle();
    a.finish();
    await settle();
    expect(log).toEqual(['a of 1 concluded', 'b of 1 final', 'a of 1 final']);
    expect(decoders).toHaveLength(1);
  });

  it('hears a stream that goes on from its beginning, in turn with others', async () => {
    const { log, open, settle } = rig(2);
    const a = open('a');
    a.push(batch());
    a.push(batch());
    a.conclude();
    await settle();
    a.push(batch());
    a.goOn();
    a.goOn();
    a.push(batch());
    a.finish();
    await settle();
    expect(log.filter((line) => line.includes('o'))).toEqual(['a of 2 concluded', 'a of 4 final']);
  });

  it('a stream that goes on before it was concluded is asked nothing', async () => {
    const { log, open, settle } = rig(1);
    const a = open('a');
    a.push(batch());
    a.conclude();
    a.goOn();
    await settle();
    a.push(batch());
    a.finish();
    await settle();
    expect(log.filter((line) => line.includes('o'))).toEqual(['a of 2 final']);
  });

  it('an utterance of over 8 s is not concluded: its final result comes as ever', async () => {
    const { log, open, settle } = rig(1);
    const a = open('a');
    for (let i = 0; i < 101; i++) {
      a.push(batch());
      await settle();
    }
    a.conclude();
    await settle();
    a.push(batch());
    a.finish();
    await settle();
    expect(log.filter((line) => line.includes('o'))).toEqual(['a of 102 final']);
  });

  it('takes at most 120 ms a turn and tells a partial only when it changed', async () => {
    const { log, open, settle } = rig(1);
    const a = open('a');
    for (let i = 0; i < 4; i++) a.push(batch());
    await settle();
    expect(log).toEqual(['a 2', 'a 4']);
    a.push(new Int16Array(0));
    a.push(batch(1));
    await settle();
    expect(log).toEqual(['a 2', 'a 4']);
  });

  it('gives one final after finish, and nothing for what comes later', async () => {
    const { log, open, scheduler, settle } = rig(1);
    const a = open('a');
    a.push(batch());
    a.finish();
    a.finish();
    a.push(batch());
    await settle();
    a.push(batch());
    a.cancel();
    await settle();
    expect(log).toEqual(['a of 1 final']);
    expect(scheduler.openStreams).toBe(0);
  });

  it('serves 5 streams one after the other with one decoder, in the order in which they came', async () => {
    const { decoders, log, open, settle } = rig(1);
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      const stream = open(key);
      stream.push(batch());
      stream.finish();
    }
    await settle();
    expect(decoders).toHaveLength(1);
    expect(log).toEqual(['a', 'b', 'c', 'd', 'e'].map((key) => `${key} of 1 final`));
  });

  it('prefers a decoder that holds the grammar already', async () => {
    const { decoders, open, pool, settle } = rig(2);
    const a = open('a');
    const b = open('b');
    for (const stream of [a, b]) stream.push(batch());
    await settle();
    for (const stream of [a, b]) stream.finish();
    await settle();
    for (const key of ['b', 'a', 'b', 'a']) {
      const stream = open(key);
      stream.push(batch());
      stream.finish();
      await settle();
    }
    expect(pool.decoders).toBe(2);
    expect(decoders.map(({ loads }) => loads)).toEqual([1, 1]);
  });

  it('drops and counts what is more than 10 s behind, and hears the rest', async () => {
    const { log, open, scheduler, settle } = rig(1);
    const a = open('a');
    for (let i = 0; i < 130; i++) a.push(batch());
    expect(scheduler.droppedSamples).toBe(5 * BATCH_SAMPLES);
    a.finish();
    await settle();
    expect(log.at(-1)).toBe('a of 125 final');
  });

  it('hears an utterance again, after a pause that is nearly as long, without dropping the words that follow', async () => {
    const { log, open, scheduler, settle } = rig(1);
    const a = open('a');
    // 7.2 s of digits, and 4 s of silence.
    for (let i = 0; i < 90; i++) a.push(batch());
    await settle();
    a.conclude();
    await settle();
    for (let i = 0; i < 50; i++) a.push(batch());
    a.goOn();
    for (let i = 0; i < 5; i++) a.push(batch());
    expect(scheduler.droppedSamples).toBe(0);
    a.finish();
    await settle();
    expect(log.at(-1)).toBe('a of 145 final');
  });

  it('takes the decoder back on cancel, and says nothing more', async () => {
    const { decoders, log, open, settle } = rig(1);
    const a = open('a');
    a.push(batch());
    await settle();
    a.push(batch());
    a.cancel();
    const b = open('b');
    b.push(batch());
    b.finish();
    await settle();
    expect(log).toEqual(['a 1', 'b of 1 final']);
    expect(decoders).toHaveLength(1);
    expect(decoders[0]!.inUtterance).toBe(false);
  });

  it('gives one error when a decoder breaks, throws that decoder away and serves the next stream with a new one', async () => {
    const { decoders, log, open, pool, settle } = rig(1);
    const a = open('a');
    a.push(batch(666));
    a.finish();
    await settle();
    expect(log).toEqual(['a error: The recogniser failed: decoder broke']);
    const b = open('b');
    b.push(batch());
    b.finish();
    await settle();
    expect(log.at(-1)).toBe('b of 1 final');
    expect(decoders).toHaveLength(2);
    expect(pool.decoders).toBe(1);
  });

  it('gives one error when a grammar cannot be loaded, and goes on with the other streams', async () => {
    const { log, open, scheduler, settle } = rig(1);
    const a = open('unloadable');
    a.push(batch());
    const b = open('b');
    b.push(batch());
    b.finish();
    await settle();
    expect(log).toEqual(['unloadable error: The recogniser failed: grammar broke', 'b of 1 final']);
    expect(scheduler.openStreams).toBe(0);
  });

  it('tells its owner when no decoder can be made, and tries again for later audio', async () => {
    const { errors, failCreation, log, open, pool, settle } = rig(1);
    failCreation(true);
    const a = open('a');
    a.push(batch());
    await settle();
    expect(errors.length).toBeGreaterThan(0);
    expect(pool.decoders).toBeLessThanOrEqual(1);
    failCreation(false);
    a.finish();
    await settle();
    expect(log).toEqual(['a of 1 final']);
  });

  it('throws the grammar’s fault at open, and keeps no stream of it', () => {
    const { open, scheduler } = rig(1);
    expect(() => open('bad')).toThrow('bad grammar');
    expect(scheduler.openStreams).toBe(0);
  });
});
