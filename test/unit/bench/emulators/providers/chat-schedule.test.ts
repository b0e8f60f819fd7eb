import { describe, expect, it } from 'vitest';
import { Journal } from '../../../../../bench/emulators/providers/journal.ts';
import { parseScenario } from '../../../../../bench/emulators/providers/mind/scenario.ts';
import { tokensOf } from '../../../../../bench/emulators/providers/mind/tokens.ts';
import { answerChat } from '../../../../../bench/emulators/providers/openai/chat-endpoint.ts';
import type { HttpExchange } from '../../../../../bench/emulators/providers/provider.ts';
import { Timetable } from '../../../../../bench/emulators/providers/timetable.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const TEXT = 'One two three.';

/** Answers a request on a virtual clock; what was sent, and when. */
async function answered(scenario: object) {
  const clock = new VirtualClock();
  const abort = new AbortController();
  const timetable = new Timetable(clock, new Journal(() => clock.nowMs()));
  const sent: { atMs: number; text: string }[] = [];
  const body = { model: 'emulated-mini', stream: true, messages: [{ role: 'user', content: 'Hello' }] };
  const exchange = {
    timetable,
    signal: abort.signal,
    body: async () => Buffer.from(JSON.stringify(body)),
    head() {},
    note() {},
    send: (text: string) => sent.push({ atMs: clock.nowMs(), text }),
    end: () => timetable.close(),
  } as unknown as HttpExchange;
  await answerChat(exchange, parseScenario({ rules: [{ when: {}, say: TEXT, ...scenario }] }));
  return { clock, timetable, sent };
}

describe('the emulated model thinks on an absolute clock', () => {
  it('sends the first token after 300 ms and each other 15 ms later, with one timer at a time', async () => {
    const { clock, sent } = await answered({});
    clock.advanceMs(299);
    expect(sent).toEqual([]);
    clock.advanceMs(1);
    // The role and the first token.
    expect(sent.map(({ atMs }) => atMs)).toEqual([300, 300]);
    expect(clock.pendingTimers).toBe(1);
    clock.advanceMs(1_000);
    const tokens = tokensOf(TEXT).map((_, i) => 300 + 15 * i);
    const endMs = tokens.at(-1)! + 15;
    expect(sent.map(({ atMs }) => atMs)).toEqual([300, ...tokens, endMs, endMs]);
    expect(sent.at(-1)?.text).toBe('data: [DONE]\n\n');
    expect(clock.pendingTimers).toBe(0);
  });

  it('streams nothing for ever, and nothing more when the exchange is over', async () => {
    const silent = await answered({ streamsNothing: true });
    silent.clock.advanceMs(3_600_000);
    expect(silent.sent).toEqual([]);
    const endless = await answered({ repeats: true });
    endless.clock.advanceMs(10_000);
    const before = endless.sent.length;
    expect(before).toBeGreaterThan(600);
    endless.timetable.close();
    endless.clock.advanceMs(10_000);
    expect(endless.sent.length).toBe(before);
  });
});

describe('a scenario', () => {
  it('names what is wrong with it: an expression, an unknown field, a placeholder that nothing fills', () => {
    const rule = (more: object) => () => parseScenario({ rules: [{ when: {}, say: 'x', ...more }] } as never);
    expect(rule({ when: { user: '(' } })).toThrow(/rules\[0\]\.when\.user/);
    expect(rule({ sings: true })).toThrow(/sings/);
    expect(rule({ name: 'greets', say: 'Hello {{name}}' })).toThrow(
      /rules\[0\] \(greets\) names \{\{name\}\}.*\(\?<name>…\)/s,
    );
    expect(rule({ when: { user: 'i am (?<name>\\w+)' }, say: 'Hello {{name}}' })).not.toThrow();
  });
});

describe('tokens', () => {
  it.each(['', ' ', 'Hello there, Ana!', 'Straße 12345 👍🏽\n\n- ünïcode\u0301', "I'm\tfine"])(
    'joined are the text again: %j',
    (text) => {
      expect(tokensOf(text).join('')).toBe(text);
    },
  );
});
