/**
 * What every `CallEar` must do, whatever hears behind it. `open` gives a fresh one for each test, with a way to make
 * sound that it understands; nothing here counts time, but that of the sound.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { newerProtocol } from '../../../../bench/emulators/providers/newer-protocol.ts';
import { encodeMulaw } from '../../../../media/audio/g711.ts';
import type { CallEar, EarListener, EarWords } from '../../../../media/contract/ear.ts';

export interface OpenedEar {
  ear: CallEar;
  /** At `traits.rateHz`, one or two of `yes`, `no`, `please`, `thank`, `you`. */
  speech(text: string): Int16Array | Promise<Int16Array>;
  /** What happens in the 20 ms after a frame. */
  step(): Promise<void>;
  /** Steps in which what must come does; default 500. */
  patienceSteps?: number;
  close(): void | Promise<void>;
}

/** What becomes of a provider's message on its way. */
export type MessageChange = (message: object) => unknown[];
/** Without a change as it is. */
export type OpenEarOfTest = (listener: EarListener, change?: MessageChange) => Promise<OpenedEar>;

const PHRASES = ['yes', 'yes please', 'no', 'no thank you', 'please'];
const FRAME_MS = 20;
/** Of silence after what was said, before the call asks. */
const PAUSE_MS = 600;
const PATIENCE_STEPS = 500;

export class EarBench {
  readonly words: EarWords[] = [];
  readonly failures: { turn: number; error: Error }[] = [];
  readonly deafened: string[] = [];
  readonly began: number[] = [];
  opened!: OpenedEar;
  atMs = 0;
  /** An order is given right now: nothing may be told. */
  #isOrdering = false;
  toldWithin = 0;

  readonly listener: EarListener = {
    words: (words) => this.#told(() => this.words.push(words)),
    speechBegan: (onsetMs) => this.#told(() => this.began.push(onsetMs)),
    failed: (turn, error) => this.#told(() => this.failures.push({ turn, error })),
    deaf: (error) => this.#told(() => this.deafened.push(error.message)),
  };

  static async open(open: OpenEarOfTest, change?: MessageChange): Promise<EarBench> {
    const bench = new EarBench();
    bench.opened = await open(bench.listener, change);
    return bench;
  }

  get finals(): EarWords[] {
    return this.words.filter(({ final }) => final);
  }

  order(give: (ear: CallEar) => void): void {
    this.#isOrdering = true;
    give(this.opened.ear);
    this.#isOrdering = false;
  }

  async push(samples: Int16Array): Promise<void> {
    const { traits } = this.opened.ear;
    const frame = (traits.rateHz * FRAME_MS) / 1000;
    for (let at = 0; at + frame <= samples.length; at += frame) {
      const one = samples.subarray(at, at + frame);
      this.order((ear) => {
        if (traits.codec !== 'mulaw') return ear.push(one, this.atMs);
        const bytes = new Uint8Array(frame);
        encodeMulaw(one, 0, frame, bytes, 0);
        ear.pushMulaw!(bytes, this.atMs);
      });
      this.atMs += FRAME_MS;
      await this.opened.step();
    }
  }

  silence(ms: number): Promise<void> {
    return this.push(new Int16Array((this.opened.ear.traits.rateHz * ms) / 1000));
  }

  async say(text: string): Promise<void> {
    await this.push(await this.opened.speech(text));
  }

  /** As the call does: the turn begins with the sound, and is over after a pause. */
  async turn(number: number, text: string): Promise<EarWords> {
    this.order((ear) => ear.turnBegan(number, this.atMs));
    await this.say(text);
    await this.silence(PAUSE_MS);
    this.order((ear) => ear.turnOver());
    return this.until('the final', () => {
      // A turn that failed has none: waiting on would only hide why.
      const failed = this.failures.find(({ turn }) => turn === number);
      if (failed !== undefined) throw failed.error;
      return this.finals.find(({ turn }) => turn === number);
    });
  }

  async until<Value>(what: string, find: () => Value | undefined | false): Promise<Value> {
    const { patienceSteps = PATIENCE_STEPS } = this.opened;
    for (let steps = 0; steps < patienceSteps; steps++) {
      const found = find();
      if (found !== undefined && found !== false) return found;
      await this.opened.step();
    }
    const { words, failures, deafened } = this;
    throw new Error(
      `${what} did not come; told: ${JSON.stringify({ words, failures: failures.map(({ error }) => error.message), deafened })}`,
    );
  }

  async pass(steps: number): Promise<void> {
    for (let i = 0; i < steps; i++) await this.opened.step();
  }

  #told(tell: () => void): void {
    if (this.#isOrdering) this.toldWithin++;
    tell();
  }
}

/** `isLocal`: no provider's, whose protocol goes on without us. */
export function describeCallEar(name: string, open: OpenEarOfTest, { isLocal = false } = {}): void {
  describe(`${name} as a CallEar`, () => {
    let bench: EarBench | undefined;
    const start = async (change?: MessageChange): Promise<EarBench> => {
      bench = await EarBench.open(open, change);
      bench.order((ear) => ear.hint({ phrases: PHRASES, isOpen: true }));
      if (bench.opened.ear.traits.hears === 'everything') await bench.silence(400);
      return bench;
    };
    afterEach(async () => {
      expect(bench?.toldWithin, 'told from within an order').toBe(0);
      await bench?.opened.close();
      bench = undefined;
    });

    it('takes the codec that it says it takes', async () => {
      const { ear } = (await start()).opened;
      expect(ear.traits.codec === 'mulaw').toBe(ear.pushMulaw !== undefined && ear.traits.codec === 'mulaw');
      if (ear.traits.codec === 'mulaw') expect(ear.traits).toMatchObject({ rateHz: 8000, hears: 'everything' });
    });

    it('gives one final for a turn, with its words in lower case, their times in order, and its number', async () => {
      const b = await start();
      const fromMs = b.atMs;
      const final = await b.turn(7, 'yes please');
      await b.silence(1_000);
      expect(final).toMatchObject({ turn: 7, text: 'yes please', rejected: false });
      expect(b.finals).toHaveLength(1);
      const { tellsWordTimes, tellsConfidence } = b.opened.ear.traits;
      if (tellsWordTimes) {
        const times = final.words!.flatMap(({ startMs, endMs }) => [startMs, endMs]);
        expect(times).toHaveLength(4);
        expect([...times].sort((a, c) => a - c)).toEqual(times);
        expect(times[0]).toBeGreaterThanOrEqual(fromMs - 100);
        expect(times.at(-1)).toBeLessThanOrEqual(b.atMs);
      } else expect(final.words).toBeUndefined();
      if (tellsConfidence) expect(final.confidence).toBeGreaterThan(0);
      expect(b.failures).toEqual([]);
    });

    it('gives each turn its own words and no others', async () => {
      const b = await start();
      expect((await b.turn(1, 'yes please')).text).toBe('yes please');
      await b.silence(300);
      expect((await b.turn(2, 'no')).text).toBe('no');
      expect(b.finals.map(({ turn }) => turn)).toEqual([1, 2]);
    });

    it('says after a pause what the turn would mean, and hears it whole when it goes on', async () => {
      const b = await start();
      b.order((ear) => ear.turnBegan(1, b.atMs));
      await b.say('yes');
      await b.silence(PAUSE_MS);
      b.order((ear) => ear.mayBeOver());
      const concluded = await b.until('the conclusion', () => b.words.find((words) => words.concluded === true));
      expect(concluded).toMatchObject({ text: 'yes', final: false, turn: 1 });
      if (b.opened.ear.traits.tellsTurns) return;
      b.order((ear) => ear.wentOn());
      await b.say('please');
      await b.silence(PAUSE_MS);
      b.order((ear) => ear.turnOver());
      const final = await b.until('the final', () => b.finals[0]);
      expect(final.text).toBe('yes please');
    });

    it('gives an empty final that is not rejected for silence', async () => {
      const b = await start();
      b.order((ear) => ear.turnBegan(1, b.atMs));
      await b.silence(800);
      b.order((ear) => ear.turnOver());
      const final = await b.until('the final', () => b.finals[0]);
      expect(final).toMatchObject({ text: '', rejected: false });
    });

    it('says nothing more of a turn that was dropped, and hears the next', async () => {
      const b = await start();
      b.order((ear) => ear.turnBegan(1, b.atMs));
      await b.say('yes please');
      b.order((ear) => ear.turnDropped());
      const told = b.words.length;
      await b.silence(1_500);
      expect(b.words.slice(told).filter(({ turn }) => turn === 1)).toEqual([]);
      expect((await b.turn(2, 'no')).text).toBe('no');
      expect(b.finals).toHaveLength(1);
    });

    it('a turn that begins ends the one before', async () => {
      const b = await start();
      b.order((ear) => ear.turnBegan(1, b.atMs));
      await b.say('yes please');
      await b.silence(200);
      let endedBefore = 0;
      if (b.opened.ear.traits.hears === 'everything') {
        // Where the first turn's words came within the second, both would be one stretch.
        await b.until('its words', () => b.words.length > 0);
        // To a provider, the pause in which they are waited for may be the first turn's end.
        endedBefore = b.finals.length;
      }
      // Where they are still one, a word alone is missed in it.
      expect((await b.turn(2, 'no thank you')).text).toMatch(/no thank you$/);
      expect(b.finals.slice(endedBefore).map(({ turn }) => turn)).toEqual([2]);
    });

    it('changes each partial, and never tells of a turn that is none', async () => {
      const b = await start();
      b.order((ear) => ear.mayBeOver());
      b.order((ear) => ear.wentOn());
      b.order((ear) => ear.turnOver());
      b.order((ear) => ear.turnDropped());
      await b.silence(400);
      await b.turn(3, 'no thank you');
      const texts = b.words.filter(({ final, concluded }) => !final && concluded !== true).map(({ text }) => text);
      for (let i = 1; i < texts.length; i++) expect(texts[i]).not.toBe(texts[i - 1]);
      expect(b.words.every(({ turn }) => turn === 3)).toBe(true);
    });

    it('says nothing after close, which may come twice and in mid-turn', async () => {
      const b = await start();
      b.order((ear) => ear.turnBegan(1, b.atMs));
      await b.say('yes please');
      b.order((ear) => ear.close());
      b.order((ear) => ear.close());
      const told = b.words.length;
      await b.silence(1_000);
      b.order((ear) => ear.turnBegan(2, b.atMs));
      b.order((ear) => ear.turnOver());
      await b.pass(100);
      expect(b.words).toHaveLength(told);
      expect(b.failures).toEqual([]);
    });

    if (isLocal) return;
    it('fields and events that are not known yet change nothing', async () => {
      const b = await start(newerProtocol);
      const first = await b.turn(1, 'yes please');
      expect(first.text, JSON.stringify(first)).toBe('yes please');
      await b.silence(300);
      expect((await b.turn(2, 'no')).text).toBe('no');
      expect([b.finals.map(({ turn }) => turn), b.failures, b.deafened]).toEqual([[1, 2], [], []]);
    });
  });
}
