/**
 * One request on its way to control and its answer on the way back. A body that has to be whole for anybody to judge it
 * waits here until it is. Made by the proxy for each request; its places in the rooms are given back when it is over,
 * however it ends.
 */
import { Readable } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import { VOUCHED_HEADER } from '../contract/vouched.ts';
import { AnswerPace } from './answer-pace.ts';
import {
  answerEnvelope,
  answerNoRoom,
  answerOpenRequestsLimit,
  answerSlowBody,
  answerUnavailable,
} from './proxy-answers.ts';
import { answeredHeaders, forwardedHeaders } from './proxy-headers.ts';
import type { Place, RequestRoom, RoomRefusal } from './request-room/request-room.ts';
import type { HttpExchange } from './socket-server/http-exchange.ts';
import { WaitingBody } from './waiting-body.ts';

export interface ProxiedRequestOptions {
  maxBodyBytes: number;
  room: RequestRoom;
  /** A client that takes nothing of its answer for so long is cut. */
  stalledLimitMs: number;
}

/** The request cannot have been read, so it may be answered as never sent. */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOENT', 'UND_ERR_CONNECT_TIMEOUT', 'EACCES', 'EAGAIN']);
/** undici refuses what no HTTP client may send: a bad method, path or header. */
const NOT_A_REQUEST = 'UND_ERR_INVALID_ARG';
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);
const EVENT_STREAM = 'text/event-stream';
/** Of a request that is judged by its whole body: no route that takes one without a key takes more. */
const MAX_WAITING_BODY_BYTES = 64 * 1024;
export class ProxiedRequest implements Dispatcher.DispatchHandler {
  readonly #exchange: HttpExchange;
  readonly #options: ProxiedRequestOptions;
  readonly #counters: { inFlight: number };
  readonly #pool: Pool;
  #place: Place | null = null;
  #headers: string[] = [];
  #waiting: WaitingBody | null = null;
  #isBodyWhole = true;
  #controller: Dispatcher.DispatchController | null = null;
  #body: Readable | null = null;
  #isPaused = false;
  #hasAnswered = false;
  #isOver = false;
  /** When it came, or the last piece of its body. */
  movedAtMs = performance.now();
  readonly pace: AnswerPace;

  constructor(exchange: HttpExchange, options: ProxiedRequestOptions, counters: { inFlight: number }, pool: Pool) {
    this.#exchange = exchange;
    this.#options = options;
    this.#counters = counters;
    this.#pool = pool;
    this.pace = new AnswerPace(options.stalledLimitMs);
    counters.inFlight++;
  }

  /** Nobody waits for an answer, or for more of it. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Its client takes its answer too slowly. */
  stalled(): void {
    this.#giveUp(() => {
      if (this.#settle()) this.#exchange.cut();
    });
  }

  /** Neither answered nor failed in all the time that it may take. */
  tooLate(): void {
    if (this.#hasAnswered || this.#isOver) return;
    this.#giveUp(() => this.#answer(500, 'Internal server error', 'internal_error'));
  }

  begin(): void {
    const exchange = this.#exchange;
    const { headers, isLengthClear, announcedBytes, hasBody } = forwardedHeaders(exchange);
    this.#headers = headers;
    this.#isBodyWhole = !hasBody;
    exchange.onAborted = () => this.#abort('the client went away');
    // A tunnel leads nowhere from here.
    if (!isLengthClear || exchange.method === 'CONNECT') {
      this.#answer(400, 'Bad request', 'bad_request');
      return;
    }
    const place = this.#options.room.placeOf(exchange, hasBody);
    this.#place = place;
    if (announcedBytes > this.#maxBodyBytes) {
      this.#answer(413, 'Request body too large', 'body_too_large');
      return;
    }
    place.onCut = (why) => this.#refuse(why);
    if (this.#isRefused(place.begin())) return;
    if (hasBody) exchange.onBody = (chunk, isLast) => this.#onBody(chunk, isLast);
    if (place.waitsForBody) this.#waiting = new WaitingBody();
    else this.#dispatch(hasBody ? this.#streamedBody() : null);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('the client went away'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    httpStatus: number,
    headers: Record<string, string | string[] | undefined>,
    statusText?: string,
  ): void {
    if (httpStatus < 200 || this.#isOver) return;
    const vouched = headers[VOUCHED_HEADER];
    this.#place?.judged(httpStatus, typeof vouched === 'string' ? vouched : '');
    const isStream = String(headers['content-type']).startsWith(EVENT_STREAM);
    this.pace.mustKeepUp = !isStream && this.#place?.isVouched !== true;
    if (isStream) {
      const refusal = this.#place?.becomesStream() ?? null;
      if (refusal !== null) {
        this.#refuse(refusal);
        return;
      }
    }
    this.#hasAnswered = true;
    const length = headers['content-length'];
    this.#exchange.onWritable = () => {
      this.pace.taken(performance.now());
      this.#controller?.resume();
    };
    this.#exchange.respond(
      httpStatus,
      statusText ?? '',
      answeredHeaders(headers),
      typeof length === 'string' ? Number(length) : null,
    );
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    this.pace.bytes += chunk.length;
    if (this.#exchange.write(chunk)) return;
    this.pace.waits(performance.now());
    controller.pause();
  }

  onResponseEnd(): void {
    if (!this.#settle()) return;
    this.#exchange.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return;
    if (this.#hasAnswered) {
      this.#settle();
      this.#exchange.cut();
      return;
    }
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === NOT_A_REQUEST) {
      this.#answer(400, 'Bad request', 'bad_request');
      return;
    }
    if (NOT_SENT.has(code) || SAFE_METHODS.has(this.#exchange.method)) {
      this.#settle();
      answerUnavailable(this.#exchange);
      return;
    }
    // Control may have acted on it: 503 would invite a second try of something that was done.
    this.#answer(500, 'Internal server error', 'internal_error');
  }

  get #maxBodyBytes(): number {
    return this.#place?.waitsForBody ? MAX_WAITING_BODY_BYTES : this.#options.maxBodyBytes;
  }

  #dispatch(body: Readable | Buffer | null): void {
    const { method, url } = this.#exchange;
    try {
      this.#pool.dispatch({ method: method as Dispatcher.HttpMethod, path: url, headers: this.#headers, body }, this);
    } catch {
      // undici refuses what no HTTP client may send: a bad method, path or header.
      this.#answer(400, 'Bad request', 'bad_request');
    }
  }

  #streamedBody(): Readable {
    this.#body = new Readable({
      read: () => {
        if (!this.#isPaused) return;
        this.#setPaused(false);
        this.#exchange.resumeBody();
      },
    });
    this.#body.on('error', () => {});
    return this.#body;
  }

  #setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (this.#place !== null) this.#place.isPaused = isPaused;
  }

  #onBody(chunk: Uint8Array, isLast: boolean): void {
    const place = this.#place;
    if (place === null || this.#isOver) return;
    this.movedAtMs = performance.now();
    place.bytes += chunk.length;
    if (place.bytes > this.#maxBodyBytes) {
      this.#giveUp(() => this.#answer(413, 'Request body too large', 'body_too_large'));
      return;
    }
    this.#isBodyWhole = isLast;
    if (isLast && this.#isRefused(place.bodyIsWhole())) return;
    if (this.#waiting !== null) {
      this.#waiting.append(chunk);
      if (isLast) this.#dispatch(this.#waiting.whole());
      return;
    }
    const body = this.#body;
    if (body === null) return;
    if (chunk.length > 0 && !body.push(chunk) && !isLast) {
      this.#setPaused(true);
      this.#exchange.pauseBody();
    }
    if (isLast) body.push(null);
  }

  #isRefused(refusal: RoomRefusal | null): boolean {
    if (refusal !== null) this.#refuse(refusal);
    return refusal !== null;
  }

  #refuse(refusal: RoomRefusal): void {
    // Nobody waits for the rest of a body that nobody reads.
    const closes = !this.#isBodyWhole;
    const hasAnswered = this.#hasAnswered;
    this.#giveUp(() => {
      if (!this.#settle()) return;
      if (hasAnswered) this.#exchange.cut();
      else if (refusal === 'slow') answerSlowBody(this.#exchange);
      else if (refusal === 'address') answerOpenRequestsLimit(this.#exchange, closes);
      else answerNoRoom(this.#exchange, closes);
    });
  }

  /** What control has of it is taken back, after the client was answered. */
  #giveUp(answer: () => void): void {
    const controller = this.#controller;
    answer();
    controller?.abort(new Error('the request was refused'));
    this.#body?.destroy();
    this.#waiting = null;
  }

  #abort(why: string): void {
    if (!this.#settle()) return;
    this.#controller?.abort(new Error(why));
    this.#body?.destroy();
    this.#waiting = null;
  }

  #answer(httpStatus: number, message: string, errorCode: string): void {
    if (this.#settle()) answerEnvelope(this.#exchange, httpStatus, message, errorCode, []);
  }

  #settle(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#counters.inFlight--;
    this.#place?.release();
    return true;
  }
}
