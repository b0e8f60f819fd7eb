/** The judging model: asked several times, the majority counts, and one that disagrees with itself is told as such. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { judgeOf, spreadOf } from '../../../../bench/agent-test/judge.ts';
import type { LanguageModel } from '../../../../media/contract/model.ts';
import { shippedCopy, TestFolder } from './run-tests.ts';

const folder = new TestFolder();
afterAll(() => folder.remove());

const YES = '{"holds": true, "why": "it is"}';
const NO = '```json\n{"holds": false, "why": "it is not"}\n```';

/** Answers in turn; null fails. */
function saying(...answers: (string | null)[]): LanguageModel {
  return {
    ask(_request, onChunk) {
      const text = answers.shift() ?? null;
      queueMicrotask(() => {
        if (text === null) {
          onChunk({ type: 'failed', fault: 'throttled', message: 'asked too often' });
          return;
        }
        onChunk({ type: 'text', text });
        onChunk({ type: 'done', stop: 'end', usage: null });
      });
      return () => {};
    },
  };
}

const verdict = (...answers: (string | null)[]) =>
  judgeOf(saying(...answers), answers.length)(['agent: Hi'], 'It is polite.');

describe('a judge', () => {
  it('of one mind', async () => {
    const all = await verdict(YES, YES, YES);
    expect(all).toMatchObject({ yes: 3, no: 0, none: 0, holds: true, why: 'it is' });
    expect(spreadOf(all)).toBeNull();
  });

  it('that disagrees with itself: the majority counts, and the spread is told', async () => {
    const split = await verdict(YES, NO, YES);
    expect(split).toMatchObject({ yes: 2, no: 1, holds: true });
    expect(spreadOf(split)).toBe('the judge disagrees with itself: 2 yes, 1 no');
    expect(await verdict(NO, YES, NO)).toMatchObject({ holds: false, why: 'it is not' });
  });

  it('without a majority of all that was asked could not say', async () => {
    expect(await verdict(YES, NO)).toMatchObject({ holds: null });
    const failing = await verdict(YES, null, 'Certainly!');
    expect(failing).toMatchObject({ yes: 1, none: 2, holds: null });
    expect(spreadOf(failing)).toBe('the judge did not answer 2 of 3 times, 1 yes');
    expect(spreadOf(await verdict(YES, NO, null))).toBe(
      'the judge disagrees with itself: 1 yes, 1 no, 1 without an answer',
    );
    expect(await verdict(null)).toMatchObject({ holds: null, why: 'the judge failed (throttled): asked too often' });
  });
});

describe('a scenario that a judge decides', () => {
  const run = (say: string) =>
    folder.run([
      folder.write('file.json', {
        ...shippedCopy('dental.json'),
        model: { emulated: { rules: [], otherwise: { say } } },
        judge: { connection: 'brain', model: 'judge', asks: 2 },
        scenarios: [{ name: 'one', opening: { contains: 'Hello', judge: 'It is polite.' } }],
      }),
    ]);

  it('passes, fails with the reason, or could not be judged: 0, 1, 3', async () => {
    expect((await run(YES)).code).toBe(0);
    const failed = await run(NO);
    expect([failed.code, failed.out]).toEqual([1, expect.stringContaining('is of one mind: it is not')]);
    const unjudged = await run('Who knows?');
    expect(unjudged.code).toBe(3);
    expect(unjudged.out).toContain('could not be judged');
    expect(unjudged.out.match(/the judge did not answer 2 of 2 times/g)).toHaveLength(1);
    expect(unjudged.out).not.toContain('disagrees');
    expect(unjudged.out).toContain('0 passed, 0 failed, 1 not judged');
  });
});

describe('a judge of a real model', () => {
  const file = (judge: object) =>
    folder.write('real.json', {
      ...shippedCopy('dental.json'),
      model: { environment: true },
      judge: { connection: 'brain', model: 'small', asks: 1, ...judge },
      scenarios: [{ name: 'one', opening: { judge: 'It is polite.' } }],
    });
  const events = (...all: object[]): string => all.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
  const PROVIDERS: Record<string, [path: string, body: string]> = {
    OPENAI: [
      '/chat/completions',
      `${events({ id: 'c', choices: [{ index: 0, delta: { content: YES }, finish_reason: 'stop' }] })}data: [DONE]\n\n`,
    ],
    ANTHROPIC: [
      '/v1/messages',
      events(
        { type: 'message_start', message: { id: 'm', usage: { input_tokens: 1, output_tokens: 1 } } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: YES } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
        { type: 'message_stop' },
      ),
    ],
    GEMINI: [
      '/v1beta/models/small:streamGenerateContent?alt=sse',
      events({ responseId: 'r', candidates: [{ content: { parts: [{ text: YES }] }, finishReason: 'STOP' }] }),
    ],
  };

  it.each(Object.entries(PROVIDERS))(
    'of %s is asked as its provider is, and needs no key beside',
    async (name, [path, body]) => {
      const seen: string[] = [];
      const server = http.createServer((request, response) => {
        seen.push(request.url ?? '');
        request.resume();
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(body);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const environment = {
        [`${name}_API_KEY`]: 'canary',
        [`${name}_BASE_URL`]: `http://127.0.0.1:${port}`,
        MODEL_ALLOW_CIDRS: '127.0.0.0/8',
      };
      const done = await folder.run([file({})], {}, environment);
      server.close();
      expect(done).toMatchObject({ code: 0, out: expect.stringContaining('1 passed') });
      expect(seen).toEqual([path]);
    },
  );

  it.each([
    [{}, {}, /model\.environment: wants OPENAI_API_KEY .* or GEMINI_API_KEY/],
    [{ connection: 'mind' }, {}, /judge: there is no connection 'mind' for the model 'small'; there are: brain/],
    [
      { engine: 'openai' },
      {},
      /judge: the model 'small' is asked by the engine 'openai', .* one to Google Gemini: write "engine": "gemini"/,
    ],
    [
      { connection: 'voice' },
      { ELEVENLABS_API_KEY: 'x' },
      /judge: the connection 'voice' .* one to ElevenLabs, which has no language models/,
    ],
    [{ engine: 'local' }, {}, /judge\.engine: /],
  ])('that cannot be asked is refused before the first call: %o', async (judge, others, said) => {
    const keys: Record<string, string> = said.source.startsWith('model') ? {} : { GEMINI_API_KEY: 'x' };
    const { code, out } = await folder.run([file(judge)], {}, { ...keys, ...others });
    expect([code, out]).toEqual([2, expect.stringMatching(said)]);
    expect(out).not.toContain('passed');
  });
});
