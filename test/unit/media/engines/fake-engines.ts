/**
 * Every engine of the registry over what stands for its provider: a fake that speaks its wire on a virtual clock, or,
 * of the local ones, the engine itself. A new engine enters here by a line, and `conformance.test.ts` judges it.
 */
import { MessageChannel } from 'node:worker_threads';
import { systemClock } from '../../../../media/contract/clock.ts';
import type { EarCodec } from '../../../../media/contract/ear.ts';
import { loadFliteVoice } from '../../../../media/engines/local/flite-voice.ts';
import { grammarEarOf } from '../../../../media/engines/local/grammar-ear.ts';
import { loadLocalListener } from '../../../../media/engines/local/local-listener.ts';
import { createSpeechToTextClient } from '../../../../media/engines/local/speech-to-text-client.ts';
import { serveSttClient } from '../../../../media/engines/local/stt-service.ts';
import { createTextToSpeechClient } from '../../../../media/engines/local/text-to-speech-client.ts';
import { createTtsScheduler } from '../../../../media/engines/local/tts-scheduler.ts';
import { serveTtsClient } from '../../../../media/engines/local/tts-service.ts';
import type { ServiceDeps } from '../../../../media/engines/provider/provider-service.ts';
import { EARS, engineOf, VOICES } from '../../../../media/engines/registry.ts';
import { FakeAssemblyAi } from '../../../support/providers/fake-assemblyai.ts';
import { FakeCartesia } from '../../../support/providers/fake-cartesia.ts';
import { FakeDeepgram } from '../../../support/providers/fake-deepgram.ts';
import { FakeDeepgramSpeech } from '../../../support/providers/fake-deepgram-speech.ts';
import { FakeElevenLabs } from '../../../support/providers/fake-elevenlabs.ts';
import { FakeSpeechServer } from '../../../support/providers/fake-speech-server.ts';
import { FakeTranscription } from '../../../support/providers/fake-transcription.ts';
import { grantOf, providerBench, useOf } from '../../../support/providers/provider-bench.ts';
import { toySpeech } from '../../../support/providers/toy-speech.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { messagesCase } from './anthropic/messages-case.ts';
import type { MessageChange, OpenEarOfTest } from './call-ear-conformance.ts';
import { generateCase } from './gemini/generate-case.ts';
import type { ModelCase } from './model-conformance.ts';
import { chatCase } from './openai/chat-case.ts';
import { overTheLine } from './speech-fixtures.ts';
import type { OpenedVoice, OpenVoiceOfTest } from './text-to-speech-conformance.ts';

const flite = await loadFliteVoice();
const listener = await loadLocalListener(() => {});

/** By engine; in each form that it is given. */
export const EAR_CASES: Readonly<Record<string, Readonly<Record<string, OpenEarOfTest>>>> = {
  local: { 'PCM 8 kHz': localEar },
  deepgram: earForms('deepgram', 'deepgram', (clock) => new FakeDeepgram(clock)),
  'deepgram-flux': earForms('deepgram-flux', 'deepgram', (clock) => new FakeDeepgram(clock)),
  assemblyai: earForms('assemblyai', 'assemblyai', (clock) => new FakeAssemblyAi(clock)),
  openai: earForms('openai', 'openai_compatible', (clock) => new FakeTranscription(clock)),
};

export const VOICE_CASES: Readonly<Record<string, OpenVoiceOfTest>> = {
  local: localVoice,
  elevenlabs: voiceOver('elevenlabs', (clock) => {
    const { openSocket, voices } = new FakeElevenLabs(clock);
    return { provider: 'elevenlabs', deps: { openSocket }, voices };
  }),
  cartesia: voiceOver('cartesia', (clock) => {
    const { openSocket, voices } = new FakeCartesia(clock);
    return { provider: 'cartesia', deps: { openSocket }, voices };
  }),
  deepgram: voiceOver('deepgram', (clock) => {
    const { openSocket, voices } = new FakeDeepgramSpeech(clock);
    return { provider: 'deepgram', deps: { openSocket }, voices };
  }),
  openai: voiceOver('openai', (clock) => {
    const fake = new FakeSpeechServer(clock);
    const streams = { open: fake.open.bind(fake), warm() {}, close() {} };
    return { provider: 'openai_compatible', deps: { streams }, voices: fake.voices };
  }),
};

export const MODEL_CASES: Readonly<Record<string, () => Promise<ModelCase>>> = {
  openai: () => chatCase(),
  anthropic: () => messagesCase(),
  gemini: () => generateCase(),
};

async function localEar(told: Parameters<OpenEarOfTest>[0]): ReturnType<OpenEarOfTest> {
  const { port1, port2 } = new MessageChannel();
  serveSttClient(port1, listener);
  return {
    ear: grammarEarOf(createSpeechToTextClient(port2, 8000))(told),
    speech: (text) => overTheLine(flite, text),
    step: () => new Promise((resolve) => setTimeout(resolve, 1)),
    close: () => port2.close(),
  };
}

async function localVoice(): Promise<OpenedVoice> {
  const { port1, port2 } = new MessageChannel();
  serveTtsClient(port1, createTtsScheduler(flite, systemClock, setImmediate), systemClock);
  return {
    voice: createTextToSpeechClient(port2),
    tellsWordTimes: false,
    givesMulaw: false,
    close: () => port2.close(),
  };
}

/** An ear over sockets, in the form of a telephone and in that of a browser. */
function earForms(
  engine: string,
  provider: string,
  fakeOf: (clock: VirtualClock) => Pick<ServiceDeps, 'openSocket'>,
): Record<string, OpenEarOfTest> {
  const kind = engineOf(EARS, 'recogniser', engine);
  const pcmHz = Math.max(...kind.traits.ratesHz);
  const form =
    (codec: EarCodec, rateHz: number): OpenEarOfTest =>
    async (told, change) => {
      const clock = new VirtualClock();
      const { openSocket } = fakeOf(clock);
      const deps = { openSocket: changed(openSocket, change) };
      const bench = providerBench(clock, deps, [grantOf(provider)]);
      const open = (await kind.load())(() => bench.port);
      const ear = open(rateHz, useOf(provider), codec)(told);
      return { ear, speech: (text) => toySpeech(text, rateHz), step: bench.step, close: bench.close };
    };
  return { 'mu-law 8 kHz': form('mulaw', 8000), [`PCM ${pcmHz / 1_000} kHz`]: form('pcm_s16le', pcmHz) };
}

/** Sound passes as it is. */
function changed(open: ServiceDeps['openSocket'], change: MessageChange = (message) => [message]) {
  const openSocket: ServiceDeps['openSocket'] = (request, listener) =>
    open(request, {
      opened: (headers) => listener.opened(headers),
      message(data, isBinary) {
        if (isBinary) listener.message(data, true);
        else
          for (const one of change(JSON.parse(data.toString()) as object))
            listener.message(Buffer.from(JSON.stringify(one)), false);
      },
      pong: () => listener.pong?.(),
      over: (end) => listener.over(end),
    });
  return openSocket;
}

interface VoiceWire {
  /** Of the connection. */
  provider: string;
  deps: Partial<ServiceDeps>;
  voices: readonly string[];
}

function voiceOver(engine: string, wireOf: (clock: VirtualClock) => VoiceWire): OpenVoiceOfTest {
  return async (change) => {
    const clock = new VirtualClock();
    const { provider, deps, voices } = wireOf(clock);
    const { openSocket } = deps;
    const kind = engineOf(VOICES, 'voice engine', engine);
    const sockets = openSocket === undefined ? {} : { openSocket: changed(openSocket, change) };
    const bench = providerBench(clock, { ...deps, ...sockets }, [grantOf(provider)]);
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
  };
}
