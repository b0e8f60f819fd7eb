/**
 * A voice that remembers the pieces that are the same in every call: most of what scripts say, and beside a name only
 * the sentence that holds it is made anew. What may be about somebody (a name, a tool's result, an operator's words) is
 * not marked as fixed and not kept. In the memory of the TTS thread alone, for all its clients; bounded in bytes, the
 * longest unused go first.
 */
import type { FliteVoice, PieceOfSpeech } from './flite-voice.ts';

/** A quarter of an hour of speech. */
export const MOST_KEPT_BYTES = 32 * 1024 * 1024;

export function keepPieces(voice: FliteVoice, mostBytes = MOST_KEPT_BYTES): FliteVoice {
  /** Oldest use first. */
  const kept = new Map<string, Int16Array<ArrayBuffer>>();
  let keptBytes = 0;

  function keep(key: string, samples: Int16Array<ArrayBuffer>): void {
    if (samples.byteLength > mostBytes) return;
    kept.set(key, samples);
    keptBytes += samples.byteLength;
    for (const [oldest, { byteLength }] of kept) {
      if (keptBytes <= mostBytes) break;
      kept.delete(oldest);
      keptBytes -= byteLength;
    }
  }

  return {
    speak(piece) {
      const key = keyOf(piece);
      const known = kept.get(key);
      if (known !== undefined) {
        kept.delete(key);
        kept.set(key, known);
        // What is given away may be transferred to another thread.
        return known.slice();
      }
      const samples = voice.speak(piece);
      if (piece.isFixed === true) keep(key, samples.slice());
      return samples;
    },
    prepare: () => voice.prepare(),
  };
}

function keyOf({ text, voice, isFirst, end }: PieceOfSpeech): string {
  return `${voice} ${isFirst} ${end} ${text}`;
}
