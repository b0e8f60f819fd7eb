/** Voices of providers as the port has them, the whole way from the pipeline to the wire, over fakes that speak it. */

import type { ServiceDeps } from '../../../../../media/engines/provider/provider-service.ts';
import { engineOf, VOICES } from '../../../../../media/engines/registry.ts';
import { FakeElevenLabs } from '../../../../support/providers/fake-elevenlabs.ts';
import { FakeSpeechServer } from '../../../../support/providers/fake-speech-server.ts';
import { grantOf, providerBench, useOf } from '../../../../support/providers/provider-bench.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';
import { describeTextToSpeech } from '../text-to-speech-conformance.ts';

const WIRES: Record<string, (clock: VirtualClock) => { deps: Partial<ServiceDeps>; voices: readonly string[] }> = {
  elevenlabs: (clock) => {
    const { openSocket, voices } = new FakeElevenLabs(clock);
    return { deps: { openSocket }, voices };
  },
  openai: (clock) => {
    const fake = new FakeSpeechServer(clock);
    const streams = { open: fake.open.bind(fake), warm() {}, close() {} };
    return { deps: { streams }, voices: fake.voices };
  },
};

for (const [engine, wire] of Object.entries(WIRES)) {
  describeTextToSpeech(`The voice of ${engine}`, async () => {
    const clock = new VirtualClock();
    const { deps, voices } = wire(clock);
    const kind = engineOf(VOICES, 'voice engine', engine);
    const provider = engine === 'openai' ? 'openai_compatible' : engine;
    const bench = providerBench(clock, deps, [grantOf(provider)]);
    bench.run();
    const open = (await kind.load())(() => bench.port);
    const { tellsWordTimes, codecs } = kind.traits;
    return {
      voice: open(useOf(provider, { model: 'm' })),
      tellsWordTimes,
      givesMulaw: codecs.includes('mulaw'),
      voicesOfProvider: voices,
      close: bench.close,
    };
  });
}
