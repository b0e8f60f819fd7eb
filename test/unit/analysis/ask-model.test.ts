import { describe, expect, it } from 'vitest';
import type { OutboundResult } from '../../../media/net/outbound-http.ts';
import { type Asked, askModel } from '../../../src/analysis/ask-model.ts';
import { readByHeuristic } from '../../../src/analysis/heuristic/heuristic.ts';
import { createModelStates } from '../../../src/analysis/model-state.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { CONFIRMED, story } from './sample-story.ts';

const ENDPOINT = { baseUrl: 'https://llm.example/v1/', model: 'm-1', apiKey: 'gsk_canary5f0c2e' };
const told = (
  status: number,
  changes: Partial<Extract<OutboundResult, { kind: 'answered' }>> = {},
): OutboundResult => ({
  kind: 'answered',
  status,
  retryAfter: null,
  body: '{}',
  isBodyWhole: true,
  responseMs: 1,
  ...changes,
});
const GOOD = told(200, {
  body: JSON.stringify({ choices: [{ message: { content: '{"summary":"Yes.","intent":"confirmed"}' } }] }),
});

/** Runs to the end in virtual time; `at` are the ms at which it was asked. */
async function ask(
  answers: (OutboundResult | 'never')[],
  budgetMs = 90_000,
): Promise<{ asked: Asked; at: number[]; tookMs: number }> {
  const clock = new VirtualClock();
  const at: number[] = [];
  const deps = {
    clock,
    random: () => 0.5,
    http: {
      send(): Promise<OutboundResult> {
        const answer = answers[Math.min(at.length, answers.length - 1)]!;
        at.push(clock.nowMs());
        return answer === 'never' ? new Promise(() => {}) : Promise.resolve(answer);
      },
      close: async () => {},
    },
  };
  const given = story(CONFIRMED);
  const base = readByHeuristic(given).findings;
  const state = createModelStates(clock).of('w', '1');
  let done: Asked | null = null;
  void askModel(deps, ENDPOINT, state, {
    story: given,
    base,
    deadlineAtMs: budgetMs,
    signal: new AbortController().signal,
  }).then((asked) => {
    done = asked;
  });
  for (let turns = 0; turns < 2_000 && done === null; turns++) {
    for (let each = 0; each < 20; each++) await Promise.resolve();
    if (done === null) clock.advanceMs(100);
  }
  return { asked: done!, at, tookMs: clock.nowMs() };
}

describe('a model is asked', () => {
  it('once, when it answers', async () => {
    const { asked, at } = await ask([GOOD]);
    expect(asked).toMatchObject({ ok: true, findings: { summary: 'Yes.', intent: 'confirmed', model: 'm-1' } });
    expect(at).toEqual([0]);
  });

  it('four times, after 1, 4 and 10 s, while it is down', async () => {
    const { asked, at } = await ask([{ kind: 'failed', reason: 'the connection was refused' }]);
    expect(asked).toMatchObject({ ok: false, fault: 'unreachable' });
    expect(at).toEqual([0, 1_000, 5_000, 15_000]);
  });

  it('twice for 30 s while it stalls: 61 s, whatever its connection does', async () => {
    const { asked, at, tookMs } = await ask(['never']);
    expect(asked).toMatchObject({ ok: false, fault: 'timeout' });
    expect(at).toEqual([0, 31_000]);
    expect(tookMs).toBe(61_000);
  });

  it('after as long as it asks for, and not at all when that is beyond the deadline', async () => {
    const busy = told(429, { retryAfter: '7' });
    expect((await ask([busy, GOOD])).at).toEqual([0, 7_000]);
    const { asked, at } = await ask([told(429, { retryAfter: '3600' }), GOOD]);
    expect(asked).toMatchObject({ ok: false, fault: 'rate_limited' });
    expect(at).toEqual([0]);
    const byDate = told(503, { retryAfter: new Date(Date.UTC(2026, 10, 21) + 20_000).toUTCString() });
    expect((await ask([byDate, GOOD])).at).toEqual([0, 20_000]);
  });

  it('never beyond the deadline: of 20 s a question gets what is left', async () => {
    const { tookMs } = await ask(['never'], 20_000);
    expect(tookMs).toBe(20_000);
    expect((await ask([GOOD], 500)).at).toEqual([]);
  });

  it.each([401, 403, 404, 413, 302])('once, when it answers %i', async (status) => {
    const { asked, at } = await ask([told(status, { body: '{"error":{"message":"key sk-abc123 is wrong"}}' })]);
    expect(asked).toMatchObject({ ok: false, fault: 'rejected', reason: `it answered ${status}: “key … is wrong”` });
    expect(at).toEqual([0]);
  });

  it('and its key is told to nobody, whatever it looks like, when the server repeats it', async () => {
    const { asked } = await ask([told(401, { body: '{"error":{"message":"gsk_canary5f0c2e is wrong"}}' })]);
    expect(asked).toMatchObject({ ok: false, reason: 'it answered 401: “… is wrong”' });
  });

  it('in three forms, at once, while it answers 400 and 422', async () => {
    const { asked, at } = await ask([told(400), told(422), GOOD]);
    expect(asked.ok).toBe(true);
    expect(at).toEqual([0, 0, 0]);
    expect((await ask([told(400)])).asked).toMatchObject({ ok: false, fault: 'rejected' });
  });

  it.each([
    ['an error with status 200', '{"error":{"message":"overloaded"}}', 'server_error'],
    ['no choices', '{"choices":[]}', 'nonsense'],
    ['an answer that was cut off', '{"choices":[{"finish_reason":"length","message":{"content":"{"}}]}', 'nonsense'],
    ['a filtered answer', '{"choices":[{"finish_reason":"content_filter","message":{"content":"{}"}}]}', 'refused'],
    ['null', 'null', 'nonsense'],
    ['a page', '<html>', 'nonsense'],
  ])('and %s is no answer', async (_what, body, fault) => {
    expect((await ask([told(200, { body })])).asked).toMatchObject({ ok: false, fault });
  });
});
