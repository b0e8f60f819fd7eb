/** Both ears of Deepgram, the whole way from the pipeline's port to the wire, over a line and a fake that speaks it. */

import type { EarCodec, EarListener } from '../../../../../media/contract/ear.ts';
import { EARS, engineOf } from '../../../../../media/engines/registry.ts';
import { FakeDeepgram } from '../../../../support/providers/fake-deepgram.ts';
import { grantOf, providerBench, useOf } from '../../../../support/providers/provider-bench.ts';
import { toySpeech } from '../../../../support/providers/toy-speech.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';
import { describeCallEar } from '../call-ear-conformance.ts';

for (const engine of ['deepgram', 'deepgram-flux']) {
  for (const [codec, rateHz] of [
    ['mulaw', 8000],
    ['pcm_s16le', 16000],
  ] as [EarCodec, number][]) {
    describeCallEar(`${engine} in ${codec}`, async (listener: EarListener) => {
      const clock = new VirtualClock();
      const fake = new FakeDeepgram(clock);
      const bench = providerBench(clock, { openSocket: fake.openSocket }, [grantOf('deepgram')]);
      const open = (await engineOf(EARS, 'recogniser', engine).load())(() => bench.port);
      const ear = open(rateHz, useOf('deepgram'), codec)(listener);
      return { ear, speech: (text) => toySpeech(text, rateHz), step: bench.step, close: bench.close };
    });
  }
}
