/** Calls of a phase: placed through the balancer, found on their nodes, and what everybody saw of them at their end. */
import { setTimeout as wait } from 'node:timers/promises';
import type { EmulatedCall } from '../../../bench/harness/emulator-process.ts';
import type { PlacementSeen } from '../judge/history.ts';
import type { Cluster } from './cluster.ts';
import { SAID } from './talking-agent.ts';

export interface TalkingCall {
  callUuid: string;
  number: string;
  node: string;
}

export interface CallSeen extends TalkingCall {
  endedReason: string | null;
  epoch: number;
  /** Each thing that the agent has to say, in its order. */
  isWhole: boolean;
  phone: EmulatedCall | null;
}

const TALK_LIMIT_MS = 90_000;
const END_LIMIT_MS = 240_000;
/** As fast as several nodes take them, and as one does alone. */
const PLACE_EVERY_MS = 40;
export const PLACE_AT_ONE_EVERY_MS = 125;

let dialled = 0;

/** Rejects when most are refused: then there is nothing to look at. */
export async function place(cluster: Cluster, calls: number, everyMs = PLACE_EVERY_MS): Promise<PlacementSeen[]> {
  const refused: string[] = [];
  const { agentId, enterprise, lineId: from, client } = cluster;
  const placed = await Promise.all(
    Array.from({ length: calls }, async (_, at) => {
      await wait(at * everyMs);
      const number = `+1415551${String(dialled++).padStart(4, '0')}`;
      const answer = await client.place({ to: number, agentId, enterprise, from }).catch((error: unknown) => {
        refused.push(String(error));
        return null;
      });
      if (answer !== null && answer.httpStatus !== 200) refused.push(`${answer.httpStatus} ${answer.body.message}`);
      return { number, httpStatus: answer?.httpStatus ?? null, callUuid: answer?.body.callUuid ?? null, tries: 1 };
    }),
  );
  if (refused.length > calls / 2) throw new Error(`${refused.length} of ${calls} calls were refused: ${refused[0]}`);
  return placed;
}

/**
 * Those that were taken, once each of them has said something; with the node that carries each. `isOwned: false`: some
 * may be carried by a version that says no node, and `node` is empty.
 */
export async function talking(
  { database }: Cluster,
  placed: readonly PlacementSeen[],
  { isOwned = true } = {},
): Promise<TalkingCall[]> {
  const wanted = placed.flatMap(({ callUuid }) => (callUuid === null ? [] : [callUuid]));
  for (const untilMs = performance.now() + TALK_LIMIT_MS; ; await wait(100)) {
    const rows = await database.query<TalkingCall>(
      `SELECT c.call_uuid AS "callUuid", c.to_number AS number, ${isOwned ? 'r.node' : `'' AS node`}
         FROM calls c ${isOwned ? 'JOIN media_runs r ON r.run_id = c.owner_run' : ''}
        WHERE c.call_uuid = ANY ($1::uuid[]) AND EXISTS (SELECT 1 FROM call_turns t WHERE t.call_uuid = c.call_uuid)`,
      [wanted],
    );
    if (rows.length === wanted.length) return rows;
    if (performance.now() > untilMs) throw new Error(`only ${rows.length} of ${wanted.length} calls talk`);
  }
}

/** Waits for the end of all; those that do not end are in it as they are. */
export async function ended(cluster: Cluster, calls: readonly TalkingCall[]): Promise<CallSeen[]> {
  const { database, emulator } = cluster;
  const ids = calls.map(({ callUuid }) => callUuid);
  for (const untilMs = performance.now() + END_LIMIT_MS; ; await wait(500)) {
    const rows = await database.query<{
      callUuid: string;
      isOver: boolean;
      endedReason: string | null;
      epoch: number;
      heard: string | null;
    }>(
      `SELECT call_uuid AS "callUuid", ended_at IS NOT NULL AS "isOver", ended_reason AS "endedReason", epoch,
              (SELECT string_agg(turn ->> 'heardText', ' ' ORDER BY position) FROM call_turns t
                WHERE t.call_uuid = c.call_uuid) AS heard
         FROM calls c WHERE call_uuid = ANY ($1::uuid[])`,
      [ids],
    );
    if (rows.some(({ isOver }) => !isOver) && performance.now() < untilMs) continue;
    const phones = new Map((await emulator.calls()).map((phone) => [`+${phone.to.replace(/^\+/, '')}`, phone]));
    const rowOf = new Map(rows.map((row) => [row.callUuid, row]));
    return calls.map((call) => {
      const { endedReason = null, epoch = 0, heard = '' } = rowOf.get(call.callUuid) ?? {};
      return {
        ...call,
        endedReason,
        epoch,
        isWhole: holdsAll(heard ?? ''),
        phone: phones.get(call.number) ?? null,
      };
    });
  }
}

function holdsAll(heard: string): boolean {
  let from = 0;
  return SAID.every((sentence) => {
    const at = heard.indexOf(sentence, from);
    from = at + 1;
    return at >= 0;
  });
}
