/**
 * The Plivo carrier: placement, redirect, hang-up and look-up over REST, answer documents, callbacks and signatures.
 * Made by the carrier registry, once for each line's credentials (`authId`, `authToken`). It keeps no state of calls.
 */
import { CARRIERS, missingCredentials } from '../../../media/contract/carriers.ts';
import type { CallbackRequest, Carrier, CarrierFactory, CarrierLookup, PlaceRequest } from '../carrier.ts';
import {
  basicAuthorization,
  createRestClient,
  type RestAnswer,
  type RestClient,
  type RestDeps,
  SHARED_REST,
} from '../rest-client.ts';
import { accessOf, isDone, isDoneOrGone, type PlacementWords, placeOutcomeOf } from '../rest-outcome.ts';
import { apiBaseVariable } from '../setting-names.ts';
import { hangupDocument, streamDocument, withRetries, XML_CONTENT_TYPE } from './answer-xml.ts';
import { parsePlivoCallback } from './callbacks.ts';
import { type SignedRequest, signatureOf, verifyUpgradeV3, verifyV3 } from './signature-v3.ts';

const NAME = 'plivo';
const PLIVO_API_BASE = 'https://api.plivo.com';

const PLACEMENT: PlacementWords = {
  title: CARRIERS[NAME].title,
  apiBaseVariable: apiBaseVariable(NAME),
  idField: 'request_uuid',
  idOf: (body) => requestIdOf(body['request_uuid']),
  isInvalidNumber: ({ status, errorText }: RestAnswer) => status === 400 && DESTINATION_INVALID.test(errorText),
};

/**
 * For tests and for composition roots that own the connection pool. Every path of the API ends in a slash, before the
 * query if there is one.
 */
export function plivoCarrierFactory(deps: RestDeps): CarrierFactory {
  return (credentials, settings) => {
    const authId = credentials['authId'] ?? '';
    const authToken = credentials['authToken'] ?? '';
    const rest = createRestClient({
      ...deps,
      apiBase: settings.apiBase ?? PLIVO_API_BASE,
      root: `/v1/Account/${encodeURIComponent(authId)}/`,
      authorization: basicAuthorization(authId, authToken),
      secrets: [authToken],
    });
    return {
      name: NAME,
      missingCredentials: () => missingCredentials(NAME, credentials),
      place: async (request) => placeOutcomeOf(await place(rest, request), PLACEMENT),
      answerDocument: (stream) => ({ contentType: XML_CONTENT_TYPE, body: streamDocument(stream) }),
      hangupDocument: () => ({ contentType: XML_CONTENT_TYPE, body: hangupDocument() }),
      verifyCallback: (request) => verifyV3(authToken, signedOf(request), request.headers),
      signatureOf: (request) => signatureOf(authToken, signedOf(request), request.headers),
      verifyUpgrade: ({ url, headers }) => (verifyUpgradeV3(authToken, url, headers) ? 'ok' : 'bad'),
      parseCallback: (kind, { params }) => parsePlivoCallback(kind, params),
      hangup: async (carrierCallId) => isDoneOrGone(await rest.request('DELETE', callPath(carrierCallId))),
      cancel: async (requestId) =>
        isDoneOrGone(await rest.request('DELETE', `Request/${encodeURIComponent(requestId)}/`)),
      lookup: (carrierCallId) => lookup(rest, carrierCallId),
      redirect: (carrierCallId, documentUrl) => redirect(rest, carrierCallId, documentUrl),
      // The account's own details.
      checkAccess: async () => accessOf(await rest.request('GET', '')),
    } satisfies Carrier;
  };
}

/** The parameters of a GET stand in its URL. */
function signedOf({ method, url, params }: CallbackRequest): SignedRequest {
  return { method, url, params: method === 'GET' ? {} : params };
}

export const createPlivoCarrier: CarrierFactory = plivoCarrierFactory(SHARED_REST);

function place(rest: RestClient, request: PlaceRequest): ReturnType<RestClient['request']> {
  return rest.request('POST', 'Call/', {
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
}

/** `to parameter is invalid`, `invalid destination number`, …; not `from parameter is invalid`. */
const DESTINATION_INVALID = /\b(to|destination)\b[^.;]*\b(invalid|not valid|incorrect)\b|\binvalid (to|destination)\b/i;

/** A string, or an array of one when Plivo took the request for a bulk one. */
function requestIdOf(value: unknown): string | null {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' && first !== '' ? first : null;
}

const callPath = (carrierCallId: string): string => `Call/${encodeURIComponent(carrierCallId)}/`;

/**
 * What Plivo calls a transfer of the A leg. It asks the new address when the call's stream is over: so that is ended
 * too.
 */
async function redirect(rest: RestClient, carrierCallId: string, documentUrl: string): Promise<boolean> {
  const aleg = { legs: 'aleg', aleg_url: withRetries(documentUrl), aleg_method: 'POST' };
  if (!isDone(await rest.request('POST', callPath(carrierCallId), aleg))) return false;
  return isDoneOrGone(await rest.request('DELETE', `${callPath(carrierCallId)}Stream/`));
}

async function lookup(rest: RestClient, carrierCallId: string): Promise<CarrierLookup> {
  const path = callPath(carrierCallId);
  const live = await rest.request('GET', `${path}?status=live`);
  if (live.kind !== 'answered') return 'unknown';
  if (live.answer.status === 200) return live.answer.body['call_status'] === 'ringing' ? 'ringing' : 'in_progress';
  if (live.answer.status !== 404) return 'unknown';
  const queued = await rest.request('GET', `${path}?status=queued`);
  if (queued.kind !== 'answered') return 'unknown';
  if (queued.answer.status === 200) return 'queued';
  return queued.answer.status === 404 ? 'gone' : 'unknown';
}
