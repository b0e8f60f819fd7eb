import { pino } from 'pino';
import { expect, test } from 'vitest';
import { toneKind, toneLoop } from '../../../../../media/agents/tone/tone-agent.ts';
import { decodeMulaw } from '../../../../../media/audio/g711.ts';
import { createCallSession } from '../../../../../media/call/call-session.ts';
import { GreetingCache } from '../../../../../media/call/speaking/greeting-cache.ts';
import { loopBytes } from '../../../../../media/call/speaking/looped-speech.ts';
import type { AgentKind } from '../../../../../media/contract/agent.ts';
import { MULAW_8K } from '../../../../../media/contract/audio-format.ts';
import type { FromPipeline } from '../../../../../media/contract/thread-messages.ts';
import { ANSWERED_EPOCH_MS, setupOf } from '../../../../support/fakes/fake-call.ts';
import { FakeLeg } from '../../../../support/fakes/fake-leg.ts';
import { FakeTextToSpeech } from '../../../../support/fakes/scripted-engines.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

test('one second of a 440 Hz tone has 440 periods, and its end meets its beginning', () => {
  const loop = loopBytes(toneLoop(440, 8_000), MULAW_8K);
  const samples = new Int16Array(8_000);
  decodeMulaw(loop, 0, 8_000, samples, 0);
  let risings = 0;
  for (let i = 0; i < samples.length; i++) if (samples.at(i - 1)! < 0 && samples[i]! >= 0) risings++;
  expect(risings).toBe(440);
});

test('a tone agent fills the ring without a hole until its longest time, then ends the call once', () => {
  const clock = new VirtualClock(ANSWERED_EPOCH_MS);
  const leg = new FakeLeg();
  const sent: FromPipeline[] = [];
  const agent = { kind: 'tone', name: 'Tone', direction: 'any', toneHz: 440, maxDurationSeconds: 3 } as const;
  const voice = new FakeTextToSpeech(clock);
  const logger = pino({ level: 'silent' });
  const greetings = new GreetingCache({ directory: '/nonexistent', clock, logger, textToSpeech: voice });
  const session = createCallSession(
    {
      ...{ clock, logger, greetings },
      kind: toneKind as AgentKind,
      listening: null,
      textToSpeech: voice,
      ringIo: () => {},
      send: (message) => sent.push(message),
    },
    setupOf(agent),
    leg.block,
  );
  session.start();
  for (let passedMs = 0; passedMs < 3_200; passedMs += 20) {
    clock.advanceMs(20);
    leg.step();
    session.tick();
  }
  expect(sent.filter((message) => message.type === 'call.end')).toEqual([
    { type: 'call.end', callUuid: 'call-1', reason: 'max_duration_reached', disposition: null, error: null },
  ]);
  expect(sent.some((message) => message.type === 'call.event' && message.event.type === 'first_audio')).toBe(true);
  expect(leg.sent.map((frame) => frame.seq)).toEqual(leg.sent.map((_frame, index) => index + 1));
  // 3 s, the lead at the far end and what was in the ring.
  expect(leg.sent.length).toBeGreaterThanOrEqual(3_000 / 20);
  // Nobody waits for it: it is thrown away with every second tick.
  expect(leg.block.uplink.queuedFrames).toBeLessThan(2);
});
