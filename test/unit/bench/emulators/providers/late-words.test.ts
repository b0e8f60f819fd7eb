import { expect, it } from 'vitest';
import { openFlux } from '../../../../../bench/emulators/providers/deepgram/flux.ts';
import { readFlux } from '../../../../../bench/emulators/providers/deepgram/flux-settings.ts';
import { latenciesSchema } from '../../../../../bench/emulators/providers/deepgram/latencies.ts';
import { Journal } from '../../../../../bench/emulators/providers/journal.ts';
import type { Message, SocketExchange } from '../../../../../bench/emulators/providers/provider.ts';
import { Timetable } from '../../../../../bench/emulators/providers/timetable.ts';
import type { HeardWords, WordRecogniser } from '../../../../../bench/emulators/providers/word-recogniser.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const FRAME = Buffer.alloc(160);

it('starts a turn with words that come after the last of the sound', async () => {
  const clock = new VirtualClock();
  const sent: Message[] = [];
  let hear: (message: Buffer) => void = () => {};
  let onWords: (heard: HeardWords) => void = () => {};
  const recogniser: WordRecogniser = {
    open(_rateHz, _phrases, on) {
      onWords = on;
      return { push() {}, conclude() {}, goOn() {}, finish() {}, cancel() {} };
    },
    createVoiceActivity: () => ({ isSpeech: () => true, close() {} }),
    tellsVoices: false,
    close: async () => {},
  };
  const over = new AbortController();
  const exchange = {
    timetable: new Timetable(clock, new Journal(() => clock.nowMs())),
    signal: over.signal,
    send: (message: Message) => sent.push(message),
    note() {},
    onMessage(listener: (message: string | Buffer) => void) {
      hear = listener;
    },
    close() {},
  } as unknown as SocketExchange;
  const settings = readFlux(new URLSearchParams('model=flux-general-en&encoding=mulaw&sample_rate=8000'));
  const latencies = latenciesSchema.parse({});
  openFlux(exchange, { settings, recogniser, vocabulary: ['call me'], latencies, requestId: 'one' });

  for (let i = 0; i < 20; i++) hear(FRAME);
  clock.advanceMs(5_000);
  const words = ['call', 'me'].map((word, at) => ({ word, startMs: 100 * at, endMs: 100 * at + 90, confidence: 1 }));
  onWords({ words, final: false, concluded: false });
  clock.advanceMs(latencies.turnEventMs);
  expect(sent.at(-1)).toMatchObject({ event: 'StartOfTurn', transcript: 'call me' });
  over.abort();
});
