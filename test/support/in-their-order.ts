/** Hands messages of media to control as its inbox does, without waiting: runs of live ones of a call together. */

import type { LiveMessage } from '../../src/media-link/live-batch.ts';
import { type CallMessage, isLive, type MediaMessages } from '../../src/media-link/media-messages.ts';

export interface MessagesInOrder {
  handle(messages: readonly CallMessage[]): Promise<void>;
  staleCount(): number;
}

export function inTheirOrder({ handle, handleTogether, staleCount }: MediaMessages): MessagesInOrder {
  return {
    staleCount,
    async handle(messages) {
      let run: LiveMessage[] = [];
      const flush = async (): Promise<void> => {
        const together = run;
        run = [];
        if (together.length > 0) await handleTogether([together]);
      };
      for (const message of messages) {
        if (isLive(message)) run.push(message);
        else {
          const before = run;
          run = [];
          await handle(message, before);
        }
      }
      await flush();
    },
  };
}
