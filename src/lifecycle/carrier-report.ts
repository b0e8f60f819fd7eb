/**
 * What a carrier's report writes beside the change of its call, in the same transaction: that it was acted on, so
 * that a copy changes nothing; and, where the carrier waits for a stream, that stream's token, or that its streams were
 * lost too often. One object a report; passed to `Transitions.apply`, and asked afterwards.
 */
import type { EndedReason } from '../../media/contract/call-outcome.ts';
import type { Clock } from '../../media/contract/clock.ts';
import type { CallChange } from '../calls/call-change.ts';
import type { CallRow } from '../calls/call-row.ts';
import { actedOn } from '../carriers/acted-on.ts';
import type { Queryable } from '../store/database.ts';
import { givenToken, type StreamTokens, waitingForStream } from './stream-token.ts';
import type { ApplyOptions } from './transition.ts';

export interface CarrierReportDeps {
  clock: Clock;
  streamTokens: StreamTokens;
}

/** `once`: one that runs is not opened a second time. `again`: the one that ran is gone. */
export type WantedStream = 'none' | 'once' | 'again';

/** A call whose streams are lost so often within a minute is ended: what loses them would lose the next one too. */
const MOST_REOPENED_A_MINUTE = 3;
const STREAM_REOPENED = 'stream.reopened';

export class CarrierReport implements ApplyOptions {
  readonly #deps: CarrierReportDeps;
  readonly #signature: string;
  readonly #wanted: WantedStream;
  #token: string | null = null;
  #lostTooOften: EndedReason | null = null;

  /** `signature`: see `Carrier.signatureOf`. */
  constructor(deps: CarrierReportDeps, signature: string, wanted: WantedStream) {
    this.#deps = deps;
    this.#signature = signature;
    this.#wanted = wanted;
  }

  /** Of the stream that the carrier is to open; null: none. */
  get token(): string | null {
    return this.#token;
  }

  /** With what reason the call is to be ended instead; null: not at all. */
  get lostTooOften(): EndedReason | null {
    return this.#lostTooOften;
  }

  /** The write of a copy throws `ActedOnBefore`. */
  async alongside(tx: Queryable, change: CallChange): Promise<void> {
    const { call } = change;
    this.#token = null;
    this.#lostTooOften = null;
    change.also(actedOn(call.callUuid, this.#signature));
    if (this.#wanted === 'none' || !mayTalk(call)) return;
    if (this.#wanted === 'once' && call.mediaTokenUsedAt !== null) return;
    if (this.#wanted === 'again') {
      const atEpochMs = this.#deps.clock.epochMs();
      if ((await timesReopened(tx, call.callUuid, atEpochMs - 60_000)) >= MOST_REOPENED_A_MINUTE) {
        this.#lostTooOften = call.epoch > 0 ? 'node_lost' : 'no_media';
        return;
      }
      const data = { lostEpoch: call.epoch, lostMediaId: call.ownerMediaId };
      change.log({ kind: STREAM_REOPENED, data, atEpochMs });
    }
    this.#token = await givenToken(tx, call, this.#deps.streamTokens);
    change.set(waitingForStream(this.#token));
  }
}

/** Nobody and nothing has ended it. */
export function mayTalk(call: CallRow): boolean {
  return call.status === 'in_progress' && call.carrierEndedAt === null && call.ending === null;
}

async function timesReopened(tx: Queryable, callUuid: string, sinceEpochMs: number): Promise<number> {
  const rows = await tx.query('SELECT 1 AS one FROM call_events WHERE call_uuid = $1 AND kind = $2 AND at > $3', [
    callUuid,
    STREAM_REOPENED,
    new Date(sinceEpochMs),
  ]);
  return rows.length;
}
