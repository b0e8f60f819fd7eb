/**
 * What callers are saying just now, of the calls that a board shows. Partial words are told to who follows a call and
 * stored nowhere; that somebody follows it also has its events written sooner (`src/media-link/inbox.ts`). Made by
 * `live-board.ts`, one a workspace that is looked at.
 */
import type { CallEventBus } from '../calls/call-event-bus.ts';

export interface LastWords {
  role: 'agent' | 'user';
  text: string;
  at: Date;
  /** The caller is still saying them: more will come, or others in their place. */
  isPartial: boolean;
}

export interface FollowedWords {
  /** These from now on, and no others. */
  follow(callUuids: ReadonlySet<string>): void;
  /** The caller's sentence under way; null: none is. The same object until it changes. */
  partial(callUuid: string): LastWords | null;
  /** Calls whose sentence has become a turn, which is stored: what is read from now on has it. */
  whoFinished(): string[];
  /** Those were read: their partial words are over, if nothing was said since. */
  settled(callUuids: readonly string[]): void;
  close(): void;
}

interface Followed {
  words: LastWords | null;
  isFinished: boolean;
  end(): void;
}

export function createFollowedWords(bus: Pick<CallEventBus, 'subscribe'>, mostCharacters: number): FollowedWords {
  const all = new Map<string, Followed>();

  function begin(callUuid: string): Followed {
    const one: Followed = { words: null, isFinished: false, end: () => {} };
    one.end = bus.subscribe(callUuid, ({ kind, at, data, isEarly }) => {
      // One that is not stored yet is not read; one that is stored late is of a sentence before this.
      if (kind === 'turn' && isEarly !== true && (one.words === null || one.words.at <= at)) one.isFinished = true;
      if (kind !== 'partial' || typeof data['text'] !== 'string' || data['text'] === '') return;
      one.words = { role: 'user', text: data['text'].slice(-mostCharacters), at, isPartial: true };
      one.isFinished = false;
    });
    return one;
  }

  return {
    follow(callUuids) {
      for (const [callUuid, one] of all) {
        if (callUuids.has(callUuid)) continue;
        one.end();
        all.delete(callUuid);
      }
      for (const callUuid of callUuids) if (!all.has(callUuid)) all.set(callUuid, begin(callUuid));
    },
    partial: (callUuid) => all.get(callUuid)?.words ?? null,
    whoFinished: () => [...all].flatMap(([callUuid, { isFinished }]) => (isFinished ? [callUuid] : [])),
    settled(callUuids) {
      for (const callUuid of callUuids) {
        const one = all.get(callUuid);
        if (one?.isFinished !== true) continue;
        one.words = null;
        one.isFinished = false;
      }
    },
    close() {
      for (const one of all.values()) one.end();
      all.clear();
    },
  };
}
