/**
 * Parley's own client (`clients/typescript`) as the harness needs it: each request is sent once and every answer is an
 * answer, a refusal too; a call's events are followed as they happen; a log entry is waited for.
 */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent } from 'undici';
import {
  type Call,
  type CallEvent,
  createParleyClient,
  type OutboundCall,
  type ParleyClient,
  ParleyError,
  type Placed,
  type RequestOptions,
} from '../../clients/typescript/src/client.ts';
import { fetchOver } from './fetch-over.ts';
import { PATIENCE_MS } from './patience.ts';

export interface PlacedCall {
  httpStatus: number;
  headers: Headers;
  /** What a refusal says is in it, too. */
  body: Partial<Placed> & { message?: string };
}

/** `id`: null for what stands in no log, such as partial words. */
export type FollowedEvent = Omit<CallEvent, 'id'> & { id: string | null };

/**
 * A connection for each: one that has been idle may be closed by the service in the moment in which it is used again,
 * and a placement without a key is not repeated.
 */
const placingFetch = fetchOver(new Agent({ pipelining: 0 }));

/** What comes soon is seen soon; who waits for a whole conversation does not ask five times a second. */
const POLL_MS = { first: 200, more: 25, most: 500 };
/** Of an event stream whose service says that it comes back. */
const FOLLOW_TRIES = 5;

export class CallClient {
  readonly #base: string;
  readonly #apiKey: string;
  readonly #client: ParleyClient;
  readonly #placing: ParleyClient;

  constructor(base: string, apiKey: string) {
    this.#base = base;
    this.#apiKey = apiKey;
    const settings = { baseUrl: base, apiKey, retries: 0, timeoutMs: PATIENCE_MS };
    this.#client = createParleyClient(settings);
    this.#placing = createParleyClient({ ...settings, fetch: placingFetch });
  }

  /** Without an `idempotencyKey` none is sent. Rejects only when there was no answer. */
  async place(body: OutboundCall, options: RequestOptions = {}): Promise<PlacedCall> {
    try {
      const { status, headers, data } = await this.#placing.placeCall({ body }, { idempotencyKey: null, ...options });
      return { httpStatus: status, headers, body: data };
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      return { httpStatus: error.status, headers: error.headers, body: (error.body ?? {}) as PlacedCall['body'] };
    }
  }

  async entry(callUuid: string): Promise<Call> {
    return (await this.#client.readCall({ callUuid })).data;
  }

  /**
   * Server-sent events of a call, from its beginning to its end: the generated client reads them as a list only. An
   * event without an id is not stored, or not yet: `stored` hears its id then. Returns whether the service said that it
   * is the end; else the stream broke off.
   */
  async *follow(
    callUuid: string,
    signal: AbortSignal,
    stored = (_id: string): void => {},
  ): AsyncGenerator<FollowedEvent, boolean> {
    const answer = await this.#openEvents(callUuid, signal);
    if (!answer.ok || !answer.body) throw new Error(`the event stream answered ${answer.status}`);
    let id: string | null = null;
    let isAtEnd = false;
    // Read to its own end: a stream that is left earlier has nobody who hears how it breaks off.
    for await (const line of createInterface({ input: Readable.fromWeb(answer.body as never) })) {
      if (line === 'event: end') isAtEnd = true;
      else if (line.startsWith('id: ')) id = line.slice(4);
      else if (line.startsWith('data: ') && !isAtEnd) {
        yield { ...(JSON.parse(line.slice(6)) as Omit<FollowedEvent, 'id'>), id };
        id = null;
      } else if (line === '' && id !== null) {
        stored(id);
        id = null;
      }
    }
    return isAtEnd;
  }

  /** Comes again, as every reader of such streams: told to do so later, or where the connection came to nothing. */
  async #openEvents(callUuid: string, signal: AbortSignal): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#apiKey}`, accept: 'text/event-stream' };
    for (let left = FOLLOW_TRIES; ; left--) {
      let afterSeconds = 1;
      try {
        const answer = await fetch(`${this.#base}/api/developer/calls/${callUuid}/events`, { headers, signal });
        if (answer.status !== 503 || left === 1) return answer;
        afterSeconds = Number(answer.headers.get('retry-after') ?? 1);
        await answer.body?.cancel();
      } catch (error) {
        if (left === 1 || signal.aborted) throw error;
      }
      await wait(1_000 * afterSeconds, undefined, { signal });
    }
  }

  /** Polls the log entry until `wanted` accepts it. */
  async waitFor(
    callUuid: string,
    what: string,
    wanted: (entry: Call) => boolean,
    limitMs = PATIENCE_MS,
  ): Promise<Call> {
    const deadline = Date.now() + limitMs;
    for (let pauseMs = POLL_MS.first; ; pauseMs = Math.min(pauseMs + POLL_MS.more, POLL_MS.most)) {
      // A poll may meet a process that has just died.
      const entry = await this.entry(callUuid).catch((error: unknown) =>
        Date.now() > deadline ? Promise.reject(error) : null,
      );
      if (entry !== null && wanted(entry)) return entry;
      if (entry !== null && Date.now() > deadline) {
        throw new Error(`waited ${limitMs} ms for ${what}; the call is ${entry.status}/${entry.endedReason ?? '-'}`);
      }
      await wait(pauseMs);
    }
  }
}
