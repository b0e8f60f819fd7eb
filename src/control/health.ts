/** What `/readyz` asks of this control: its database, its media processes, and that it is not being stopped. */
import type { ReadinessCheck } from '../api/health-routes.ts';
import type { MediaMember, MediaPool } from '../media-link/media-pool.ts';
import type { Database } from '../store/database.ts';

export function healthChecks(
  database: Database,
  pool: Pick<MediaPool, 'members'>,
  isDraining: () => boolean,
): Readonly<Record<string, ReadinessCheck>> {
  return {
    database: () => databaseAnswers(database),
    media: async () => mediaState(pool.members()),
    draining: async () => {
      if (isDraining()) throw new Error('the service is being stopped');
      return 'no';
    },
  };
}

async function databaseAnswers(database: Database): Promise<string> {
  await database.query('SELECT 1 AS one');
  return 'ok';
}

function mediaState(members: readonly Omit<MediaMember, 'send'>[]): string {
  const connected = members.filter((member) => member.connected);
  if (connected.length === 0) throw new Error('no media process is connected');
  if (connected.every((member) => member.draining)) throw new Error('every media process is being stopped');
  const calls = connected.reduce((sum, member) => sum + member.activeCalls, 0);
  const room = connected.reduce((sum, member) => sum + member.capacityCalls, 0);
  const servers = [...new Set(connected.map((member) => member.socketServer ?? 'unknown'))].join(', ');
  return `${connected.length} connected (${servers}), ${calls} of ${room} calls`;
}
