/**
 * The Plivo carrier: placement, hang-up and look-up over REST, answer documents, callbacks and signatures. Made by the
 * carrier registry, once for each line's credentials (`authId`, `authToken`). It keeps no state of calls.
 */
import { createRequire } from 'node:module';
import type { Dispatcher } from 'undici';
import { type Clock, systemClock } from '../../../media/contract/clock.ts';
import type {
  AccessCheck,
  CallbackRequest,
  Carrier,
  CarrierFactory,
  CarrierLookup,
  PlaceOutcome,
  PlaceRequest,
} from '../carrier.ts';
import { hangupDocument, streamDocument, withRetries, XML_CONTENT_TYPE } from './answer-xml.ts';
import { parsePlivoCallback } from './callbacks.ts';
import { createPlivoRestClient, type PlivoRestClient, type RestAnswer } from './rest-client.ts';
import { type SignedRequest, signatureOf, verifyUpgradeV3, verifyV3 } from './signature-v3.ts';

const PLIVO_API_BASE = 'https://api.plivo.com';
const CONNECT_TIMEOUT_MS = 2_000;
const TOTAL_TIMEOUT_MS = 5_000;
const LATE_ANSWER_MS = 60_000;
/** Longer than a late answer is listened for, so that the pool's own time-outs never decide. */
const POOL_TIMEOUT_MS = 65_000;
const DEFAULT_RETRY_AFTER_SECONDS = 1;

export interface PlivoCarrierDeps {
  dispatcher: Dispatcher;
  clock: Clock;
  totalTimeoutMs: number;
  lateAnswerMs: number;
}

/** For tests and for composition roots that own the connection pool. */
export function plivoCarrierFactory(deps: PlivoCarrierDeps): CarrierFactory {
  return (credentials, settings) => {
    const authId = credentials['authId'] ?? '';
    const authToken = credentials['authToken'] ?? '';
    const rest = createPlivoRestClient({ ...deps, apiBase: settings.apiBase ?? PLIVO_API_BASE, authId, authToken });
    return {
      name: 'plivo',
      missingCredentials: () => [...(authId === '' ? ['authId'] : []), ...(authToken === '' ? ['authToken'] : [])],
      place: (request) => place(rest, request),
      answerDocument: (stream) => ({ contentType: XML_CONTENT_TYPE, body: streamDocument(stream) }),
      hangupDocument: () => ({ contentType: XML_CONTENT_TYPE, body: hangupDocument() }),
      verifyCallback: (request) => verifyV3(authToken, signedOf(request), request.headers),
      signatureOf: (request) => signatureOf(authToken, signedOf(request), request.headers),
      verifyUpgrade: ({ url, headers }) => (verifyUpgradeV3(authToken, url, headers) ? 'ok' : 'bad'),
      parseCallback: (kind, { params }) => parsePlivoCallback(kind, params),
      hangup: (carrierCallId) => remove(rest, `Call/${encodeURIComponent(carrierCallId)}/`),
      cancel: (carrierRequestId) => remove(rest, `Request/${encodeURIComponent(carrierRequestId)}/`),
      lookup: (carrierCallId) => lookup(rest, carrierCallId),
      checkAccess: () => checkAccess(rest),
    } satisfies Carrier;
  };
}

/** The parameters of a GET stand in its URL. */
function signedOf({ method, url, params }: CallbackRequest): SignedRequest {
  return { method, url, params: method === 'GET' ? {} : params };
}

let factory: CarrierFactory | null = null;

/**
 * One pool for every line: undici keeps the connections apart by host, and an idle one does not keep the process alive. It is made, and
 * undici read, with the first line: a start need not wait for it.
 */
export const createPlivoCarrier: CarrierFactory = (credentials, settings) => {
  factory ??= plivoCarrierFactory({
    dispatcher: createPool(),
    clock: systemClock,
    totalTimeoutMs: TOTAL_TIMEOUT_MS,
    lateAnswerMs: LATE_ANSWER_MS,
  });
  return factory(credentials, settings);
};

function createPool(): Dispatcher {
  const { Agent } = createRequire(import.meta.url)('undici') as typeof import('undici');
  return new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: POOL_TIMEOUT_MS,
    bodyTimeout: POOL_TIMEOUT_MS,
  });
}

async function place(rest: PlivoRestClient, request: PlaceRequest): Promise<PlaceOutcome> {
  const result = await rest.request('POST', 'Call/', {
    from: request.from.replace(/^\+/, ''),
    to: request.to.replace(/^\+/, ''),
    answer_url: withRetries(`${request.callbackBase}/answer`),
    answer_method: 'POST',
    ring_url: withRetries(`${request.callbackBase}/ring`),
    ring_method: 'POST',
    hangup_url: withRetries(`${request.callbackBase}/hangup`),
    hangup_method: 'POST',
    ring_timeout: request.ringTimeoutSeconds,
    time_limit: request.maxDurationSeconds,
  });
  switch (result.kind) {
    case 'answered':
      return outcomeOf(result.answer);
    case 'unsent':
      return {
        kind: 'refused',
        reason: result.code === 'UND_ERR_CONNECT_TIMEOUT' ? 'carrier_timeout' : 'carrier_error',
        carrierCode: result.code,
        message: `Plivo's API could not be reached (${result.code}); check CARRIER_API_BASE_PLIVO and the network.`,
      };
    case 'unanswered':
      return {
        kind: 'unknown',
        why: result.why,
        lateAcceptance: result.late.then((answer) => {
          const outcome = answer === null ? null : outcomeOf(answer);
          return outcome?.kind === 'accepted' ? outcome.carrierRequestId : null;
        }),
      };
  }
}

function outcomeOf({ status, body, errorText, retryAfterSeconds }: RestAnswer): PlaceOutcome {
  const carrierCode = `http_${status}`;
  const refused = (reason: 'carrier_auth' | 'carrier_rejected' | 'carrier_error' | 'invalid_number'): PlaceOutcome => ({
    kind: 'refused',
    reason,
    carrierCode,
    message: errorText === '' ? `Plivo answered ${status}` : `Plivo answered ${status}: ${errorText}`,
  });
  if (status >= 200 && status < 300) {
    const carrierRequestId = requestIdOf(body['request_uuid']);
    if (carrierRequestId !== null) return { kind: 'accepted', carrierRequestId };
    return { kind: 'unknown', why: `answer ${status} without request_uuid`, lateAcceptance: Promise.resolve(null) };
  }
  // Nothing else is a throttle: a 503 may have dialled (contract §1).
  if (status === 429) return { kind: 'throttled', retryAfterSeconds: retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS };
  if (status === 401) return refused('carrier_auth');
  if (status >= 400 && status < 500) {
    return refused(status === 400 && DESTINATION_INVALID.test(errorText) ? 'invalid_number' : 'carrier_rejected');
  }
  if (status >= 500) return { kind: 'unknown', why: `answer ${status}`, lateAcceptance: Promise.resolve(null) };
  return refused('carrier_error');
}

/** `to parameter is invalid`, `invalid destination number`, …; not `from parameter is invalid`. */
const DESTINATION_INVALID = /\b(to|destination)\b[^.;]*\b(invalid|not valid|incorrect)\b|\binvalid (to|destination)\b/i;

/** A string, or an array of one when Plivo took the request for a bulk one. */
function requestIdOf(value: unknown): string | null {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' && first !== '' ? first : null;
}

/** 404 says that there is nothing (any more) to end, which is what was wanted. */
async function remove(rest: PlivoRestClient, path: string): Promise<boolean> {
  const result = await rest.request('DELETE', path);
  if (result.kind !== 'answered') return false;
  const { status } = result.answer;
  return (status >= 200 && status < 300) || status === 404;
}

async function lookup(rest: PlivoRestClient, carrierCallId: string): Promise<CarrierLookup> {
  const path = `Call/${encodeURIComponent(carrierCallId)}/`;
  const live = await rest.request('GET', `${path}?status=live`);
  if (live.kind !== 'answered') return 'unknown';
  if (live.answer.status === 200) return live.answer.body['call_status'] === 'ringing' ? 'ringing' : 'in_progress';
  if (live.answer.status !== 404) return 'unknown';
  const queued = await rest.request('GET', `${path}?status=queued`);
  if (queued.kind !== 'answered') return 'unknown';
  if (queued.answer.status === 200) return 'queued';
  return queued.answer.status === 404 ? 'gone' : 'unknown';
}

/** `GET /v1/Account/{auth_id}/`: the account's own details. */
async function checkAccess(rest: PlivoRestClient): Promise<AccessCheck> {
  const result = await rest.request('GET', '');
  if (result.kind !== 'answered') {
    const detail = result.kind === 'unsent' ? `no connection (${result.code})` : result.why;
    return { outcome: 'unreachable', detail, serverEpochMs: null };
  }
  const { status, dateEpochMs, errorText } = result.answer;
  const detail = errorText === '' ? `answered ${status}` : `answered ${status}: ${errorText}`;
  if (status >= 200 && status < 300) return { outcome: 'ok', detail, serverEpochMs: dateEpochMs };
  return { outcome: status >= 500 || status === 429 ? 'unreachable' : 'refused', detail, serverEpochMs: dateEpochMs };
}
