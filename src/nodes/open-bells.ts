/**
 * Chooses what carries texts between nodes: Redis where there is one, else PostgreSQL; opened when there is a second
 * node, so that one alone has no connection for it. Made by `src/control/ground.ts`.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { Queryable } from '../store/database.ts';
import type { ServerSessions } from '../store/server-sessions.ts';
import type { Bells } from './bells.ts';

export interface BellsGround {
  redisUrl: string | null;
  databaseUrl: string;
  database: Queryable;
  sessions: Pick<ServerSessions, 'join'>;
  clock: Clock;
  log: Logger;
}

export interface LazyBells extends Bells {
  /** There is another node: from now on it is heard. */
  open(): void;
}

export function createLazyBells(ground: BellsGround, node: string, heard: (text: string) => void): LazyBells {
  let opened: Promise<Bells> | null = null;
  let closed = false;
  const open = (): Promise<Bells> => {
    opened ??= openBells(ground, node, heard);
    return opened;
  };
  return {
    open: () => void open().catch((error: unknown) => ground.log.error({ err: error }, 'other nodes cannot be heard')),
    async send(to, text) {
      if (closed) throw new Error('the node is being stopped');
      await (await open()).send(to, text);
    },
    close() {
      closed = true;
      void opened?.then((bells) => bells.close());
    },
  };
}

async function openBells(ground: BellsGround, node: string, heard: (text: string) => void): Promise<Bells> {
  const { redisUrl: url, databaseUrl: connectionString, clock, log } = ground;
  if (url === null) {
    const { createPostgresBells } = await import('./postgres-bells.ts');
    return createPostgresBells({ ...ground, connectionString, node, heard });
  }
  // Here alone: who has no Redis need not read its client.
  const { createRedisBells } = await import('./redis-bells.ts');
  const onTrouble = (error: Error): void => log.debug({ err: error }, 'the connection to Redis for nodes has a fault');
  return createRedisBells({ node, heard, url, clock, onTrouble });
}
