/** Clips in a call: they sound where the voice would, and everything that speech can do happens to them. */
import { pino } from 'pino';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createResampler } from '../../../../media/audio/resampler.ts';
import { ClipCache, type ClipSource } from '../../../../media/call/speaking/clip-cache.ts';
import { MULAW_8K } from '../../../../media/contract/audio-format.ts';
import { type CallClips, CLIP_RATE_HZ } from '../../../../media/contract/clip.ts';
import { type FakeCall, fakeCall } from '../../../support/fakes/fake-call.ts';
import { sampleAgent } from '../../../support/sample-agent.ts';

const TEXT = 'Can you still come to us on tuesday at three in the afternoon?';
const DURATION_MS = 4_000;
const file = (clipId: string) => ({
  clipId,
  path: `/nowhere/${clipId}.sealed`,
  keyHex: '00'.repeat(32),
  durationMs: DURATION_MS,
});
const FILES: CallClips = { question: file('c1'), broken: file('c2') };
const QUESTION = { clip: 'question', text: TEXT };

class FakeClips implements ClipSource {
  readonly asked: string[] = [];
  readonly store = new Map<string, Uint8Array>();

  async *sound({ clipId }: { clipId: string }): AsyncGenerator<Int16Array> {
    this.asked.push(clipId);
    if (clipId === 'c2') throw new Error('chunk 0 of 3 is damaged or cut off');
    const pieceSamples = CLIP_RATE_HZ / 2;
    for (let at = 0; at < (CLIP_RATE_HZ * DURATION_MS) / 1000; at += pieceSamples) {
      yield Int16Array.from({ length: pieceSamples }, (_, i) => 8_000 * Math.sin(i / 9));
    }
  }

  async kept({ clipId }: { clipId: string }, { codec, rateHz }: { codec: string; rateHz: number }) {
    return this.store.get(`${clipId} ${codec} ${rateHz}`) ?? null;
  }

  async keep({ clipId }: { clipId: string }, { codec, rateHz }: { codec: string; rateHz: number }, frames: Uint8Array) {
    this.store.set(`${clipId} ${codec} ${rateHz}`, frames.slice());
  }
}

let call: FakeCall;
// What is compiled once in real time would come too late for a call of virtual time.
beforeAll(async () => (await createResampler(CLIP_RATE_HZ, MULAW_8K.rateHz)).close());
afterEach(() => call?.close());

async function started(change: Parameters<typeof sampleAgent>[0], more: object = {}): Promise<FakeClips> {
  const clips = new FakeClips();
  const agent = sampleAgent({ voice: 'fake', ...change });
  call = await fakeCall({ agent, clips, setup: { clips: FILES }, prepared: false, ...more });
  call.start();
  return clips;
}

const stepsAsking = (say: Parameters<typeof sampleAgent>[0]) => {
  const [ask, ...rest] = sampleAgent().steps;
  return [{ ...ask!, ...say }, ...rest];
};

const warnings = () => call.conversationEvents.flatMap((event) => (event.type === 'warning' ? [event.code] : []));

describe('a clip in a call', () => {
  test('sounds as a greeting and as a step, for its own time, without the voice; its text is the transcript', async () => {
    const clips = await started({
      greeting: { clip: 'question', text: 'Hello from a clip.' },
      steps: stepsAsking({ say: QUESTION } as never),
    });
    call.ear.turns = [{ partials: [{ afterMs: 600, text: 'yes' }], final: { text: 'yes please' } }];
    await call.agentFinishes(TEXT);
    expect(call.story()).toEqual(['agent: Hello from a clip.', `agent: ${TEXT}`]);
    for (const turn of call.turns) expect(Math.abs(turn.endMs - turn.startMs - DURATION_MS)).toBeLessThanOrEqual(60);
    expect(call.voice.requests).toEqual([]);
    expect(clips.asked).toEqual(['c1']);
    await call.say(600);
    await call.agentFinishes('What is your order number?');
    expect(call.turns.find(({ role }) => role === 'user')?.intent).toBe('accept');
  });

  test('is interrupted like speech: what was heard of its text is as much as of its time', async () => {
    await started({ greeting: QUESTION });
    call.ear.turns = [{ partials: [{ afterMs: 500, text: 'yes' }], final: { text: 'yes please' } }];
    await call.agentStarts();
    await call.run(1_900);
    await call.say(900);
    await call.runUntil('the cut', () => call.turns.some(({ interrupted }) => interrupted));
    const { heardText } = call.turns.find(({ interrupted }) => interrupted)!;
    expect(TEXT.startsWith(heardText)).toBe(true);
    expect(heardText.length / TEXT.length).toBeGreaterThan(0.35);
    expect(heardText.length / TEXT.length).toBeLessThan(0.85);
  });

  test.each([
    ['is damaged', 'broken'],
    ['is not to be had', 'elsewhere'],
  ])('that %s is spoken by the voice, and the call has a warning', async (_why, clip) => {
    await started({ greeting: { clip, text: 'Hello all the same.' } });
    await call.agentFinishes('Hello all the same.');
    expect(call.voice.requests.map(({ text }) => text)).toContain('Hello all the same.');
    expect(warnings()).toEqual(['clip_unavailable']);
    expect(call.ends).toEqual([]);
  });

  test('comes after a text and before one where a step has both, each a turn of its own', async () => {
    const checkpoint = { stepId: 'ask', variables: {}, misses: 0, visits: { ask: 1 }, nextTurnNumber: 3, atMs: 5_000 };
    await started({ steps: stepsAsking({ say: QUESTION } as never) }, { checkpoint });
    await call.agentFinishes(TEXT);
    expect(call.story()).toEqual(['agent: Sorry, I lost you for a moment.', `agent: ${TEXT}`]);
  });

  test('that a lost line has cut begins anew after the bridge', async () => {
    await started({ greeting: QUESTION });
    await call.agentStarts();
    await call.run(1_000);
    call.registry.command('call-1', { type: 'hold', held: true });
    await call.run(2_000);
    call.registry.command('call-1', { type: 'hold', held: false });
    await call.runUntil('the clip', () => call.turns.some(({ text, interrupted }) => text === TEXT && !interrupted));
    expect(call.story().slice(1)).toEqual(['agent: Sorry, I lost you for a moment.', `agent: ${TEXT}`]);
    expect(call.story()[0]).toMatch(/\[cut\]$/);
  });
});

describe('the cache of clips', () => {
  const settled = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  };

  test('renders a clip once for each format, here and for other threads', async () => {
    const clips = new FakeClips();
    const cache = new ClipCache(clips, pino({ level: 'silent' }));
    const first = cache.obtain(FILES['question']!, TEXT, MULAW_8K);
    expect(cache.obtain(FILES['question']!, TEXT, MULAW_8K)).toBe(first);
    await settled();
    // The resampler's last 3 ms are a frame of their own.
    expect([first.complete, first.error, first.frames]).toEqual([true, null, DURATION_MS / 20 + 1]);
    const wide = cache.obtain(FILES['question']!, TEXT, { codec: 'pcm_s16le', rateHz: 24000 });
    await settled();
    expect([wide.complete, wide.frames, clips.asked.length]).toEqual([true, DURATION_MS / 20, 2]);

    const other = new ClipCache(clips, pino({ level: 'silent' })).obtain(FILES['question']!, TEXT, MULAW_8K);
    await settled();
    expect(clips.asked).toHaveLength(2);
    expect(
      Buffer.compare(other.bytes.subarray(0, other.frames * 160), first.bytes.subarray(0, first.frames * 160)),
    ).toBe(0);
    expect(other.words).toEqual(first.words);
  });

  test('tries a clip that failed once more when it is asked for again', async () => {
    const clips = new FakeClips();
    const cache = new ClipCache(clips, pino({ level: 'silent' }));
    expect(cache.obtain(FILES['broken']!, TEXT, MULAW_8K).error).toBeNull();
    await settled();
    expect(cache.obtain(FILES['broken']!, TEXT, MULAW_8K).error).toBeNull();
    expect(clips.asked).toEqual(['c2']);
    await settled();
    expect(clips.asked).toEqual(['c2', 'c2']);
  });
});
