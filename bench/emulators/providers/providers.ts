/**
 * Every emulated provider, by the name that the command line uses. The only file that imports their folders; they do
 * not know each other.
 */
import { startAnthropicEmulator } from './anthropic/anthropic-emulator.ts';
import { startCartesiaEmulator } from './cartesia/cartesia-emulator.ts';
import { startDeepgramEmulator } from './deepgram/deepgram-emulator.ts';
import { startElevenLabsEmulator } from './elevenlabs/elevenlabs-emulator.ts';
import type { ScenarioInput } from './mind/scenario.ts';
import { startOpenAiEmulator } from './openai/openai-emulator.ts';
import type { EndpointOptions, ProviderEndpoint } from './provider-endpoint.ts';
import type { EmulatedVoice } from './voice/emulated-voice.ts';
import type { WordRecogniser } from './word-recogniser.ts';

/** What a provider has no use for it leaves. */
export interface ProviderOptions extends EndpointOptions {
  /** For recognisers: what callers may say. */
  vocabulary?: readonly string[];
  /** Of recognisers: no sound is taken for a voice that is none. */
  isExact?: boolean;
  /** Other ears than their own; who gives them closes them. */
  recogniser?: WordRecogniser | undefined;
  /** For models: what they know. */
  scenario: ScenarioInput;
  /** For those that speak; null where none does. */
  voice: EmulatedVoice | null;
}

interface ProviderEntry {
  speaks: boolean;
  start(options: ProviderOptions): Promise<ProviderEndpoint>;
}

export const PROVIDERS: Record<string, ProviderEntry> = {
  anthropic: { speaks: false, start: startAnthropicEmulator },
  cartesia: { speaks: true, start: startCartesiaEmulator },
  deepgram: { speaks: false, start: startDeepgramEmulator },
  elevenlabs: { speaks: true, start: startElevenLabsEmulator },
  openai: { speaks: true, start: startOpenAiEmulator },
};
