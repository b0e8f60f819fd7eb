/** Words of a model that nobody began to say, for the caller made a sound: the model must not think them said. */
import { describe, expect, test } from 'vitest';
import { CUT_MARK } from '../../../../../media/agents/cascade/history.ts';
import type { ModelChunk } from '../../../../../media/contract/model.ts';
import { AgentBench, type Answer, done, lastText, says, uses } from './agent-bench.ts';

const HELLO = { role: 'assistant', text: 'Hello Asha, how can I help you?' };
const ORDER = 'Where is my order?';

const answering = (answer: Answer) => (request: Parameters<typeof lastText>[0]) =>
  lastText(request) === ORDER ? answer : says('Fine.');

function asked(answer: Answer): AgentBench {
  const bench = new AgentBench(answering(answer));
  bench.settle();
  bench.hears(ORDER);
  return bench;
}

const caller = (bench: AgentBench, speaking: boolean): void =>
  bench.tell({ type: 'caller', atMs: bench.nowMs, speaking });

describe('an answer that was never begun', () => {
  test('is not in the history when the caller says more', () => {
    const bench = asked(says('It comes tomorrow. Anything else?', 100));
    bench.run(40);
    caller(bench, true);
    bench.run(600);
    bench.hears('Hello?');
    bench.settle();
    expect(bench.said).toEqual([HELLO.text, 'Fine.']);
    expect(bench.lastMessages.slice(1)).toEqual([HELLO, { role: 'user', text: `${ORDER}\nHello?` }]);
  });

  test('nor when it waited behind a filler that the caller cut', () => {
    const bench = asked(says('It comes tomorrow. Anything else?', 1_000));
    bench.runUntil('a filler', () => bench.isSpeaking);
    caller(bench, true);
    bench.run(900);
    caller(bench, false);
    bench.interrupts('Hello?');
    bench.settle();
    expect(bench.lastMessages.slice(1)).toEqual([HELLO, { role: 'user', text: `${ORDER}\nHello?` }]);
  });

  test('leaves the use of a tool behind, without the words before it', () => {
    const text: ModelChunk = { type: 'text', text: 'I will look it up. ' };
    const bench = asked([{ afterMs: 100, chunk: text }, ...uses(['lookup_order', {}])]);
    bench.run(40);
    caller(bench, true);
    bench.run(500);
    bench.hears('Hello?');
    bench.settle();
    expect(bench.lastMessages[3]).toMatchObject({ role: 'assistant', text: '', toolUses: [{ name: 'lookup_order' }] });
  });

  test('of which a part was said is marked as cut there', () => {
    const chunk = (text: string): ModelChunk => ({ type: 'text', text });
    const bench = asked([
      { afterMs: 100, chunk: chunk('It comes tomorrow. ') },
      { afterMs: 1_400, chunk: chunk('At noon. ') },
      { afterMs: 1_500, chunk: done() },
    ]);
    bench.run(1_300);
    expect(bench.isSpeaking).toBe(false);
    caller(bench, true);
    bench.run(400);
    bench.hears('Hello?');
    bench.settle();
    expect(bench.lastMessages[3]).toEqual({ role: 'assistant', text: `It comes tomorrow. ${CUT_MARK}` });
  });
});

test('a voice that breaks off is gone on for: the model is told what was heard, and asked for the rest', () => {
  const bench = asked(says('It comes tomorrow at noon, by the blue van. Anything else?', 100));
  bench.runUntil('its words', () => bench.isSpeaking);
  bench.run(400);
  const heard = bench.breaksOff();
  bench.settle();
  expect(heard).not.toBe('');
  const [answer, note] = bench.lastMessages.slice(-2);
  expect(answer).toEqual({ role: 'assistant', text: `${heard} ${CUT_MARK}` });
  expect(note!.role).toBe('user');
  expect(bench.said.at(-1)).toBe('Fine.');
});

test('the second of two sayings is cut before its first word: the first counts as heard', () => {
  const bench = new AgentBench((request) =>
    lastText(request) === 'go'
      ? [
          { afterMs: 100, chunk: { type: 'text', text: `${'very '.repeat(40)}long. ` } },
          { afterMs: 1_300, chunk: { type: 'text', text: 'And more of it. ' } },
          { afterMs: 1_310, chunk: done() },
        ]
      : says('Fine.'),
  );
  bench.settle();
  bench.hears('go');
  bench.runUntil('the second', () => bench.heardTexts.length === 2);
  expect(bench.isSpeaking).toBe(true);
  bench.interrupts('stop');
  bench.settle();
  expect(JSON.stringify(bench.lastMessages)).toContain('very long.');
  expect(JSON.stringify(bench.lastMessages)).not.toContain('And more');
});
