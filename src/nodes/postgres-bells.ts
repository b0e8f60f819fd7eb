/**
 * `Bells` by PostgreSQL: the words lie in an unlogged table, and the notification says nothing, since all that notify
 * commit one after the other: what is to be told while the last is being written goes together, in its order. Whoever
 * is named takes its rows, all that there are at once.
 */
import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { Queryable } from '../store/database.ts';
import { listenTo } from '../store/listener.ts';
import type { ServerSessions } from '../store/server-sessions.ts';
import type { Bells, BellsOptions } from './bells.ts';

const TELL = `
  WITH told AS (INSERT INTO node_messages (node, body) SELECT node, body FROM unnest($1::text[], $2::text[])
                WITH ORDINALITY AS said (node, body, place) ORDER BY place)
  SELECT pg_notify(channel, '') FROM unnest($3::text[]) AS channel`;
const MOST_AT_ONCE = 500;
/** Those of nodes that are gone, too. */
const TAKE = `
  WITH taken AS (DELETE FROM node_messages
                  WHERE id IN (SELECT id FROM node_messages
                                WHERE node = $1 OR at < clock_timestamp() - interval '1 minute' FOR UPDATE SKIP LOCKED)
                 RETURNING id, node, body)
  SELECT body FROM taken WHERE node = $1 ORDER BY id`;

export function createPostgresBells(
  options: BellsOptions & {
    connectionString: string;
    database: Queryable;
    sessions: Pick<ServerSessions, 'join'>;
    clock: Clock;
    log: Logger;
  },
): Bells {
  const { connectionString, database, clock, log, node } = options;
  const untold: { to: string; text: string; told(): void; lost(error: unknown): void }[] = [];
  let isTelling = false;
  let isTaking = false;
  let again = false;
  let closed = false;

  async function take(): Promise<void> {
    again = true;
    if (isTaking) return;
    isTaking = true;
    while (again && !closed) {
      again = false;
      try {
        for (const { body } of await database.query<{ body: string }>(TAKE, [node])) options.heard(body);
      } catch (error) {
        log.debug({ err: error }, 'what other nodes say could not be read');
      }
    }
    isTaking = false;
  }

  async function tellAll(): Promise<void> {
    if (isTelling) return;
    isTelling = true;
    while (untold.length > 0) {
      const batch = untold.splice(0, MOST_AT_ONCE);
      const nodes = batch.map(({ to }) => to);
      const channels = [...new Set(nodes)].map(channelOf);
      try {
        await database.query(TELL, [nodes, batch.map(({ text }) => text), channels]);
        for (const { told } of batch) told();
      } catch (error) {
        for (const { lost } of batch) lost(error);
      }
    }
    isTelling = false;
  }

  const listener = listenTo({
    connectionString,
    channel: channelOf(node),
    clock,
    sessions: options.sessions,
    heard: () => void take(),
    opened: () => void take(),
    lost: (error) => log.warn({ err: error }, 'other nodes are not heard until the database is back'),
  });
  return {
    send: (to, text) =>
      new Promise((told, lost) => {
        untold.push({ to, text, told, lost });
        void tellAll();
      }),
    close() {
      closed = true;
      listener.close();
    },
  };
}

/** A name may be longer than an identifier. */
function channelOf(node: string): string {
  return `parley_node_${createHash('sha256').update(node).digest('hex').slice(0, 32)}`;
}
