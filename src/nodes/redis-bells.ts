/** `Bells` over the channels of Redis: one connection that hears, one that tells. Nothing is kept while it is away. */
import { Redis } from 'ioredis';
import { type Clock, every } from '../../media/contract/clock.ts';
import type { Bells, BellsOptions } from './bells.ts';

const COMMAND_LIMIT_MS = 250;
const CONNECT_LIMIT_MS = 1_000;
const LONGEST_RECONNECT_PAUSE_MS = 2_000;
/** Who only listens would not see that the way to the server is gone. */
const ASK_EVERY_MS = 10_000;
const ANSWER_LIMIT_MS = 5_000;

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
  // It subscribes again by itself after each reconnect.
  const hearer = new Redis(options.url, connection);
  for (const redis of [teller, hearer]) redis.on('error', options.onTrouble);
  hearer.on('message', (_channel: string, text: string) => options.heard(text));
  hearer.subscribe(channelOf(options.node)).catch(options.onTrouble);
  const cancelAsking = every(clock, ASK_EVERY_MS, () => {
    const cancel = clock.after(ANSWER_LIMIT_MS, () => hearer.disconnect(true));
    hearer.ping().then(cancel, cancel);
  });
  return {
    async send(node, text) {
      await teller.publish(channelOf(node), text);
    },
    close() {
      closed = true;
      cancelAsking();
      teller.disconnect();
      hearer.disconnect();
    },
  };
}

function channelOf(node: string): string {
  return `parley:node:${node}`;
}
