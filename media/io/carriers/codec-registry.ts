/** Which carriers' streams this process can carry. The path `/media/{carrier}/…` names one. */
import type { MediaCodecFactory } from './media-codec.ts';

export interface CodecRegistry {
  find(carrier: string): MediaCodecFactory | undefined;
}

export function createCodecRegistry(factories: readonly MediaCodecFactory[]): CodecRegistry {
  const byCarrier = new Map(factories.map((factory) => [factory.carrier, factory]));
  return { find: (carrier) => byCarrier.get(carrier) };
}
