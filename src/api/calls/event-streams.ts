/**
 * All live event streams of this process, without HTTP. One reading a call serves every stream of it, whenever the bus
 * rings, and once a second one reading serves them all: how many streams there are is nothing to the database. The same
 * second asks whether their keys still hold; a stream whose key does not ends. The id of the last event that was sent
 * is what a stream goes on from, as its client does: the events of a call become visible in the order of their ids
 * (`src/calls/append-call-log.ts`). While the database is slow or away, streams go on with what is told of early
 * (`early-events.ts`), and without a look at their keys for a while.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../../media/contract/clock.ts';
import type { CallEvent, CallEventBus } from '../../calls/call-event-bus.ts';
import type { UnwrittenTalk } from '../../media-link/unwritten-talk.ts';
import type { Database } from '../../store/database.ts';
import { isDatabaseAway } from '../../store/database-away.ts';
import type { KeyUse } from '../authentication.ts';
import { EarlyEvents } from './early-events.ts';
import { type CallNews, eventText, idText, readNews, type StoredEvent } from './stored-events.ts';

export interface EventStreamsDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  bus: Pick<CallEventBus, 'subscribe'>;
  /** From now on what is said of a followed call is written at once: so is what waits. */
  unwritten: Pick<UnwrittenTalk, 'hurry'>;
  /** In the order of `uses`: whether each would still be let in. */
  stillHold(uses: readonly KeyUse[]): Promise<boolean[]>;
}

export interface StreamOptions extends KeyUse {
  callUuid: string;
  /** Events up to this id are not sent; `0` sends all. */
  afterId: string;
  /** Resolves when more may be written. */
  write(text: string): Promise<void>;
  /** Called once, whatever ended it. */
  onEnd(): void;
}

export interface EventStreams {
  /** Whether the key and the call may have one more. */
  hasRoom(callUuid: string, keyId: string): boolean;
  /** Returns what ends it; ending twice is fine. */
  open(options: StreamOptions): () => void;
  /** Ends them all. */
  close(): void;
}

interface Stream extends StreamOptions {
  sentId: string;
  /** What is stored was read once: only then is it known what comes after it. */
  hasRead: boolean;
  /** The last time; before the first, when it was opened. */
  readAtMs: number;
  early: EarlyEvents;
  isShowingEarly: boolean;
  isWriting: boolean;
  /** It was writing when others were told. */
  isBehind: boolean;
  hasEnded: boolean;
  lastWriteMs: number;
  overSinceMs: number | null;
}

const POLL_MS = 1_000;
const HEARTBEAT_MS = 15_000;
const LINGER_MS = 60_000;
/**
 * So long streams live without a reading and without a look at their keys. Nobody can revoke a key in a database that
 * is away; where only this node cannot reach it, somebody may.
 */
const OUTAGE_MS = 75_000;
const MOST_OF_A_KEY = 100;
const MOST_OF_A_CALL = 20;
const GONE: CallNews = { events: [], isOver: true, isSettled: true };

export function createEventStreams(deps: EventStreamsDeps): EventStreams {
  const { database, clock, log } = deps;
  const calls = new Map<string, { streams: Set<Stream>; unsubscribe: () => void }>();
  const perKey = new Map<string, number>();
  /** Calls to be read. */
  const rung = new Set<string>();
  let isReading = false;
  let cancelPoll = (): void => {};
  /** Of `clock.nowMs`; set anew as the first stream opens, whose key has just been looked at. */
  let keysSeenAtMs = 0;
  let isUnreadable = false;

  function end(stream: Stream): void {
    if (stream.hasEnded) return;
    stream.hasEnded = true;
    const { callUuid, keyId } = stream;
    const left = (perKey.get(keyId) ?? 0) - 1;
    if (left > 0) perKey.set(keyId, left);
    else perKey.delete(keyId);
    const call = calls.get(callUuid);
    call?.streams.delete(stream);
    if (call?.streams.size === 0) {
      call.unsubscribe();
      calls.delete(callUuid);
    }
    if (calls.size === 0) cancelPoll();
    stream.onEnd();
  }

  async function write(stream: Stream, text: string): Promise<void> {
    if (stream.hasEnded) return;
    stream.lastWriteMs = clock.nowMs();
    await stream.write(text);
  }

  function ring(...callUuids: string[]): void {
    for (const callUuid of callUuids) rung.add(callUuid);
    if (!isReading) void read();
  }

  async function read(): Promise<void> {
    isReading = true;
    while (rung.size > 0) {
      const callUuids = [...rung];
      rung.clear();
      const streams = callUuids.flatMap((callUuid) => [...(calls.get(callUuid)?.streams ?? [])]);
      for (const stream of streams) stream.isBehind = stream.isWriting;
      const ready = streams.filter(({ isWriting }) => !isWriting);
      if (ready.length === 0) continue;
      try {
        await round(ready);
      } catch (error) {
        // They are asked for again with the next poll.
        const isPassing = isDatabaseAway(error);
        if (!isPassing || !isUnreadable)
          log.warn({ streams: ready.length, err: error }, 'event streams cannot be read on');
        isUnreadable = isPassing;
        // The clients come again with Last-Event-ID and miss nothing.
        const sinceMs = clock.nowMs() - OUTAGE_MS;
        for (const stream of ready) if (!isPassing || stream.readAtMs <= sinceMs) end(stream);
      }
    }
    isReading = false;
  }

  async function round(streams: readonly Stream[]): Promise<void> {
    const afterIds = new Map<string, string>();
    for (const { callUuid, sentId } of streams) {
      const least = afterIds.get(callUuid);
      if (least === undefined || BigInt(sentId) < BigInt(least)) afterIds.set(callUuid, sentId);
    }
    for (const { early } of streams) early.asked();
    const news = await readNews(database, afterIds);
    isUnreadable = false;
    for (const stream of streams) {
      const { callUuid, sentId } = stream;
      const { events, ...progress } = news.get(callUuid) ?? GONE;
      const fresh = events.filter(({ id }) => BigInt(id) > BigInt(sentId));
      send(stream, fresh, progress).catch(() => end(stream));
    }
  }

  async function send(
    stream: Stream,
    events: readonly StoredEvent[],
    { isOver, isSettled }: Omit<CallNews, 'events'>,
  ): Promise<void> {
    stream.isWriting = true;
    stream.readAtMs = clock.nowMs();
    for (const event of events) {
      stream.sentId = event.id;
      await write(stream, stream.early.read(event) ? idText(event.id) : eventText(event));
    }
    stream.early.answered();
    stream.hasRead = true;
    if (isOver) stream.overSinceMs ??= clock.nowMs();
    const hasLingered = stream.overSinceMs !== null && clock.nowMs() - stream.overSinceMs >= LINGER_MS;
    if (isOver && (isSettled || hasLingered)) {
      await write(stream, 'event: end\ndata: {}\n\n');
      end(stream);
    }
    stream.isWriting = false;
    await showEarly(stream);
    if (stream.isBehind && !stream.hasEnded) ring(stream.callUuid);
  }

  /** What was told of early, as far as it is its turn; not among what is being sent. */
  async function showEarly(stream: Stream): Promise<void> {
    if (!stream.hasRead || stream.isWriting || stream.isShowingEarly) return;
    stream.isShowingEarly = true;
    while (!stream.isWriting && !stream.hasEnded) {
      const event = stream.early.next();
      if (event === undefined) break;
      await write(stream, eventText({ ...event, id: null }));
    }
    stream.isShowingEarly = false;
  }

  async function poll(): Promise<void> {
    const open = [...calls.values()].flatMap(({ streams }) => [...streams]);
    for (const stream of open) {
      if (stream.isWriting || clock.nowMs() - stream.lastWriteMs < HEARTBEAT_MS) continue;
      write(stream, ': still here\n\n').catch(() => end(stream));
    }
    try {
      const hold = await deps.stillHold(open);
      keysSeenAtMs = clock.nowMs();
      for (const [index, stream] of open.entries()) if (hold[index] !== true) end(stream);
    } catch (error) {
      if (!isDatabaseAway(error) || clock.nowMs() - keysSeenAtMs >= OUTAGE_MS) {
        // Nobody can be told that a key was revoked.
        log.warn({ streams: open.length, err: error }, 'event streams end: their keys could not be looked at');
        for (const stream of open) end(stream);
      }
    }
    ring(...calls.keys());
    if (calls.size > 0) pollLater();
  }

  function pollLater(): void {
    // A stream may have come first, while the last look was under way: there is one next look.
    cancelPoll();
    cancelPoll = clock.after(POLL_MS, () => void poll());
  }

  async function hear(stream: Stream, event: CallEvent): Promise<void> {
    if (event.id === null && event.isEarly !== true) return write(stream, eventText(event));
    if (event.id !== null && BigInt(event.id) <= BigInt(stream.sentId)) return;
    stream.early.heard(event);
    await showEarly(stream);
  }

  function listenTo(callUuid: string): { streams: Set<Stream>; unsubscribe: () => void } {
    const streams = new Set<Stream>();
    const unsubscribe = deps.bus.subscribe(callUuid, (event) => {
      for (const stream of streams) hear(stream, event).catch(() => end(stream));
      if (event.id !== null) ring(callUuid);
    });
    deps.unwritten.hurry();
    return { streams, unsubscribe };
  }

  return {
    hasRoom: (callUuid, keyId) =>
      (perKey.get(keyId) ?? 0) < MOST_OF_A_KEY && (calls.get(callUuid)?.streams.size ?? 0) < MOST_OF_A_CALL,
    open(options) {
      const { callUuid, keyId, afterId } = options;
      const [sibling] = calls.get(callUuid)?.streams ?? [];
      const stream: Stream = {
        ...options,
        sentId: afterId,
        hasRead: false,
        readAtMs: clock.nowMs(),
        early: sibling?.early.forNewcomer(afterId) ?? new EarlyEvents(),
        isShowingEarly: false,
        isWriting: false,
        isBehind: false,
        hasEnded: false,
        lastWriteMs: clock.nowMs(),
        overSinceMs: null,
      };
      if (calls.size === 0) {
        keysSeenAtMs = clock.nowMs();
        pollLater();
      }
      const call = calls.get(callUuid) ?? listenTo(callUuid);
      calls.set(callUuid, call);
      call.streams.add(stream);
      perKey.set(keyId, (perKey.get(keyId) ?? 0) + 1);
      ring(callUuid);
      return () => end(stream);
    },
    close() {
      for (const { streams } of [...calls.values()]) for (const stream of [...streams]) end(stream);
    },
  };
}
