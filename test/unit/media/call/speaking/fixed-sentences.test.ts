import { MessageChannel } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { fixedTexts } from '../../../../../media/agents/scripted/fixed-texts.ts';
import { fixedSentencesOf } from '../../../../../media/call/speaking/fixed-sentences.ts';
import { renderSpeech } from '../../../../../media/call/speaking/speech-renderer.ts';
import { MULAW_8K } from '../../../../../media/contract/audio-format.ts';
import { systemClock } from '../../../../../media/contract/clock.ts';
import { keepPieces } from '../../../../../media/engines/local/kept-voice.ts';
import { createTextToSpeechClient } from '../../../../../media/engines/local/text-to-speech-client.ts';
import { createTtsScheduler } from '../../../../../media/engines/local/tts-scheduler.ts';
import { serveTtsClient } from '../../../../../media/engines/local/tts-service.ts';
import { eventually } from '../../../../support/eventually.ts';
import { sampleAgent } from '../../../../support/sample-agent.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

test('are those of every line of the script that hold no placeholder, one with a fallback or at its edge neither', () => {
  const agent = sampleAgent({
    greeting: 'Hello {{name}}. This is the office. {{ city | Delhi }} is where we are! Good bye {{name}}',
    steps: [
      { id: 'a', say: 'And you?', tool: { name: 'look', saying: 'One moment. I look for {{order}}.', goto: 'b' } },
      { id: 'b', say: ['Fine.', { clip: 'tune', text: 'La la.' }, 'Room {{room}}'] },
    ],
    fallback: { say: ['Sorry?'], after: 3, goto: 'b' },
    idle: { promptAfterMs: 8_000, say: ['Still there?'], endAfterMs: 30_000 },
  });
  expect([...fixedSentencesOf(fixedTexts(agent))]).toEqual([
    'This is the office.',
    'Sorry?',
    'Still there?',
    'And you?',
    'One moment.',
    'Fine.',
    'La la.',
  ]);
});

test('are all that the speech thread keeps: a name, a result or an operator beside them is made anew in each call', async () => {
  const made: string[] = [];
  const voice = keepPieces({
    speak({ text }) {
      made.push(text.trim());
      return new Int16Array(1_600).fill(9_000);
    },
    prepare() {},
  });
  const { port1, port2 } = new MessageChannel();
  serveTtsClient(port1, createTtsScheduler(voice, systemClock, setImmediate), systemClock);
  const client = createTextToSpeechClient(port2);
  const fixed = fixedSentencesOf(
    fixedTexts(sampleAgent({ greeting: 'Hello {{name}}. This is the office. How are you?' })),
  );
  const say = async (text: string, known?: ReadonlySet<string>): Promise<string[]> => {
    made.length = 0;
    const request = { text, voice: 'slt', format: MULAW_8K, ...(known && { fixed: known }) };
    // However long the voice takes, it is not given up.
    const speech = renderSpeech(client, new VirtualClock(), request);
    speech.want?.(Number.POSITIVE_INFINITY);
    await eventually('the speech', () => speech.complete);
    expect(speech.error).toBeNull();
    return [...made];
  };
  const greeting = 'Hello Asha. This is the office. How are you?';
  expect(await say(greeting)).toEqual(['Hello Asha.', 'This is the office.', 'How are you?']);
  // Of one that says nothing of what is fixed, nothing was kept.
  expect(await say(greeting, fixed)).toEqual(['Hello Asha.', 'This is the office.', 'How are you?']);
  expect(await say(greeting, fixed)).toEqual(['Hello Asha.']);
  const operator = 'Your card ends in four. How are you?';
  expect(await say(operator, fixed)).toEqual(['Your card ends in four.']);
  expect(await say(operator, fixed)).toEqual(['Your card ends in four.']);
  port2.close();
});
