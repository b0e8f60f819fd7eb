/** Voices of providers against their emulators, over TLS, with sound that is spoken. */
import { afterAll, beforeAll } from 'vitest';
import { startElevenLabsEmulator } from '../../../bench/emulators/providers/elevenlabs/elevenlabs-emulator.ts';
import { startOpenAiEmulator } from '../../../bench/emulators/providers/openai/openai-emulator.ts';
import type { ProviderEndpoint } from '../../../bench/emulators/providers/provider-endpoint.ts';
import { type EmulatedVoice, startEmulatedVoice } from '../../../bench/emulators/providers/voice/emulated-voice.ts';
import { engineOf, VOICES } from '../../../media/engines/registry.ts';
import { grantOf, providerHarness } from '../../unit/media/engines/provider-harness.ts';
import { describeTextToSpeech } from '../../unit/media/engines/text-to-speech-conformance.ts';

const KEY = 'canary-of-a-voice';
const QUICK = { firstAudioMs: 5, chunkEveryMs: 1 };

let voice: EmulatedVoice;
const emulators: Record<string, { endpoint: ProviderEndpoint; path: string; provider: string; voices: string[] }> = {};

beforeAll(async () => {
  voice = await startEmulatedVoice();
  emulators['elevenlabs'] = {
    endpoint: await startElevenLabsEmulator({ keys: [KEY], voice, latencies: { ...QUICK, closeAfterMs: 20 } }),
    path: '',
    provider: 'elevenlabs',
    voices: ['21m00Tcm4TlvDq8ikWAM', 'emulated-robot'],
  };
  emulators['openai'] = {
    endpoint: await startOpenAiEmulator({ keys: [KEY], voice, scenario: { rules: [] } as never }),
    path: '/v1',
    provider: 'openai_compatible',
    voices: ['alloy', 'robot'],
  };
});
afterAll(async () => {
  for (const { endpoint } of Object.values(emulators)) await endpoint.close();
  await voice.close();
});

for (const engine of ['elevenlabs', 'openai']) {
  describeTextToSpeech(`The voice of ${engine}, emulated`, async () => {
    const { endpoint, path, provider, voices } = emulators[engine]!;
    const harness = providerHarness({ ca: endpoint.caPem });
    const baseUrl = `${endpoint.origin}${path}`;
    harness.grant('call-1', grantOf({ provider, baseUrl, credentials: { apiKey: KEY } }));
    const port = harness.connect();
    const kind = engineOf(VOICES, 'voice engine', engine);
    const settings = engine === 'openai' ? { model: 'tts-1' } : {};
    const open = (await kind.load())(() => port);
    const { tellsWordTimes, codecs } = kind.traits;
    return {
      voice: open({ callUuid: 'call-1', connection: 'main', settings }),
      tellsWordTimes,
      givesMulaw: codecs.includes('mulaw'),
      voicesOfProvider: voices,
      close: () => harness.close(),
    };
  });
}
