/**
 * Media's part of every carrier in the list (`media/contract/carriers.ts`): the codec of its stream. The only file of
 * `media` that imports carriers' folders: a name without an entry here does not compile. The path `/media/{carrier}/…`
 * names one. Composed in `media/main.ts`.
 */
import { CARRIER_NAMES, CARRIERS, type CarrierName, type FramesPerMessage } from '../../contract/carriers.ts';
import type { MediaCodecFactory } from './media-codec.ts';
import { createPlivoCodecFactory } from './plivo/plivo-codec.ts';

type CodecSettings = { framesPerMessage: FramesPerMessage };

const CODECS: Readonly<Record<CarrierName, (settings: CodecSettings) => MediaCodecFactory>> = {
  plivo: createPlivoCodecFactory,
};

export interface CodecRegistry {
  find(carrier: string): MediaCodecFactory | undefined;
}

/** `framesPerMessage`: where it is not what the carrier has as its preset. */
export function createCodecRegistry(framesPerMessage: Partial<Record<CarrierName, FramesPerMessage>>): CodecRegistry {
  const byCarrier = new Map(
    CARRIER_NAMES.map((name) => {
      const frames = framesPerMessage[name] ?? CARRIERS[name].framesPerMessage[0];
      return [name as string, CODECS[name]({ framesPerMessage: frames })];
    }),
  );
  return { find: (carrier) => byCarrier.get(carrier) };
}
