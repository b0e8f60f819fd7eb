/**
 * What went wrong with the voices of one call, for its call log: what was told before the call had a stream (its
 * greeting is rendered while the phone rings) waits until it has. Of voices that no call owns it is forgotten.
 */
import type { ConversationEvent } from '../contract/conversation.ts';
import type { VoiceTrouble } from './standby-voice.ts';

type Recovery = Omit<Extract<ConversationEvent, { type: 'recovery' }>, 'atMs'>;

const MOST_KEPT = 8;

export class VoiceTroubles {
  #tell: ((event: Recovery) => void) | null = null;
  readonly #kept: VoiceTrouble[] = [];

  told(trouble: VoiceTrouble): void {
    if (this.#tell !== null) this.#tell(recoveryOf(trouble));
    else if (this.#kept.length < MOST_KEPT) this.#kept.push(trouble);
  }

  tellTo(tell: (event: Recovery) => void): void {
    this.#tell = tell;
    for (const trouble of this.#kept.splice(0)) tell(recoveryOf(trouble));
  }
}

function recoveryOf({ kind, label, message, afterMs }: VoiceTrouble): Recovery {
  const what = kind === 'late' ? 'voice_hedge' : 'voice_fallback';
  return { type: 'recovery', what, gapMs: afterMs, message: `${label}: ${message}` };
}
