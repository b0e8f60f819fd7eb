/**
 * Calls that talk beside the placements, without sound: rows of calls in progress, and a media process of ours that
 * tells control of them what one tells of a conversation. Some are followed, as the console does, and each of their
 * turns is timed from when it was told to the follower. Called by `main.ts`.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { systemClock } from '../../media/contract/clock.ts';
import type { ConversationEvent } from '../../media/contract/conversation.ts';
import { createControlLink } from '../../media/io/control-link.ts';
import { readRuntimeFile } from '../../src/config/operator-settings.ts';
import { openDatabase } from '../../src/store/database.ts';
import type { Gateway } from '../harness/gateway.ts';

export interface LiveTalk {
  /** Ms from the word of media to a follower of its call. */
  readonly followedMs: readonly number[];
  /** Ends, and says how many turns were told, and how many of them are stored. */
  stop(): Promise<{ told: number; stored: number; dropped: number }>;
}

/** Of a call: about what a caller and an agent bring forth who take turns. */
const TURN_EVERY_MS = 3_000;
const LOAD_EVERY_MS = 1_000;
const FOLLOWED = 10;
const MEDIA_ID = 'media-9';

export async function talkOf(gateway: Gateway, dataDir: string, calls: number): Promise<LiveTalk> {
  const database = openDatabase({
    connectionString: gateway.service.databaseUrl,
    maxConnections: 1,
    onIdleError: () => {},
  });
  const runId = randomUUID();
  const live = Array.from({ length: calls }, () => ({ callUuid: uuidv7(), epoch: 1 }));
  const link = createControlLink({
    socketPath: join(readRuntimeFile(join(dataDir, 'runtime.json')).runDir ?? '', 'link.sock'),
    clock: systemClock,
    log: pino({ level: 'silent' }),
    hello: () => ({
      ...{ type: 'hello', runId, mediaId: MEDIA_ID, pid: process.pid, socketServer: 'ws' },
      ...{ capacityCalls: 0, liveCalls: live },
    }),
    receive() {},
  });
  await database.query(
    `INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, line_id, to_number, from_number, name, request_id,
                        status, submission, submission_at, carrier, answered_at, epoch, owner_media_id, owner_run)
     SELECT told.call_uuid, w.id, $3, 1, $4, '+14155550000', '+14155550100', 'Dana', 'bench', 'in_progress', 'accepted',
            now(), 'plivo', now(), 1, '${MEDIA_ID}', $5
       FROM unnest($1::uuid[]) AS told (call_uuid), workspaces w WHERE w.slug = $2`,
    [live.map(({ callUuid }) => callUuid), gateway.enterprise, gateway.agentId, gateway.lineId, runId],
  );
  const followedMs: number[] = [];
  const ending = new AbortController();
  for (const { callUuid } of live.slice(0, FOLLOWED)) void follow(gateway, callUuid, ending.signal, followedMs);

  let told = 0;
  const turnNumber = new Map<string, number>();
  const load = setInterval(() => {
    const counts = { activeCalls: calls, capacityCalls: 0, draining: false };
    link.send({ type: 'load', mediaId: MEDIA_ID, ...counts, calls: live });
  }, LOAD_EVERY_MS);
  // Evenly: each call has its own moment within the three seconds.
  const perTick = (calls * 10) / TURN_EVERY_MS;
  let due = 0;
  let next = 0;
  const talk = setInterval(() => {
    for (due += perTick; due >= 1; due--) {
      takeTurn(live[next++ % calls]!);
      told++;
    }
  }, 10);

  function takeTurn({ callUuid, epoch }: { callUuid: string; epoch: number }): void {
    const number = (turnNumber.get(callUuid) ?? 0) + 1;
    turnNumber.set(callUuid, number);
    const atMs = number * TURN_EVERY_MS;
    const turnId = `t${number}`;
    const say = (event: ConversationEvent): void =>
      link.send({ type: 'live', callUuid, epoch, atEpochMs: Date.now(), event });
    const text = 'I would like to move my appointment to Thursday afternoon, please.';
    say({ type: 'speech', who: 'user', phase: 'start', atMs, turnId });
    say({ type: 'partial', text: 'I would like', atMs, turnId });
    say({ type: 'partial', text: 'I would like to move my appointment', atMs, turnId });
    say({ type: 'speech', who: 'user', phase: 'end', atMs: atMs + 2_000, turnId });
    const heard = { text, heardText: text, interrupted: false };
    say({ type: 'turn', turn: { turnId, role: 'user', startMs: atMs, endMs: atMs + 2_000, ...heard } });
    say({ type: 'latency', latency: { turnId, eouMs: 300, sttMs: 120, ttsMs: 140, agentMs: 610 } });
    const checkpoint = { agent: null, variables: {}, nextTurnNumber: number + 1, atMs: atMs + 2_000 };
    link.send({ type: 'checkpoint', callUuid, epoch, checkpoint });
  }

  return {
    followedMs,
    async stop() {
      clearInterval(talk);
      await link.flush(30_000);
      clearInterval(load);
      ending.abort();
      const [row] = await database.query<{ stored: number }>(
        'SELECT count(*)::int AS stored FROM call_turns WHERE call_uuid = ANY ($1::uuid[])',
        [live.map(({ callUuid }) => callUuid)],
      );
      const { droppedMessages: dropped } = link;
      link.close();
      await database.close();
      return { told, stored: row!.stored, dropped };
    },
  };
}

async function follow(gateway: Gateway, callUuid: string, signal: AbortSignal, delaysMs: number[]): Promise<void> {
  try {
    for await (const { kind, at } of gateway.client.follow(callUuid, signal)) {
      if (kind === 'turn') delaysMs.push(Date.now() - Date.parse(at));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
