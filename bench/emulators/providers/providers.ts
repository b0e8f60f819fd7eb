/**
 * Every emulated provider, by the name that the command line uses. The only file that imports their folders; they do
 * not know each other.
 */
import { startDeepgramEmulator } from './deepgram/deepgram-emulator.ts';
import type { EndpointOptions, ProviderEndpoint } from './provider-endpoint.ts';

/** What a provider has no use for it leaves. */
export interface ProviderOptions extends EndpointOptions {
  /** For recognisers: what callers may say. */
  vocabulary?: readonly string[];
}

export const PROVIDERS: Record<string, (options: ProviderOptions) => Promise<ProviderEndpoint>> = {
  deepgram: startDeepgramEmulator,
};
