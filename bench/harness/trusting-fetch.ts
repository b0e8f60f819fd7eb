/** A `fetch` that trusts one authority: for whoever asks an emulated provider. */
import { Agent } from 'undici';
import { fetchOver } from './fetch-over.ts';

export function trustingFetch(caPem: string): typeof fetch {
  return fetchOver(new Agent({ connect: { ca: caPem } }));
}
