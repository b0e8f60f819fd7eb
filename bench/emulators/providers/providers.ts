/**
 * Every emulated provider, by the name that the command line uses. The only file that imports their folders; they do
 * not know each other.
 */
import { startAnthropicEmulator } from './anthropic/anthropic-emulator.ts';
import { startAssemblyAiEmulator } from './assemblyai/assemblyai-emulator.ts';
import { startCartesiaEmulator } from './cartesia/cartesia-emulator.ts';
import { startDeepgramEmulator } from './deepgram/deepgram-emulator.ts';
import { startElevenLabsEmulator } from './elevenlabs/elevenlabs-emulator.ts';
import { startGeminiEmulator } from './gemini/gemini-emulator.ts';
import type { ScenarioInput } from './mind/scenario.ts';
import { startOpenAiEmulator } from './openai/openai-emulator.ts';
import type { EndpointOptions, ProviderEndpoint } from './provider-endpoint.ts';
import type { EmulatedVoice } from './voice/emulated-voice.ts';
import type { WordRecogniser } from './word-recogniser.ts';

/** What a provider has no use for it leaves. */
export interface ProviderOptions extends EndpointOptions {
  /** For recognisers: what callers may say. */
  vocabulary?: readonly string[];
  /** For recognisers: ears that they share; undefined where none hears. Who gives them closes them. */
  recogniser?: WordRecogniser | undefined;
  /** For models: what they know. */
  scenario: ScenarioInput;
  /** For those that speak; null where none does. */
  voice: EmulatedVoice | null;
}

interface ProviderEntry {
  hears?: true;
  speaks?: true;
  start(options: ProviderOptions): Promise<ProviderEndpoint>;
}

export const PROVIDERS: Record<string, ProviderEntry> = {
  anthropic: { start: startAnthropicEmulator },
  assemblyai: { hears: true, start: startAssemblyAiEmulator },
  cartesia: { speaks: true, start: startCartesiaEmulator },
  deepgram: { hears: true, speaks: true, start: startDeepgramEmulator },
  elevenlabs: { speaks: true, start: startElevenLabsEmulator },
  gemini: { start: startGeminiEmulator },
  openai: { hears: true, speaks: true, start: startOpenAiEmulator },
};
