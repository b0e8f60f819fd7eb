/** `Bells` over the channels of Redis: one connection that hears, one that tells. Nothing is kept while it is away. */
import { Redis } from 'ioredis';
import type { Bells, BellsOptions } from './bells.ts';

const COMMAND_LIMIT_MS = 250;
const CONNECT_LIMIT_MS = 1_000;
const LONGEST_RECONNECT_PAUSE_MS = 2_000;

export function createRedisBells(options: BellsOptions & { url: string; onTrouble(error: Error): void }): Bells {
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
  return {
    async send(node, text) {
      await teller.publish(channelOf(node), text);
    },
    close() {
      closed = true;
      teller.disconnect();
      hearer.disconnect();
    },
  };
}

function channelOf(node: string): string {
  return `parley:node:${node}`;
}
