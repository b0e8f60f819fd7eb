/** A `fetch` that trusts one authority: for whoever asks an emulated provider. */
import { Agent, fetch as undiciFetch } from 'undici';

export function trustingFetch(caPem: string): typeof fetch {
  const dispatcher = new Agent({ connect: { ca: caPem } });
  const trusting = (url: string, init: object = {}): unknown => undiciFetch(url, { ...init, dispatcher });
  return trusting as unknown as typeof fetch;
}
