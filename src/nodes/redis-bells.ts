/**
 * `Bells` over the channels of Redis: one connection that hears, one that tells. Nothing is kept while it is away.
 * Channels are the server's, whatever database the address names: it is in their names, so that a second installation
 * on the same server hears nothing of this one's.
 */
import { Redis } from 'ioredis';
import { type Clock, every } from '../../media/contract/clock.ts';
import type { Bells, BellsOptions } from './bells.ts';

const COMMAND_LIMIT_MS = 250;
const CONNECT_LIMIT_MS = 1_000;
const LONGEST_RECONNECT_PAUSE_MS = 2_000;
/** Who only listens would not see that the way to the server is gone. */
const ASK_EVERY_MS = 10_000;
const ANSWER_LIMIT_MS = 5_000;
/** After so many words in a row that nobody took, the way to the server is opened anew. */
const MOST_UNANSWERED = 3;

export function createRedisBells(
  options: BellsOptions & { url: string; clock: Pick<Clock, 'after'>; onTrouble(error: Error): void },
): Bells {
  const { clock } = options;
  let closed = false;
  const connection = {
    connectTimeout: CONNECT_LIMIT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: (tries: number) => (closed ? null : Math.min(tries * 100, LONGEST_RECONNECT_PAUSE_MS)),
  };
  const teller = new Redis(options.url, {
    ...connection,
    commandTimeout: COMMAND_LIMIT_MS,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
  });
  const hearer = new Redis(options.url, { ...connection, autoResubscribe: false });
  for (const redis of [teller, hearer]) redis.on('error', options.onTrouble);
  const channelOf = (node: string): string => `parley:${hearer.options.db ?? 0}:node:${node}`;
  hearer.on('message', (_channel: string, text: string) => options.heard(text));
  // Each time: by itself it would only repeat what was once asked for, and the server may be away at the first.
  hearer.on('ready', () => hearer.subscribe(channelOf(options.node)).catch(options.onTrouble));
  const cancelAsking = every(clock, ASK_EVERY_MS, () => {
    const cancel = clock.after(ANSWER_LIMIT_MS, () => hearer.disconnect(true));
    hearer.ping().then(cancel, cancel);
  });
  let unanswered = 0;
  return {
    async send(node, text) {
      try {
        await teller.publish(channelOf(node), text);
        unanswered = 0;
      } catch (error) {
        if (teller.status === 'ready' && ++unanswered >= MOST_UNANSWERED) {
          unanswered = 0;
          teller.disconnect(true);
        }
        throw error;
      }
    },
    close() {
      closed = true;
      cancelAsking();
      teller.disconnect();
      hearer.disconnect();
    },
  };
}
