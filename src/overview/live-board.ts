/**
 * The calls of a workspace that are in progress, as they change, for those who look at them. While anybody looks, the
 * database is asked four times a second for each workspace, however many look; each stream is sent what differs from
 * what it has, so one that is slow gets the newest and misses no end of a call. What a node tells comes from all nodes,
 * because the tables are the truth. The calls that are shown are followed (`followed-words.ts`), so that what they tell
 * is written within 100 ms and not within a second; of those that another node carries, a second it is. No HTTP here.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import { ACTIVE } from '../calls/active-statuses.ts';
import type { CallEventBus } from '../calls/call-event-bus.ts';
import type { Queryable } from '../store/database.ts';
import { createFollowedWords, type FollowedWords, type LastWords } from './followed-words.ts';

export interface LiveCall {
  callUuid: string;
  status: string;
  /** What the agent does; null: nobody speaks yet. */
  state: 'listening' | 'thinking' | 'speaking' | null;
  agentId: string;
  agentName: string;
  channel: string;
  direction: string;
  to: string;
  from: string;
  name: string;
  startedAt: Date;
  answeredAt: Date | null;
  /** What was heard last, of either side; cut. */
  lastWords: LastWords | null;
  /** From the end of the caller's last words to the reply, of the newest reply. */
  replyMs: number | null;
  /** By somebody who steers the call. */
  mutedAgent: boolean;
  /** A person speaks in the agent's place. */
  takenOver: boolean;
  /** The process that carried it is not heard any more: it comes back elsewhere, or is ended soon. */
  isLost: boolean;
}

/** Whether this process takes new calls. */
type Admission = 'open' | 'draining' | 'no_capacity' | 'overloaded';

export interface BoardStream {
  workspaceId: string;
  /** By which open streams are counted, and with whose rights they end. */
  holder: string;
  address: string;
  /** Resolves when more may be written. */
  write(event: 'snapshot' | 'changes' | 'heartbeat', data: object): Promise<void>;
  /** Called once, whatever ended it. */
  onEnd(): void;
}

export interface LiveBoard {
  hasRoom(workspaceId: string, holder: string): boolean;
  /** Begins with a snapshot. Returns what ends it; ending twice is fine. */
  open(stream: BoardStream): () => void;
  close(): void;
}

interface Looking extends BoardStream {
  /** What it has, by call. */
  sent: Map<string, LiveCall>;
  hasSnapshot: boolean;
  admission: Admission;
  isWriting: boolean;
  hasEnded: boolean;
  lastWriteMs: number;
}

interface Watched {
  streams: Set<Looking>;
  /** As it is; a call that did not change stays the same object. */
  calls: Map<string, LiveCall>;
  /** By call: the last event that was read, and the last words among those that were. */
  readTo: Map<string, { lastId: string; lastWords: LastWords | null }>;
  followed: FollowedWords;
  isRead: boolean;
}

const LOOK_EVERY_MS = 250;
const ASK_RIGHTS_EVERY_MS = 1_000;
const HEARTBEAT_MS = 15_000;
const MOST_CALLS = 2_000;
const MOST_OF_A_HOLDER = 5;
const MOST_OF_A_WORKSPACE = 50;
const MOST_CHARACTERS = 240;

export function createLiveBoard(deps: {
  database: Queryable;
  clock: Pick<Clock, 'after' | 'nowMs' | 'epochMs'>;
  log: Logger;
  /** What was said before anybody looked is written now. */
  unwritten: { hurry(): void };
  bus: Pick<CallEventBus, 'subscribe'>;
  admission: { state(): Admission };
  /** In the order of `uses`: whether each would still be let in. */
  stillHold(uses: readonly { keyId: string; address: string }[]): Promise<boolean[]>;
}): LiveBoard {
  const { database, clock, log } = deps;
  const watched = new Map<string, Watched>();
  let rightsAskedMs = 0;
  let cancelLook = (): void => {};

  const all = (): Looking[] => [...watched.values()].flatMap(({ streams }) => [...streams]);

  function end(stream: Looking): void {
    if (stream.hasEnded) return;
    stream.hasEnded = true;
    const workspace = watched.get(stream.workspaceId);
    workspace?.streams.delete(stream);
    if (workspace?.streams.size === 0) {
      watched.delete(stream.workspaceId);
      workspace.followed.close();
    }
    if (watched.size === 0) cancelLook();
    stream.onEnd();
  }

  async function look(): Promise<void> {
    await endThoseWithoutRights();
    for (const [workspaceId, workspace] of watched) {
      try {
        await read(database, workspaceId, workspace);
        for (const stream of workspace.streams) send(stream, workspace).catch(() => end(stream));
      } catch (error) {
        // They come again, and begin with a snapshot.
        log.warn({ workspaceId, err: error }, 'the live board could not be read');
        for (const stream of workspace.streams) end(stream);
      }
    }
    if (watched.size > 0) lookLater();
  }

  function lookLater(): void {
    cancelLook();
    cancelLook = clock.after(LOOK_EVERY_MS, () => void look());
  }

  async function endThoseWithoutRights(): Promise<void> {
    if (clock.nowMs() - rightsAskedMs < ASK_RIGHTS_EVERY_MS) return;
    rightsAskedMs = clock.nowMs();
    const open = all();
    try {
      const hold = await deps.stillHold(open.map(({ holder, address }) => ({ keyId: holder, address })));
      for (const [index, stream] of open.entries()) if (hold[index] !== true) end(stream);
    } catch (error) {
      log.warn({ streams: open.length, err: error }, 'live boards end: their rights could not be looked at');
      for (const stream of open) end(stream);
    }
  }

  async function send(stream: Looking, { calls, isRead }: Watched): Promise<void> {
    if (stream.isWriting || stream.hasEnded || !isRead) return;
    const changed = [...calls.values()].filter((call) => stream.sent.get(call.callUuid) !== call);
    const ended = [...stream.sent.keys()].filter((callUuid) => !calls.has(callUuid));
    const isFirst = !stream.hasSnapshot;
    const admission = deps.admission.state();
    const isQuiet = changed.length === 0 && ended.length === 0 && !isFirst && admission === stream.admission;
    if (isQuiet && clock.nowMs() - stream.lastWriteMs < HEARTBEAT_MS) return;
    for (const call of changed) stream.sent.set(call.callUuid, call);
    for (const callUuid of ended) stream.sent.delete(callUuid);
    stream.hasSnapshot = true;
    stream.admission = admission;
    stream.lastWriteMs = clock.nowMs();
    stream.isWriting = true;
    const at = new Date(clock.epochMs());
    if (isFirst) await stream.write('snapshot', { at, admission, calls: changed });
    else if (isQuiet) await stream.write('heartbeat', { at, admission });
    else await stream.write('changes', { at, admission, changed, gone: ended });
    stream.isWriting = false;
  }

  return {
    hasRoom(workspaceId, holder) {
      const streams = [...(watched.get(workspaceId)?.streams ?? [])];
      return (
        streams.length < MOST_OF_A_WORKSPACE && streams.filter((one) => one.holder === holder).length < MOST_OF_A_HOLDER
      );
    },
    open(options) {
      const stream: Looking = {
        ...options,
        ...{ sent: new Map<string, LiveCall>(), hasSnapshot: false, isWriting: false, hasEnded: false },
        lastWriteMs: clock.nowMs(),
        admission: deps.admission.state(),
      };
      const { workspaceId } = stream;
      const isFirst = watched.size === 0;
      const workspace: Watched = watched.get(workspaceId) ?? {
        ...{ streams: new Set<Looking>(), calls: new Map(), readTo: new Map(), isRead: false },
        followed: createFollowedWords(deps.bus, MOST_CHARACTERS),
      };
      watched.set(workspaceId, workspace);
      workspace.streams.add(stream);
      deps.unwritten.hurry();
      if (isFirst) void look();
      else send(stream, workspace).catch(() => end(stream));
      return () => end(stream);
    },
    close() {
      for (const stream of all()) end(stream);
    },
  };
}

type Told = Pick<LiveCall, 'state' | 'lastWords' | 'replyMs' | 'mutedAgent' | 'takenOver'>;
type Row = Omit<LiveCall, keyof Told>;

const NOTHING_TOLD: Told = { state: null, lastWords: null, replyMs: null, mutedAgent: false, takenOver: false };

async function read(database: Queryable, workspaceId: string, workspace: Watched): Promise<void> {
  const rows = await database.query<Row>(
    `SELECT c.call_uuid AS "callUuid", c.status, c.agent_id AS "agentId", a.name AS "agentName", c.channel, c.direction,
            c.to_number AS "to", c.from_number AS "from", c.name, c.created_at AS "startedAt", c.answered_at AS "answeredAt",
            c.status = 'in_progress' AND (c.lease_until IS NOT NULL OR r.dead_at IS NOT NULL OR coalesce(
              clock_timestamp() - r.beat_at > r.lease_ms * interval '1 millisecond', false)) AS "isLost"
     FROM calls c JOIN agents a ON a.id = c.agent_id LEFT JOIN media_runs r ON r.run_id = c.owner_run
     WHERE c.workspace_id = $1 AND c.status IN ${ACTIVE} ORDER BY c.call_uuid LIMIT ${MOST_CALLS}`,
    [workspaceId],
  );
  const { calls, readTo, followed } = workspace;
  // Who looked has gone meanwhile: nobody would end what is followed.
  if (workspace.streams.size === 0) return;
  const active = new Set(rows.map(({ callUuid }) => callUuid));
  followed.follow(active);
  const over = followed.whoFinished();
  const told = await newWords(
    database,
    new Map(rows.map((row) => [row.callUuid, readTo.get(row.callUuid)?.lastId ?? '0'])),
  );
  followed.settled(over);
  for (const callUuid of [...calls.keys()]) {
    if (active.has(callUuid)) continue;
    calls.delete(callUuid);
    readTo.delete(callUuid);
  }
  for (const row of rows) {
    const known = calls.get(row.callUuid);
    const words = told.get(row.callUuid);
    const wereRead = words?.told.lastWords ?? readTo.get(row.callUuid)?.lastWords ?? null;
    if (words !== undefined) readTo.set(row.callUuid, { lastId: words.lastId, lastWords: wereRead });
    const lastWords = followed.partial(row.callUuid) ?? wereRead;
    const isSame = known?.status === row.status && known.name === row.name && known.isLost === row.isLost;
    const isKnown = isSame && known?.lastWords === lastWords;
    if (isKnown && words === undefined) continue;
    const { state, replyMs, mutedAgent, takenOver } = known ?? NOTHING_TOLD;
    calls.set(row.callUuid, { ...{ state, replyMs, mutedAgent, takenOver }, ...words?.told, lastWords, ...row });
  }
  workspace.isRead = true;
}

interface Words {
  told: Partial<Told>;
  lastId: string;
}

interface EventRow {
  callUuid: string;
  id: string;
  kind: 'turn' | 'latency' | 'speech' | 'control' | 'takeover';
  at: Date;
  role: 'agent' | 'user' | null;
  text: string | null;
  replyMs: number | null;
  who: 'agent' | 'user' | null;
  phase: 'start' | 'end' | 'began' | 'ended' | null;
  action: string | null;
}

/**
 * What was told after the event that was read last, by call; calls in which nothing was are not in it. That the calls
 * are named twice is for the planner: it looks at the partitions of their days alone.
 */
async function newWords(database: Queryable, afterIds: ReadonlyMap<string, string>): Promise<Map<string, Words>> {
  const rows = await database.query<EventRow>(
    `SELECT e.call_uuid AS "callUuid", e.id::text AS id, e.kind, e.at, e.data -> 'turn' ->> 'role' AS role,
            left(e.data -> 'turn' ->> 'heardText', ${MOST_CHARACTERS}) AS text,
            round((e.data -> 'latency' ->> 'agentMs')::numeric)::int AS "replyMs",
            e.data ->> 'who' AS who, e.data ->> 'phase' AS phase,
            CASE WHEN e.data ->> 'result' = 'done' THEN e.data ->> 'action' END AS action
     FROM unnest($1::uuid[], $2::bigint[]) AS asked (call_uuid, after_id)
     JOIN call_events e ON e.call_uuid = asked.call_uuid AND e.call_uuid = ANY ($1::uuid[]) AND e.id > asked.after_id
       AND e.kind IN ('turn', 'latency', 'speech', 'control', 'takeover')
     -- Not of the text that the answer has, in which 10 comes before 9.
     ORDER BY e.id`,
    [[...afterIds.keys()], [...afterIds.values()]],
  );
  const found = new Map<string, Words>();
  for (const row of rows) {
    const words: Words = found.get(row.callUuid) ?? { told: {}, lastId: row.id };
    words.lastId = row.id;
    Object.assign(words.told, toldBy(row));
    found.set(row.callUuid, words);
  }
  return found;
}

function toldBy({ kind, at, role, text, replyMs, who, phase, action }: EventRow): Partial<Told> {
  switch (kind) {
    case 'turn':
      return role === null || text === null || text === '' ? {} : { lastWords: { role, text, at, isPartial: false } };
    case 'latency':
      return replyMs === null ? {} : { replyMs };
    case 'speech':
      if (who === 'agent') return { state: phase === 'start' ? 'speaking' : 'listening' };
      return { state: phase === 'start' ? 'listening' : 'thinking' };
    case 'takeover':
      // The agent that gets the call back is not muted.
      return phase === 'began' ? { takenOver: true } : { takenOver: false, mutedAgent: false };
    default:
      if (action === 'mute_agent') return { mutedAgent: true };
      return action === 'unmute_agent' ? { mutedAgent: false } : {};
  }
}
