/** Utterances that grow while they are spoken: text in pieces, sound with its words. */
import { expect, test } from 'vitest';
import { takeAudio } from '../../../../../media/call/speaking/audio-intake.ts';
import { FeedPieces } from '../../../../../media/call/speaking/feed-pieces.ts';
import { piecesOf } from '../../../../../media/call/speaking/sentences.ts';
import { renderFeed } from '../../../../../media/call/speaking/speech-renderer.ts';
import { MULAW_8K } from '../../../../../media/contract/audio-format.ts';
import { AudioFeed, TextFeed } from '../../../../../media/contract/speech-source.ts';
import { FakeTextToSpeech } from '../../../../support/fakes/scripted-engines.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a sentence is a piece as soon as white space follows it, an abbreviation is not, and the rest comes at the end', () => {
  const feed = new TextFeed();
  const pieces = new FeedPieces(feed);
  const taken = (): string[] => {
    const got: string[] = [];
    for (let piece = pieces.next(); piece !== null; piece = pieces.next()) got.push(`${piece.charStart} ${piece.text}`);
    return got;
  };
  feed.push('Hello the');
  expect(taken()).toEqual([]);
  feed.push('re.');
  expect(taken()).toEqual([]);
  feed.push(' Dr. ');
  expect(taken()).toEqual(['0 Hello there.']);
  feed.push('Singh is in. And');
  expect(taken()).toEqual(['13 Dr. Singh is in.']);
  expect(pieces.isOver).toBe(false);
  feed.finish();
  expect(taken()).toEqual(['30 And']);
  expect(pieces.isOver).toBe(true);
});

test('the first clause of a long sentence is a piece before anybody knows how long the sentence is', () => {
  const feed = new TextFeed();
  const pieces = new FeedPieces(feed);
  feed.push('Let me look that up for you,');
  expect(pieces.next()).toBeNull();
  feed.push(' it ');
  expect(pieces.next()).toEqual({ text: 'Let me look that up for you,', charStart: 0, isClause: true });
  feed.push('takes a moment, as ever,');
  expect(pieces.next()).toBeNull();
  feed.finish();
  expect(pieces.next()).toMatchObject({ text: 'it takes a moment, as ever,' });
});

test.each([1, 3, 7, 1000])(
  'a text that comes %d characters at a time is cut as though it had come at once',
  (chars) => {
    const text =
      'Thank you for calling the dental office today, my name is Kim. We open at 8:30 a.m. and close at five. Is 3.5 ok? Yes!';
    const feed = new TextFeed();
    const pieces = new FeedPieces(feed);
    const got = [];
    for (let at = 0; at < text.length; at += chars) {
      feed.push(text.slice(at, at + chars));
      for (let piece = pieces.next(); piece !== null; piece = pieces.next()) got.push(piece);
    }
    feed.finish();
    for (let piece = pieces.next(); piece !== null; piece = pieces.next()) got.push(piece);
    expect(got).toEqual(piecesOf(text));
  },
);

test('a feed is spoken while it grows, and is over when it is finished and all of it was made', async () => {
  const clock = new VirtualClock();
  const voice = new FakeTextToSpeech(clock);
  const feed = new TextFeed();
  const speech = renderFeed(voice, clock, feed, { voice: 'fake', format: MULAW_8K });
  const make = async (): Promise<void> => {
    for (let i = 0; i < 4; i++) await turn();
    clock.advanceMs(100);
    await turn();
    speech.want?.(60_000);
    await turn();
  };
  feed.push('One two. Thr');
  await make();
  expect(voice.requests.map(({ text }) => text)).toEqual(['One two.']);
  expect(speech.frames).toBe(400 / 20);
  expect(speech.complete).toBe(false);
  feed.push('ee.');
  feed.finish();
  await make();
  await make();
  expect(voice.requests.map(({ text }) => text)).toEqual(['One two.', 'Three.']);
  expect(speech.complete).toBe(true);
  expect(speech.error).toBeNull();
  expect(speech.words.map(({ charStart, charEnd }) => speech.text.slice(charStart, charEnd))).toEqual([
    'One',
    'two.',
    'Three.',
  ]);
  expect(speech.heardText(speech.durationMs)).toBe('One two. Three.');
});

test('sound is played as it came, with the times of its words; what comes after it was abandoned is dropped', async () => {
  const feed = new AudioFeed(8_000);
  const speech = takeAudio(feed, MULAW_8K);
  feed.push(new Int16Array(1_600).fill(5_000), [{ text: 'Hello', startMs: 0, endMs: 150 }]);
  feed.push(new Int16Array(1_600), [{ text: ' there.', startMs: 210, endMs: 380 }]);
  await turn();
  expect(speech.text).toBe('Hello there.');
  expect(speech.frames).toBe(20);
  expect([speech.heardText(149), speech.heardText(150), speech.heardText(380)]).toEqual(['', 'Hello', 'Hello there.']);
  speech.abandon?.();
  expect(feed.isAbandoned).toBe(true);
  feed.push(new Int16Array(1_600));
  await turn();
  expect(speech.frames).toBe(20);
});
