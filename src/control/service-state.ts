/**
 * What the node runs as and how busy it is, and what other nodes tell of themselves, for the operator. Read each time,
 * kept nowhere; for `api-side.ts`.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism, freemem, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import type { ServiceState } from '../api/operator/service-routes.ts';
import { ACTIVE } from '../calls/active-statuses.ts';
import { packageRoot } from '../config/built-entry.ts';
import type { MediaMember } from '../media-link/media-pool.ts';
import type { Queryable } from '../store/database.ts';

interface Known {
  database: Queryable;
  publicUrl: string;
  runId: string;
  nodeName: string;
  members(): readonly Omit<MediaMember, 'send'>[];
  admission(): ServiceState['admission'];
  isOverloaded(): boolean;
  disk(): Promise<{ freeBytes: number; totalBytes: number } | null>;
}

const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string };

const DATABASE = `
  SELECT current_setting('server_version') AS version, pg_database_size(current_database())::float8 AS "sizeBytes",
         (SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()) AS connections,
         current_setting('max_connections')::int AS "mostConnections",
         (SELECT count(*)::int FROM calls WHERE status IN ${ACTIVE}) AS "liveCalls",
         (SELECT count(*)::int FROM webhook_deliveries WHERE state = 'pending') AS "waitingWebhooks"`;

/** `$1`: this node's name. Its own are told by itself, also those that are not connected yet. */
const OTHER_NODES = `
  SELECT node, slot AS "mediaId", live_calls AS calls, capacity_calls AS capacity, more_calls AS "moreCalls",
         is_draining AS draining, silent_ms::float8 AS "silentMs", silent_ms > lease_ms AS "isOverdue"
    FROM media_runs, LATERAL (SELECT greatest(0, extract(epoch FROM clock_timestamp() - beat_at) * 1000) AS silent_ms) AS heard
   WHERE dead_at IS NULL AND node <> $1 ORDER BY node, slot`;

export async function readServiceState(known: Known): Promise<ServiceState> {
  const [[found], otherNodes, disk] = await Promise.all([
    known.database.query<ServiceState['database'] & { liveCalls: number; waitingWebhooks: number }>(DATABASE),
    known.database.query<ServiceState['otherNodes'][number]>(OTHER_NODES, [known.nodeName]),
    known.disk(),
  ]);
  const { liveCalls, waitingWebhooks, ...database } = found!;
  return {
    version,
    node: process.versions.node,
    instance: known.runId,
    nodeName: known.nodeName,
    startedAt: new Date(Date.now() - process.uptime() * 1_000),
    publicUrl: known.publicUrl,
    admission: known.admission(),
    machine: {
      cores: availableParallelism(),
      loadAverage: loadavg(),
      memory: { freeBytes: freemem(), totalBytes: totalmem() },
      disk,
    },
    control: { memoryBytes: process.memoryUsage.rss(), isOverloaded: known.isOverloaded() },
    media: known.members().map((member) => ({
      mediaId: member.mediaId,
      connected: member.connected,
      draining: member.draining,
      calls: member.activeCalls,
      capacity: member.capacityCalls,
      moreCalls: member.room?.moreCalls ?? null,
      scarce: member.room?.scarce ?? null,
      socketServer: member.socketServer,
    })),
    otherNodes,
    database,
    liveCalls,
    waitingWebhooks,
  };
}
