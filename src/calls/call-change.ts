/**
 * What a transaction changes of one locked call, collected and then written as one statement: properties of its row,
 * lines of its log, and rows elsewhere that belong to the change. Whoever locks a call makes one; `call` is the row as
 * it will stand, and whoever comes later in the transaction sees what was set before.
 */
import type { Queryable } from '../store/database.ts';
import { type Write, writeTogether } from '../store/joint-write.ts';
import { asEvent, type CallLogLine } from './append-call-log.ts';
import type { CallEvent } from './call-event-bus.ts';
import { assignmentsOf, type CallPatch, type LockedCall } from './call-row.ts';

export class CallChange {
  readonly call: LockedCall;
  /** Of webhooks, to be dispatched after the commit. */
  readonly deliveryIds: string[] = [];
  /** Lines of the log as stored, to be published after the commit. */
  readonly events: CallEvent[] = [];
  #patch: CallPatch = {};
  #lines: CallLogLine[] = [];
  #writes: Write[] = [];

  /** `call` is changed with its row. */
  constructor(call: LockedCall) {
    this.call = call;
  }

  set(patch: CallPatch): this {
    Object.assign(this.call, patch);
    Object.assign(this.#patch, patch);
    return this;
  }

  log(...lines: readonly CallLogLine[]): this {
    this.#lines.push(...lines);
    return this;
  }

  /** None of them may write the call's own row, or a row that another one writes. */
  also(...writes: readonly Write[]): this {
    this.#writes.push(...writes);
    return this;
  }

  /** Sends what was collected since the last time; what follows is collected anew. */
  async write(tx: Queryable): Promise<void> {
    const [patch, lines, writes] = [this.#patch, this.#lines, this.#writes];
    [this.#patch, this.#lines, this.#writes] = [{}, [], []];
    await writeTogether(tx, [...this.#ofRow(patch), ...this.#ofLog(lines), ...writes]);
  }

  #ofRow(patch: CallPatch): Write[] {
    if (Object.keys(patch).length === 0) return [];
    return [
      {
        sql: (place) =>
          `UPDATE calls SET ${assignmentsOf(patch, place).join(', ')} WHERE call_uuid = ${place(this.call.callUuid)}`,
      },
    ];
  }

  /** In their order: their row is locked, so of one call no event is ever seen after a later one. */
  #ofLog(lines: readonly CallLogLine[]): Write[] {
    if (lines.length === 0) return [];
    const { callUuid } = this.call;
    return [
      {
        sql: (place) =>
          `INSERT INTO call_events (call_uuid, at, kind, data)
           SELECT ${place(callUuid)}::uuid, line.at, line.kind, line.data
             FROM unnest(${place(lines.map(({ atEpochMs }) => new Date(atEpochMs)))}::timestamptz[],
                         ${place(lines.map(({ kind }) => kind))}::text[],
                         ${place(lines.map(({ data }) => JSON.stringify(data)))}::jsonb[])
                  WITH ORDINALITY AS line (at, kind, data, position)
            ORDER BY line.position
           RETURNING id`,
        returns: {
          value: 'array_agg(id)',
          to: (ids) => {
            const stored = ids as string[];
            this.events.push(...lines.map((line, index) => asEvent(callUuid, line, stored[index]!)));
          },
        },
      },
    ];
  }
}
