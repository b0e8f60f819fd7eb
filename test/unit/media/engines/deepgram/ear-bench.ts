/** An ear of Deepgram with everything around it, step by step, for tests of what happens to its sockets. */
import type { EarCodec } from '../../../../../media/contract/ear.ts';
import { EARS, engineOf } from '../../../../../media/engines/registry.ts';
import { FakeDeepgram } from '../../../../support/providers/fake-deepgram.ts';
import { grantOf, providerBench, useOf } from '../../../../support/providers/provider-bench.ts';
import { toySpeech } from '../../../../support/providers/toy-speech.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';
import { EarBench } from '../call-ear-conformance.ts';

export interface EarBenchOptions {
  settings?: Record<string, unknown>;
  codec?: EarCodec;
  rateHz?: number;
  prepare?(fake: FakeDeepgram): void;
}

export async function earBench(engine: 'deepgram' | 'deepgram-flux', options: EarBenchOptions = {}) {
  const { settings = {}, codec = 'mulaw', rateHz = 8000 } = options;
  const clock = new VirtualClock();
  const fake = new FakeDeepgram(clock);
  options.prepare?.(fake);
  const provider = providerBench(clock, { openSocket: fake.openSocket }, [grantOf('deepgram')]);
  const lines = { port: provider.port };
  const open = (await engineOf(EARS, 'recogniser', engine).load())(() => lines.port);
  const use = useOf('deepgram', settings);
  const newEar = (): Promise<EarBench> =>
    EarBench.open(async (listener) => ({
      ear: open(rateHz, use, codec)(listener),
      speech: (text) => toySpeech(text, rateHz),
      step: provider.step,
      close: provider.close,
    }));
  return {
    clock,
    fake,
    provider,
    lines,
    newEar,
    prepare: () => open.prepare!(rateHz, use, codec),
    /** So long without sound. */
    async wait(ms: number): Promise<void> {
      for (let waitedMs = 0; waitedMs < ms; waitedMs += 20) await provider.step();
    },
    used: () => provider.told.flatMap((message) => (message.type === 'usage' ? message.lines : [])),
  };
}
