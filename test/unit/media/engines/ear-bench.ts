/** An ear of a provider with everything around it, step by step, for tests of what happens to its sockets. */
import type { EarCodec } from '../../../../media/contract/ear.ts';
import type { ServiceDeps } from '../../../../media/engines/provider/provider-service.ts';
import { EARS, engineOf } from '../../../../media/engines/registry.ts';
import { grantOf, providerBench, useOf } from '../../../support/providers/provider-bench.ts';
import { toySpeech } from '../../../support/providers/toy-speech.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { EarBench } from './call-ear-conformance.ts';

export interface EarBenchOptions<Fake> {
  settings?: Record<string, unknown>;
  codec?: EarCodec;
  rateHz?: number;
  prepare?(fake: Fake): void;
}

export async function earBench<Fake extends Pick<ServiceDeps, 'openSocket'>>(
  engine: string,
  provider: string,
  fakeOf: (clock: VirtualClock) => Fake,
  options: EarBenchOptions<Fake> = {},
) {
  const { settings = {}, codec = 'mulaw', rateHz = 8000 } = options;
  const clock = new VirtualClock();
  const fake = fakeOf(clock);
  options.prepare?.(fake);
  const bench = providerBench(clock, { openSocket: fake.openSocket }, [grantOf(provider)]);
  const lines = { port: bench.port };
  const open = (await engineOf(EARS, 'recogniser', engine).load())(() => lines.port);
  const use = useOf(provider, settings);
  const newEar = (): Promise<EarBench> =>
    EarBench.open(async (listener) => ({
      ear: open(rateHz, use, codec)(listener),
      speech: (text) => toySpeech(text, rateHz),
      step: bench.step,
      close: bench.close,
    }));
  return {
    clock,
    fake,
    provider: bench,
    lines,
    newEar,
    prepare: () => open.prepare!(rateHz, use, codec),
    /** So long without sound. */
    async wait(ms: number): Promise<void> {
      for (let waitedMs = 0; waitedMs < ms; waitedMs += 20) await bench.step();
    },
    used: () => bench.told.flatMap((message) => (message.type === 'usage' ? message.lines : [])),
  };
}
