/**
 * The decoders of a thread, lent for one utterance each. Called by the listen scheduler. A decoder that already holds
 * the asked grammar is preferred (loading one takes 1 to 5 ms); decoders are made when none is free, up to a limit, and
 * are never unmade.
 */
import type { CompiledGrammar } from './grammar.ts';
import type { DecoderRateHz, PhraseDecoder } from './phrase-decoder.ts';

export interface DecoderPool {
  /** `null` when none is free: one more may be in the making, and `onFree` tells. */
  take(rateHz: DecoderRateHz, grammar: CompiledGrammar): PhraseDecoder | null;
  /** `broken` when it threw: it is thrown away. */
  give(rateHz: DecoderRateHz, decoder: PhraseDecoder, broken: boolean): void;
  /** A decoder that was made elsewhere joins, free. */
  adopt(rateHz: DecoderRateHz, decoder: PhraseDecoder): void;
  readonly decoders: number;
}

export interface DecoderPoolOptions {
  create(rateHz: DecoderRateHz): Promise<PhraseDecoder>;
  /** Of all rates together. */
  limit: number;
  /** A decoder has become free, or could not be made. */
  onFree(): void;
  onError(error: unknown): void;
}

export function createDecoderPool(options: DecoderPoolOptions): DecoderPool {
  const free = new Map<DecoderRateHz, PhraseDecoder[]>();
  let decoders = 0;
  let making = 0;

  function freeOf(rateHz: DecoderRateHz): PhraseDecoder[] {
    let list = free.get(rateHz);
    if (list === undefined) {
      list = [];
      free.set(rateHz, list);
    }
    return list;
  }

  function make(rateHz: DecoderRateHz): void {
    if (decoders >= options.limit || making > 0) return;
    decoders++;
    making++;
    options
      .create(rateHz)
      .then(
        (decoder) => {
          freeOf(rateHz).push(decoder);
        },
        (error: unknown) => {
          decoders--;
          options.onError(error);
        },
      )
      .finally(() => {
        making--;
        options.onFree();
      });
  }

  return {
    take(rateHz, grammar) {
      const list = freeOf(rateHz);
      if (list.length === 0) {
        make(rateHz);
        return null;
      }
      const holder = list.findIndex((decoder) => decoder.grammarKey === grammar.key);
      return list.splice(holder === -1 ? 0 : holder, 1)[0]!;
    },
    give(rateHz, decoder, broken) {
      if (broken) decoders--;
      else freeOf(rateHz).push(decoder);
      options.onFree();
    },
    adopt(rateHz, decoder) {
      decoders++;
      freeOf(rateHz).push(decoder);
    },
    get decoders() {
      return decoders;
    },
  };
}
