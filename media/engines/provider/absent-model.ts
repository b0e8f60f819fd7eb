/** A language model that cannot be had: each question to it fails, with why. Made by the pipeline thread. */
import type { LanguageModel } from '../../contract/model.ts';

export function absentModel(why: string): LanguageModel {
  return {
    ask(_request, onChunk) {
      let isWanted = true;
      queueMicrotask(() => {
        if (isWanted) onChunk({ type: 'failed', fault: 'no_connection', message: why });
      });
      return () => {
        isWanted = false;
      };
    },
  };
}
