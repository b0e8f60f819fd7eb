/**
 * All live event streams of this process, without HTTP. One reading a call serves every stream of it, whenever the bus
 * rings, and once a second one reading serves them all: how many streams there are is nothing to the database. The same
 * second asks whether their keys still hold; a stream whose key does not ends. The id of the last event that was sent
 * is all that a stream remembers, as its client does: the events of a call become visible in the order of their ids
 * (`src/calls/append-call-log.ts`).
 */
import type { Logger } from 'pino';
import type { Clock } from '../../../media/contract/clock.ts';
import type { CallEventBus } from '../../calls/call-event-bus.ts';
import type { UnwrittenTalk } from '../../media-link/unwritten-talk.ts';
import type { Database } from '../../store/database.ts';
import type { KeyUse } from '../authentication.ts';
import { type CallProgress, eventText, readNewEvents, readProgress, type StoredEvent } from './stored-events.ts';

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
const MOST_OF_A_KEY = 100;
const MOST_OF_A_CALL = 20;

export function createEventStreams(deps: EventStreamsDeps): EventStreams {
  const { database, clock, log } = deps;
  const calls = new Map<string, { streams: Set<Stream>; unsubscribe: () => void }>();
  const perKey = new Map<string, number>();
  /** Calls to be read. */
  const rung = new Set<string>();
  let isReading = false;
  let cancelPoll = (): void => {};

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
        // The clients come again with Last-Event-ID and miss nothing.
        log.warn({ streams: ready.length, err: error }, 'event streams could not be read on');
        for (const stream of ready) end(stream);
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
    // Progress is read before the events: what it calls settled has then been sent.
    const progress = await readProgress(database, [...afterIds.keys()]);
    const events = await readNewEvents(database, afterIds);
    for (const stream of streams) {
      const { callUuid, sentId } = stream;
      const fresh = (events.get(callUuid) ?? []).filter(({ id }) => BigInt(id) > BigInt(sentId));
      send(stream, fresh, progress.get(callUuid)).catch(() => end(stream));
    }
  }

  async function send(stream: Stream, events: readonly StoredEvent[], progress?: CallProgress): Promise<void> {
    const { isOver, isSettled } = progress ?? { isOver: true, isSettled: true };
    stream.isWriting = true;
    for (const event of events) {
      await write(stream, eventText(event));
      stream.sentId = event.id;
    }
    if (isOver) stream.overSinceMs ??= clock.nowMs();
    const hasLingered = stream.overSinceMs !== null && clock.nowMs() - stream.overSinceMs >= LINGER_MS;
    if (isOver && (isSettled || hasLingered)) {
      await write(stream, 'event: end\ndata: {}\n\n');
      end(stream);
    } else if (clock.nowMs() - stream.lastWriteMs >= HEARTBEAT_MS) await write(stream, ': still here\n\n');
    stream.isWriting = false;
    if (stream.isBehind && !stream.hasEnded) ring(stream.callUuid);
  }

  async function poll(): Promise<void> {
    const open = [...calls.values()].flatMap(({ streams }) => [...streams]);
    try {
      const hold = await deps.stillHold(open);
      for (const [index, stream] of open.entries()) if (hold[index] !== true) end(stream);
    } catch (error) {
      // Nobody can be told that a key was revoked.
      log.warn({ streams: open.length, err: error }, 'event streams end: their keys could not be looked at');
      for (const stream of open) end(stream);
    }
    ring(...calls.keys());
    if (calls.size > 0) pollLater();
  }

  function pollLater(): void {
    // A stream may have come first, while the last look was under way: there is one next look.
    cancelPoll();
    cancelPoll = clock.after(POLL_MS, () => void poll());
  }

  function listenTo(callUuid: string): { streams: Set<Stream>; unsubscribe: () => void } {
    const streams = new Set<Stream>();
    const unsubscribe = deps.bus.subscribe(callUuid, (event) => {
      if (event.id !== null) ring(callUuid);
      else for (const stream of streams) write(stream, eventText(event)).catch(() => end(stream));
    });
    deps.unwritten.hurry();
    return { streams, unsubscribe };
  }

  return {
    hasRoom: (callUuid, keyId) =>
      (perKey.get(keyId) ?? 0) < MOST_OF_A_KEY && (calls.get(callUuid)?.streams.size ?? 0) < MOST_OF_A_CALL,
    open(options) {
      const { callUuid, keyId, afterId } = options;
      const stream: Stream = {
        ...options,
        sentId: afterId,
        isWriting: false,
        isBehind: false,
        hasEnded: false,
        lastWriteMs: clock.nowMs(),
        overSinceMs: null,
      };
      if (calls.size === 0) pollLater();
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
