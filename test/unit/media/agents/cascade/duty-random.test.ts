/**
 * Whatever models and callers do, in whatever order: nobody waits in silence for long, there are never two answers at
 * once, no answer to words that were taken back, one end at most, and an end in the end.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AgentBench, type Answer, done, fails, says, uses } from './agent-bench.ts';

/** The filler's 700 ms, or 1.3 s of silence from the second on, and what ticks and the end of a noise add. */
const LONGEST_OWED_SILENCE_MS = 1_900;
/** An idle prompt after 8 s of the caller's own time. */
const LONGEST_SILENCE_MS = 9_500;

const delay = fc.integer({ min: 0, max: 6_000 });
const behaviour = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('says' as const),
      afterMs: delay,
      everyMs: fc.integer({ min: 1, max: 400 }),
    }),
  },
  fc.record({ kind: fc.constant('tools' as const), afterMs: delay, count: fc.integer({ min: 1, max: 3 }) }),
  fc.record({
    kind: fc.constantFrom('fails', 'refuses', 'breaks', 'stalls', 'nothing', 'empty', 'ends', 'keys'),
    afterMs: delay,
  }),
);
type Behaviour = typeof behaviour extends fc.Arbitrary<infer T> ? T : never;

const step = fc.record({
  waitMs: fc.integer({ min: 0, max: 5_000 }),
  what: fc.constantFrom(
    'heard',
    'heard',
    'heard',
    'pause',
    'pause_heard',
    'went_on',
    'noise',
    'cut',
    'unclear',
    'wait',
    'bye',
  ),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function answerOf(behaviour: Behaviour, tag: string): Answer {
  const { kind, afterMs } = behaviour;
  const later = (answer: Answer): Answer => answer.map((one) => ({ ...one, afterMs: one.afterMs + afterMs }));
  const words = { afterMs, chunk: { type: 'text' as const, text: `${tag} said. And ${tag} more ` } };
  switch (kind) {
    case 'says':
      return says(`${tag} one two, ${tag} three four five. ${tag} six?`, afterMs, behaviour.everyMs);
    case 'tools':
      return later(
        uses(...Array.from({ length: behaviour.count }, (_, at) => ['lookup_order', { at }] as [string, unknown])),
      );
    case 'fails':
      return fails(afterMs);
    case 'refuses':
      return fails(afterMs, 'refused');
    case 'breaks':
      return [words, ...fails(afterMs + 100)];
    case 'stalls':
      return [words];
    case 'empty':
      return [{ afterMs, chunk: done() }];
    case 'ends':
      return [words, ...later(uses(['end_call', {}]))];
    case 'keys':
      return later(uses(['send_digits', { digits: '12' }], ['fly', '{']));
    default:
      return [];
  }
}

class Watch {
  owedSinceMs = Number.NaN;
  quietSinceMs = 0;
  longestOwedMs = 0;
  longestMs = 0;
  readonly #bench: AgentBench;
  #noiseUntilMs = 0;
  #seen = 0;

  constructor(bench: AgentBench) {
    this.#bench = bench;
  }

  heard(): void {
    this.owedSinceMs = this.#bench.nowMs;
    this.touched();
  }

  touched(): void {
    this.quietSinceMs = this.#bench.nowMs;
  }

  noise(untilMs: number): void {
    this.#noiseUntilMs = untilMs;
  }

  /** After each tick. */
  look(): void {
    const bench = this.#bench;
    const open = bench.actions.filter(
      (action) => action.type === 'say' && 'feed' in action.speech && !action.speech.feed.isFinished,
    );
    if (open.length > 1) throw new Error('two answers at once');
    const { actions } = bench;
    for (; this.#seen < actions.length; this.#seen++) {
      const action = actions[this.#seen]!;
      // A filler pays nothing.
      if (action.type === 'say' && !('text' in action.speech)) this.owedSinceMs = Number.NaN;
    }
    const quietMs = bench.nowMs - Math.max(this.quietSinceMs, bench.soundAtMs, this.#noiseUntilMs);
    this.longestMs = Math.max(this.longestMs, quietMs);
    if (!Number.isNaN(this.owedSinceMs)) this.longestOwedMs = Math.max(this.longestOwedMs, quietMs);
  }
}

function play(bench: AgentBench, watch: Watch, steps: readonly Step[]): void {
  const run = (ms: number): void => {
    for (let at = 0; at < ms && bench.ends.length === 0; at += 20) {
      bench.run(20);
      watch.look();
    }
  };
  const say = (text: string): void => {
    if (bench.isSpeaking) bench.interrupts(text);
    else bench.hears(text);
    watch.heard();
  };
  run(100);
  steps.forEach(({ waitMs, what }, index) => {
    run(waitMs);
    if (bench.ends.length > 0) return;
    const atMs = bench.nowMs;
    const text = `words ${index}`;
    if (what === 'heard') say(text);
    else if (what === 'bye') say('goodbye');
    else if (what === 'pause') bench.tell({ type: 'pause', atMs, text });
    else if (what === 'went_on') bench.tell({ type: 'went_on', atMs });
    else if (what === 'pause_heard') {
      bench.tell({ type: 'pause', atMs, text });
      run(300);
      if (bench.ends.length === 0) say(text);
    } else if (what === 'noise') {
      bench.tell({ type: 'caller', atMs, speaking: true });
      watch.noise(atMs + 2_400);
      run(2_000);
      if (bench.ends.length === 0) bench.tell({ type: 'caller', atMs: bench.nowMs, speaking: false });
    } else if (what === 'cut') {
      // By a cough, or an operator: nobody is owed what was cut.
      if (bench.isSpeaking) {
        bench.interrupts(null);
        watch.owedSinceMs = Number.NaN;
      }
    } else if (what === 'unclear') {
      if (!bench.isSpeaking) bench.tell({ type: 'unclear', atMs });
    } else bench.tell({ type: 'wait', atMs, why: 'caller' });
    watch.touched();
  });
  // And then the caller falls silent.
  run(180_000);
}

test('random models and callers', () => {
  let answered = 0;
  fc.assert(
    fc.property(
      fc.array(behaviour, { minLength: 1, maxLength: 12 }),
      fc.array(step, { maxLength: 14 }),
      (behaviours, steps) => {
        const bench = new AgentBench((_request, _model, asked) =>
          answerOf(behaviours[asked % behaviours.length]!, `a${asked}`),
        );
        bench.tool = (_name, args) => ({
          afterMs: (Number(args['at']) + 1) * 900,
          answer: { ok: true, status: 200, result: 'fine' },
        });
        const watch = new Watch(bench);
        play(bench, watch, steps);
        expect(bench.ends).toHaveLength(1);
        expect(watch.longestOwedMs).toBeLessThanOrEqual(LONGEST_OWED_SILENCE_MS);
        expect(watch.longestMs).toBeLessThanOrEqual(LONGEST_SILENCE_MS);
        for (const text of bench.said) expect(new Set(text.match(/\ba\d+\b/g) ?? []).size).toBeLessThanOrEqual(1);
        expect(bench.openAsks).toBe(0);
        answered += bench.said.length;
      },
    ),
    { numRuns: 150 },
  );
  expect(answered).toBeGreaterThan(300);
});
