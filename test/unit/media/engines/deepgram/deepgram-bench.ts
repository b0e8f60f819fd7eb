/** An ear of Deepgram over its fake. */
import { FakeDeepgram } from '../../../../support/providers/fake-deepgram.ts';
import { type EarBenchOptions, earBench } from '../ear-bench.ts';

export type DeepgramBenchOptions = EarBenchOptions<FakeDeepgram>;

export function deepgramBench(engine: 'deepgram' | 'deepgram-flux', options?: DeepgramBenchOptions) {
  return earBench(engine, 'deepgram', (clock) => new FakeDeepgram(clock), options);
}
