/**
 * The frame path of a call makes no garbage to speak of: neither while it listens nor while the agent speaks. In a
 * process of its own: code that has also seen the legs and agents of other tests is compiled for all of them, and
 * leaves about 100 bytes a frame that no call leaves.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { type FakeCall, fakeCall } from '../support/fakes/fake-call.ts';
import { sampleAgent } from '../support/sample-agent.ts';

setFlagsFromString('--expose-gc');
const LAP_FRAMES = 1_000;
const collect = runInNewContext('gc') as () => void;

/** Heap bytes per 20 ms of the call, the fake far end's own included. */
function bytesPerFrame(call: FakeCall, frames: number): number {
  const pass = (count: number) => {
    for (let i = 0; i < count; i++) {
      call.leg.step();
      call.registry.tick(true);
    }
  };
  // Compiled by now, so that the compiler's own memory is not counted.
  pass(1_500);
  collect();
  // In short laps, of which those that a collection falls into are not counted: it would hide what the others left.
  // On a busy machine the compiler comes late, into a few of them: the one in the middle says what every lap leaves.
  const laps: number[] = [];
  for (let done = 0; done < frames; done += LAP_FRAMES) {
    const before = process.memoryUsage().heapUsed;
    pass(LAP_FRAMES);
    const grown = process.memoryUsage().heapUsed - before;
    if (grown < 0) continue;
    laps.push(grown / LAP_FRAMES);
  }
  return laps.sort((a, b) => a - b)[Math.floor(laps.length / 2)]!;
}

test('800 s of listening leave under 100 bytes of garbage a frame, 100 s of speaking under 400 with the fake far end’s own', async () => {
  const quiet = { promptAfterMs: 1e9, say: [], endAfterMs: 1e9 };
  const listening = await fakeCall({ agent: sampleAgent({ voice: 'fake', idle: quiet }) });
  listening.start();
  await listening.agentFinishes('Can you come on tuesday at three?');
  expect(bytesPerFrame(listening, 40_000)).toBeLessThan(100);
  listening.close();

  const text = 'One and two and three and four and five. '.repeat(80).trim();
  const agent = sampleAgent({ voice: 'fake', idle: quiet, greeting: text });
  const speaking = await fakeCall({ agent, prepared: false });
  speaking.start();
  await speaking.run(20_000);
  const playedBefore = speaking.leg.block.playedSeq;
  // The far end remembers each frame that it was sent: 100 to 200 bytes of its own.
  expect(bytesPerFrame(speaking, 5_000)).toBeLessThan(400);
  expect(speaking.leg.block.playedSeq - playedBefore).toBeGreaterThan(5_000);
  speaking.close();
});
