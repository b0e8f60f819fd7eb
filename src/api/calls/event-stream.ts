/**
 * One live event stream of one call, without HTTP: reads what is stored, then again whenever the bus rings or a second has
 * passed, until the call and what follows it are settled. Rows that became visible out of order (two transactions, the
 * later id first) still come once: the last seconds are read anew and what was sent is skipped.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../../media/contract/clock.ts';
import type { Database } from '../../store/database.ts';
import type { CallEventBus } from '../call-event-bus.ts';
import { eventText, readEvents } from './stored-events.ts';

export interface EventStreamOptions {
  database: Database;
  clock: Clock;
  log: Logger;
  bus: Pick<CallEventBus, 'subscribe'>;
  callUuid: string;
  /** Events up to this id are not sent; `0` sends all. */
  afterId: string;
  /** Resolves when more may be written. */
  write(text: string): Promise<void>;
  /** Called once, whatever ended it. */
  onEnd(): void;
}

export interface EventStream {
  start(): void;
  /** Ends it now; ending twice is fine. */
  end(): void;
}

const POLL_MS = 1_000;
const HEARTBEAT_MS = 15_000;
const LINGER_MS = 60_000;
/** A row may become visible this long after it took its id. */
const SETTLE_MS = 5_000;

interface Progress {
  over: boolean;
  settled: boolean;
}

export function createEventStream(options: EventStreamOptions): EventStream {
  const { database, clock, log, callUuid } = options;
  const sent = new Set<string>();
  let floorId = options.afterId;
  let ended = false;
  let reading = false;
  let rungWhileReading = false;
  let overSinceMs: number | null = null;
  let lastWriteMs = clock.nowMs();
  let cancelPoll = (): void => {};
  let unsubscribe = (): void => {};

  const end = (): void => {
    if (ended) return;
    ended = true;
    cancelPoll();
    unsubscribe();
    options.onEnd();
  };

  const write = async (text: string): Promise<void> => {
    if (ended) return;
    lastWriteMs = clock.nowMs();
    await options.write(text);
  };

  const sendNew = async (): Promise<void> => {
    const settledBefore = clock.epochMs() - SETTLE_MS;
    for (const event of await readEvents(database, callUuid, floorId)) {
      if (!sent.has(event.id)) await write(eventText(event));
      sent.add(event.id);
      if (event.at.getTime() < settledBefore && sent.has(event.id)) floorId = event.id;
    }
    for (const id of sent) if (BigInt(id) <= BigInt(floorId)) sent.delete(id);
  };

  const round = async (): Promise<void> => {
    // Progress is read before the events: what it calls settled has then been sent.
    const progress = await readProgress(database, callUuid);
    await sendNew();
    if (progress.over) overSinceMs ??= clock.nowMs();
    const lingered = overSinceMs !== null && clock.nowMs() - overSinceMs >= LINGER_MS;
    if (progress.over && (progress.settled || lingered)) {
      await write('event: end\ndata: {}\n\n');
      end();
    } else if (clock.nowMs() - lastWriteMs >= HEARTBEAT_MS) await write(': still here\n\n');
  };

  const read = async (): Promise<void> => {
    if (ended) return;
    if (reading) {
      rungWhileReading = true;
      return;
    }
    reading = true;
    cancelPoll();
    try {
      do {
        rungWhileReading = false;
        await round();
      } while (rungWhileReading && !ended);
    } catch (error) {
      // The client comes again with Last-Event-ID and misses nothing.
      log.warn({ callUuid, err: error }, 'an event stream could not be read on');
      end();
    }
    reading = false;
    if (!ended) cancelPoll = clock.after(POLL_MS, () => void read());
  };

  return {
    start() {
      unsubscribe = options.bus.subscribe(callUuid, (event) => {
        if (event.id === null) write(eventText(event)).catch(() => end());
        else void read();
      });
      void read();
    },
    end,
  };
}

async function readProgress(database: Database, callUuid: string): Promise<Progress> {
  const [row] = await database.query<Progress>(
    `SELECT c.ended_at IS NOT NULL AS over,
            c.recording_status <> 'pending' AND c.analysis_status <> 'pending' AND NOT EXISTS (
              SELECT 1 FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event_id
              WHERE e.call_uuid = c.call_uuid AND d.state = 'pending'
            ) AS settled
     FROM calls c WHERE c.call_uuid = $1`,
    [callUuid],
  );
  return row ?? { over: true, settled: true };
}
