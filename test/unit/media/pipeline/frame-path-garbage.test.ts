/** The frame path of a call makes no garbage to speak of: neither while it listens nor while the agent speaks. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { type FakeCall, fakeCall } from '../../../support/fakes/fake-call.ts';
import { sampleAgent } from '../../../support/sample-agent.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const FRAMES = 5_000;

/** Heap bytes per 20 ms of the call, the fake far end's own included. */
function bytesPerFrame(call: FakeCall): number {
  const pass = (frames: number) => {
    for (let i = 0; i < frames; i++) {
      call.leg.step();
      call.registry.tick(true);
    }
  };
  pass(500);
  collect();
  const before = process.memoryUsage().heapUsed;
  pass(FRAMES);
  return (process.memoryUsage().heapUsed - before) / FRAMES;
}

test('100 s of listening and 100 s of speaking leave under 100 bytes of garbage a frame', async () => {
  const quiet = { promptAfterMs: 1e9, say: [], endAfterMs: 1e9 };
  const listening = await fakeCall({ agent: sampleAgent({ voice: 'fake', idle: quiet }) });
  listening.start();
  await listening.agentFinishes('Can you come on tuesday at three?');
  expect(bytesPerFrame(listening)).toBeLessThan(100);
  listening.close();

  const text = 'One and two and three and four and five. '.repeat(80).trim();
  const agent = sampleAgent({ voice: 'fake', idle: quiet, greeting: text });
  const speaking = await fakeCall({ agent, prepared: false });
  speaking.start();
  await speaking.run(20_000);
  const playedBefore = speaking.leg.block.playedSeq;
  // The far end remembers each frame that it was sent: 100 to 200 bytes of its own.
  expect(bytesPerFrame(speaking)).toBeLessThan(300);
  expect(speaking.leg.block.playedSeq - playedBefore).toBeGreaterThan(FRAMES);
  speaking.close();
});
