/**
 * What the answer to a REST request means for a call, the same at every carrier: was it dialled, certainly not, or
 * perhaps; is it over; do the credentials hold. A carrier adds what only it knows: where its ids stand, which of its
 * words name a wrong number.
 */
import type { AccessCheck, PlaceOutcome } from './carrier.ts';
import type { RestAnswer, RestResult } from './rest-client.ts';

export interface PlacementWords {
  /** As people write the carrier. */
  title: string;
  /** The setting that says where its API is. */
  apiBaseVariable: string;
  /** Where an answer that accepts the call has the carrier's id of it. */
  idField: string;
  /** That id; null: the answer holds none. */
  idOf(body: Record<string, unknown>): string | null;
  /** Does this refusal say that the number that was to be called is none? */
  isInvalidNumber(answer: RestAnswer): boolean;
}

const DEFAULT_RETRY_AFTER_SECONDS = 1;

export function placeOutcomeOf(result: RestResult, words: PlacementWords): PlaceOutcome {
  switch (result.kind) {
    case 'answered':
      return outcomeOfAnswer(result.answer, words);
    case 'unsent':
      return {
        kind: 'refused',
        reason: result.code === 'UND_ERR_CONNECT_TIMEOUT' ? 'carrier_timeout' : 'carrier_error',
        carrierCode: result.code,
        message: `${words.title}'s API could not be reached (${result.code}); check ${words.apiBaseVariable} and the network.`,
      };
    case 'unanswered':
      return {
        kind: 'unknown',
        why: result.why,
        lateAcceptance: result.late.then((answer) => {
          const outcome = answer === null ? null : outcomeOfAnswer(answer, words);
          return outcome?.kind === 'accepted' ? outcome.carrierRequestId : null;
        }),
      };
  }
}

function outcomeOfAnswer(answer: RestAnswer, words: PlacementWords): PlaceOutcome {
  const { title, idField, idOf, isInvalidNumber } = words;
  const { status, body, errorText, retryAfterSeconds } = answer;
  const refused = (reason: 'carrier_auth' | 'carrier_rejected' | 'carrier_error' | 'invalid_number'): PlaceOutcome => ({
    kind: 'refused',
    reason,
    carrierCode: `http_${status}`,
    message: errorText === '' ? `${title} answered ${status}` : `${title} answered ${status}: ${errorText}`,
  });
  if (isSuccess(status)) {
    const carrierRequestId = idOf(body);
    if (carrierRequestId !== null) return { kind: 'accepted', carrierRequestId };
    return { kind: 'unknown', why: `answer ${status} without ${idField}`, lateAcceptance: Promise.resolve(null) };
  }
  // Nothing else is a throttle: a 503 may have dialled (contract §1).
  if (status === 429) return { kind: 'throttled', retryAfterSeconds: retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS };
  if (status === 401) return refused('carrier_auth');
  if (status >= 400 && status < 500) return refused(isInvalidNumber(answer) ? 'invalid_number' : 'carrier_rejected');
  if (status >= 500) return { kind: 'unknown', why: `answer ${status}`, lateAcceptance: Promise.resolve(null) };
  return refused('carrier_error');
}

/** Done, as far as we can know. False: it was not reached, or refused. */
export function isDone(result: RestResult): boolean {
  return result.kind === 'answered' && isSuccess(result.answer.status);
}

/** Of a request that ends something. 404 says that there is nothing (any more) to end, which is what was wanted. */
export function isDoneOrGone(result: RestResult): boolean {
  return isDone(result) || (result.kind === 'answered' && result.answer.status === 404);
}

/** Of a cheap request that needs the credentials. */
export function accessOf(result: RestResult): AccessCheck {
  if (result.kind !== 'answered') {
    const detail = result.kind === 'unsent' ? `no connection (${result.code})` : result.why;
    return { outcome: 'unreachable', detail, serverEpochMs: null };
  }
  const { status, dateEpochMs, errorText } = result.answer;
  const detail = errorText === '' ? `answered ${status}` : `answered ${status}: ${errorText}`;
  if (isSuccess(status)) return { outcome: 'ok', detail, serverEpochMs: dateEpochMs };
  return { outcome: status >= 500 || status === 429 ? 'unreachable' : 'refused', detail, serverEpochMs: dateEpochMs };
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;
