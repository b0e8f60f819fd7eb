/**
 * What every implementation of `LanguageModel` does. A case answers in a way of its provider's; the checks ask the port
 * alone. Each check gets a fresh case.
 */
import { afterEach, describe, expect, test } from 'vitest';
import type { LanguageModel, ModelChunk, ModelRequest } from '../../../../media/contract/model.ts';

/** How the provider behaves for the next request. */
export type ModelScene =
  | {
      say: readonly string[];
      usage?: [input: number, cached: number, output: number];
      stop?: 'length' | 'filtered';
      /** With fields and events that are not known yet. */
      isNewer?: true;
    }
  | { say: readonly string[]; uses: readonly { id: string; name: string; argumentParts: readonly string[] }[] }
  | { status: number; text: string }
  /** After so many pieces. */
  | { say: readonly string[]; after: 'break' | 'stall' | 'garbage' | 'strangers_answer' | 'rate_limit' };

export interface ModelCase {
  model: LanguageModel;
  /** For the next request; it holds until another is set. */
  scene(scene: ModelScene): void;
  /** Requests as the provider got them. */
  requests(): readonly { text: string; isClosed: boolean }[];
  /** The provider gives ids and counts tokens itself, whatever the scene says of them. */
  countsItself?: boolean;
  /** So much time passes for whoever waits for the provider. */
  pass(ms: number): Promise<void>;
  /** The port to the provider thread, or what stands for it, is gone. */
  die(): void;
  close(): Promise<void> | void;
}

export const ASKED: ModelRequest = {
  messages: [
    { role: 'system', text: 'You are a dentist.' },
    { role: 'user', text: 'Tuesday?' },
  ],
  tools: [{ name: 'find_slot', description: 'Finds a slot.', parameters: { type: 'object', properties: {} } }],
  toolChoice: 'auto',
  maxTokens: 200,
};

/** All chunks until the answer's end. */
export function answerOf(model: LanguageModel, request = ASKED): Promise<ModelChunk[]> {
  const chunks: ModelChunk[] = [];
  return new Promise((resolve) => {
    let isWithin = true;
    model.ask(request, (chunk) => {
      if (isWithin) throw new Error('a chunk came from within');
      chunks.push(chunk);
      if (chunk.type === 'done' || chunk.type === 'failed') setTimeout(() => resolve(chunks), 10);
    });
    isWithin = false;
  });
}

export const textOf = (chunks: readonly ModelChunk[]): string =>
  chunks.map((chunk) => (chunk.type === 'text' ? chunk.text : '')).join('');

const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 1));
};

const MODEL_CHECKS: Record<string, (one: ModelCase) => Promise<void>> = {
  'an answer comes in pieces, in order, and ends once, with what it cost': async (one) => {
    one.scene({ say: ['On ', 'Tuesday ', 'at three. ✓'], usage: [50, 20, 7] });
    const chunks = await answerOf(one.model);
    expect(textOf(chunks)).toBe('On Tuesday at three. ✓');
    expect(chunks.filter(({ type }) => type === 'text').length).toBeGreaterThan(1);
    const count = (tokens: number): unknown => (one.countsItself === true ? expect.any(Number) : tokens);
    const usage = { inputTokens: count(50), cachedInputTokens: count(20), outputTokens: count(7) };
    expect(chunks.at(-1)).toEqual({ type: 'done', stop: 'end', usage });
    expect(chunks.filter(({ type }) => type === 'done')).toHaveLength(1);
    expect(one.requests()[0]?.text).toContain('Tuesday?');
  },
  'tools are told whole, several at once': async (one) => {
    const uses = [
      { id: 'use_1', name: 'find_slot', argumentParts: ['{"day":', '"tue"}'] },
      { id: 'use_2', name: 'find_slot', argumentParts: ['{"day":"w', 'ed"}'] },
    ];
    one.scene({ say: ['One moment.'], uses });
    const chunks = await answerOf(one.model);
    expect(textOf(chunks)).toBe('One moment.');
    const id = (given: string): unknown => (one.countsItself === true ? expect.any(String) : given);
    expect(chunks.slice(-3)).toMatchObject([
      { type: 'use', use: { useId: id('use_1'), name: 'find_slot', argumentsText: '{"day":"tue"}' } },
      { type: 'use', use: { useId: id('use_2'), name: 'find_slot', argumentsText: '{"day":"wed"}' } },
      { type: 'done', stop: 'tools' },
    ]);
    expect(new Set(chunks.map((chunk) => (chunk.type === 'use' ? chunk.use.useId : ''))).size).toBe(3);
  },
  'an answer that is cut short says so': async (one) => {
    one.scene({ say: ['On '], stop: 'length' });
    expect((await answerOf(one.model)).at(-1)).toMatchObject({ type: 'done', stop: 'length' });
    one.scene({ say: [], stop: 'filtered' });
    expect((await answerOf(one.model)).at(-1)).toMatchObject({ type: 'done', stop: 'filtered' });
  },
  'what was taken back tells nothing more, and the provider is told to stop': async (one) => {
    one.scene({ say: ['On'], after: 'stall' });
    const chunks: ModelChunk[] = [];
    const takeBack = one.model.ask(ASKED, (chunk) => chunks.push(chunk));
    await until(() => chunks.length === 1);
    takeBack();
    await until(() => one.requests()[0]?.isClosed === true);
    takeBack();
    await one.pass(120_000);
    expect(chunks).toHaveLength(1);
  },
  'questions at once do not mix': async (one) => {
    one.scene({ say: ['a', 'b', 'c', 'd'] });
    const answers = await Promise.all(Array.from({ length: 10 }, () => answerOf(one.model)));
    for (const chunks of answers) expect(textOf(chunks)).toBe('abcd');
  },
  'what a provider refuses is told from what passes': async (one) => {
    const faults: string[] = [];
    for (const status of [400, 401, 403, 404, 429, 500, 503]) {
      one.scene({ status, text: 'no' });
      const chunks = await answerOf(one.model);
      expect(chunks).toHaveLength(1);
      faults.push(chunks[0]?.type === 'failed' ? chunks[0].fault : 'none');
    }
    expect(faults).toEqual(['refused', 'refused', 'refused', 'refused', 'throttled', 'failed', 'failed']);
  },
  'an answer that breaks off, is none, or is somebody else’s ends as failed, after what was right of it': async (
    one,
  ) => {
    for (const after of ['break', 'garbage', 'strangers_answer'] as const) {
      one.scene({ say: ['On'], after });
      const chunks = await answerOf(one.model);
      expect([after, textOf(chunks), chunks.at(-1)]).toMatchObject([after, 'On', { type: 'failed', fault: 'failed' }]);
    }
  },
  'fields and events that are not known yet change nothing': async (one) => {
    one.scene({ say: ['On ', 'Tuesday.'], isNewer: true });
    const chunks = await answerOf(one.model);
    expect([textOf(chunks), chunks.at(-1)]).toMatchObject(['On Tuesday.', { type: 'done', stop: 'end' }]);
  },
  'a limit that is reached in mid-answer is told as one, after what was said': async (one) => {
    one.scene({ say: ['On'], after: 'rate_limit' });
    const chunks = await answerOf(one.model);
    expect([textOf(chunks), chunks.at(-1)]).toMatchObject(['On', { type: 'failed', fault: 'throttled' }]);
    one.scene({ say: ['Tuesday.'] });
    expect(textOf(await answerOf(one.model))).toBe('Tuesday.');
  },
  'a schema of a tool that is refused is told in the provider’s words, and asked once': async (one) => {
    one.scene({ status: 400, text: 'Schema of find_slot: no.' });
    const before = one.requests().length;
    const answer = await answerOf(one.model);
    expect(answer).toMatchObject([{ type: 'failed', fault: 'refused' }]);
    // An emulator refuses in its own.
    if (one.countsItself !== true)
      expect(answer).toMatchObject([{ message: expect.stringContaining('find_slot: no.') }]);
    expect(one.requests()).toHaveLength(before + 1);
  },
  'a provider that says nothing, or nothing more, is given up': async (one) => {
    for (const say of [[], ['On']]) {
      one.scene({ say, after: 'stall' });
      const before = one.requests().length;
      const answer = answerOf(one.model);
      await until(() => one.requests().length > before);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await one.pass(120_000);
      expect((await answer).at(-1)).toMatchObject({ type: 'failed', fault: 'timeout' });
      await until(() => one.requests().at(-1)?.isClosed === true);
    }
  },
  'when the thread dies each question fails, once, and so do later ones': async (one) => {
    one.scene({ say: ['On'], after: 'stall' });
    const answer = answerOf(one.model);
    await until(() => one.requests().length === 1);
    one.die();
    expect((await answer).at(-1)).toMatchObject({ type: 'failed', fault: 'failed' });
    expect((await answerOf(one.model)).at(-1)).toMatchObject({ type: 'failed', fault: 'failed' });
  },
};

/** `open` gives a fresh case for each check. */
export function describeLanguageModel(name: string, open: () => Promise<ModelCase>): void {
  describe(`${name} as a LanguageModel`, () => {
    let opened: ModelCase | undefined;
    afterEach(async () => {
      await opened?.close();
      opened = undefined;
    });
    test.each(Object.entries(MODEL_CHECKS))('%s', async (_check, run) => {
      opened = await open();
      await run(opened);
    });
  });
}
