/** Whether the recordings of calls that are over have come to where recordings are kept. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import type { TalkingCall } from './conversations.ts';
import type { Verdict } from './verdicts.ts';

const STORED_LIMIT_MS = 240_000;

/** Of calls that are over. */
export async function allStored(cluster: Cluster, calls: readonly TalkingCall[]): Promise<Verdict> {
  const lost = await unstored(cluster, calls);
  return {
    lines: [`${calls.length - lost.length} of ${calls.length} recordings are in the store after it`],
    broken: lost.slice(0, 5).map((state) => `a recording did not come: ${state}`),
  };
}

/** Of calls that are over: what is said of recordings that did not come. */
export async function unstored(
  { database }: Cluster,
  calls: readonly TalkingCall[],
  { isOrFailed = false } = {},
): Promise<string[]> {
  const done = isOrFailed ? ['ready', 'failed', 'none'] : ['ready'];
  for (const untilMs = performance.now() + STORED_LIMIT_MS; ; await wait(1_000)) {
    const rows = await database.query<{ state: string }>(
      `SELECT concat_ws(' ', c.call_uuid, c.recording_status, r.state, r.last_error) AS state
         FROM calls c LEFT JOIN call_recordings r USING (call_uuid)
        WHERE call_uuid = ANY ($1::uuid[]) AND c.recording_status <> ALL ($2::text[])`,
      [calls.map(({ callUuid }) => callUuid), done],
    );
    if (rows.length === 0 || performance.now() > untilMs) return rows.map(({ state }) => state);
  }
}
