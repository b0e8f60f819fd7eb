/**
 * What Plivo's hang-up codes, call statuses and causes mean in the contract's terms (contract §1). Called by
 * `callbacks.ts`. A null reason is an ordinary end after an answer: who hung up decides it there. The SIP code is given
 * only where the hang-up code names one response.
 */
import type { EndedReason } from '../../../media/contract/call-outcome.ts';
import type { CarrierEnd } from '../carrier.ts';

interface HangupMeaning {
  reason: EndedReason | null;
  sipCode?: number;
  hangupBy?: CarrierEnd['hangupBy'];
}

const NORMAL: HangupMeaning = { reason: null };
/** Plivo could not use a document of ours: nothing that a client, a callee or the carrier did. */
const OUR_DOCUMENT: HangupMeaning = { reason: 'internal_error', hangupBy: 'platform' };

const BY_CODE: Readonly<Record<number, HangupMeaning>> = {
  1000: { reason: 'canceled', sipCode: 487, hangupBy: 'platform' },
  1010: { reason: 'carrier_rejected', hangupBy: 'carrier' }, // out of credit
  1020: { reason: 'carrier_throttled', hangupBy: 'carrier' }, // simultaneous dials
  2000: { reason: 'invalid_number', sipCode: 404 },
  2010: { reason: 'unreachable' }, // destination out of service
  2020: { reason: 'unreachable', sipCode: 480 }, // endpoint not registered
  2030: { reason: 'carrier_rejected', sipCode: 403 }, // country barred
  2040: { reason: 'carrier_rejected', sipCode: 403 }, // number barred
  2050: { reason: 'carrier_rejected', sipCode: 403 }, // prefix barred
  2060: { reason: 'carrier_error', sipCode: 482 }, // loop
  2070: { reason: 'carrier_rejected' }, // media anchoring (India)
  3000: { reason: 'no_answer' },
  3010: { reason: 'busy', sipCode: 486 },
  3020: { reason: 'declined' },
  3030: { reason: 'carrier_rejected' }, // unknown caller id
  3040: { reason: 'carrier_rejected', sipCode: 403 },
  3050: { reason: 'invalid_number', sipCode: 404 }, // unallocated
  3070: { reason: 'no_answer', sipCode: 408 },
  3080: { reason: 'carrier_error', sipCode: 500 },
  3090: { reason: 'carrier_throttled', sipCode: 503 }, // congestion
  3100: { reason: 'busy', sipCode: 600 },
  3110: { reason: 'declined', sipCode: 603 },
  3120: { reason: 'invalid_number', sipCode: 604 },
  3130: { reason: 'rejected_as_spam', sipCode: 607 },
  3140: { reason: 'carrier_rejected' }, // do-not-originate list
  4000: NORMAL,
  4010: { reason: null, hangupBy: 'platform' }, // end of XML
  4020: NORMAL,
  4030: NORMAL,
  5000: { reason: 'carrier_error', hangupBy: 'carrier' },
  5010: { reason: 'carrier_error', hangupBy: 'carrier' },
  5020: { reason: 'carrier_error', hangupBy: 'carrier' },
  5030: { reason: 'carrier_throttled', hangupBy: 'carrier' }, // concurrency
  6000: { reason: 'max_duration_reached', hangupBy: 'platform' }, // our own time_limit
  6010: { reason: 'no_answer', sipCode: 487, hangupBy: 'platform' }, // our own ring_timeout
  6020: { reason: 'no_media', hangupBy: 'carrier' }, // 60 s without media from the callee
  9000: { reason: 'canceled', hangupBy: 'platform' }, // lost race
  9100: { reason: 'voicemail_detected', hangupBy: 'platform' },
  9110: { reason: 'declined' }, // confirm key not pressed
};

const BY_CAUSE: Readonly<Record<string, HangupMeaning>> = {
  NORMAL_CLEARING: NORMAL,
  USER_BUSY: { reason: 'busy', sipCode: 486 },
  NO_ANSWER: { reason: 'no_answer' },
  NO_USER_RESPONSE: { reason: 'no_answer' },
  ALLOTTED_TIMEOUT: { reason: 'max_duration_reached', hangupBy: 'platform' },
  ORIGINATOR_CANCEL: { reason: 'canceled', sipCode: 487, hangupBy: 'platform' },
  CALL_REJECTED: { reason: 'declined' },
  UNALLOCATED_NUMBER: { reason: 'invalid_number', sipCode: 404 },
  INVALID_NUMBER_FORMAT: { reason: 'invalid_number', sipCode: 484 },
  NUMBER_CHANGED: { reason: 'invalid_number', sipCode: 410 },
  SUBSCRIBER_ABSENT: { reason: 'unreachable', sipCode: 480 },
  USER_NOT_REGISTERED: { reason: 'unreachable', sipCode: 480 },
  INCOMPATIBLE_DESTINATION: { reason: 'media_incompatible', sipCode: 488 },
  NORMAL_CIRCUIT_CONGESTION: { reason: 'carrier_throttled', sipCode: 503 },
  SWITCH_CONGESTION: { reason: 'carrier_throttled', sipCode: 503 },
};

const BY_STATUS: Readonly<Record<string, HangupMeaning>> = {
  completed: NORMAL,
  busy: { reason: 'busy', sipCode: 486 },
  'no-answer': { reason: 'no_answer' },
  timeout: { reason: 'no_answer' },
  cancel: { reason: 'canceled', sipCode: 487, hangupBy: 'platform' },
  canceled: { reason: 'canceled', sipCode: 487, hangupBy: 'platform' },
  failed: { reason: 'carrier_error' },
};

/** Who hung up by Plivo's own word. On an outbound call both "Caller" and "Callee" are the human on the line. */
const BY_SOURCE: Readonly<Record<string, CarrierEnd['hangupBy']>> = {
  caller: 'caller',
  callee: 'caller',
  'call recipient': 'caller',
  plivo: 'carrier',
  carrier: 'carrier',
  error: 'carrier',
  'api request': 'platform',
  'answer xml': 'platform',
};

/** Reasons that only a human's phone gives. */
const CALLEE_REASONS: ReadonlySet<EndedReason | null> = new Set(['busy', 'declined', 'rejected_as_spam']);

/** Parameters of a hang-up callback in the contract's terms. Any text may stand in any parameter. */
export function meaningOfHangup(params: {
  status: string;
  code: string;
  cause: string;
  source: string;
}): Pick<CarrierEnd, 'reason' | 'hangupBy' | 'sipCode'> {
  const status = params.status.trim().toLowerCase();
  const code = /^\d{4}$/.test(params.code) ? Number(params.code) : null;
  const byStatus = lookUp(BY_STATUS, status);
  const byCause = lookUp(BY_CAUSE, params.cause.trim().toUpperCase());
  let meaning = code === null ? null : meaningOfCode(code);
  // A normal clearing that was never "completed" is no normal end: the status says what it was.
  const neverAnswered = byStatus !== null && byStatus.reason !== null;
  if (meaning === null || (meaning.reason === null && neverAnswered)) {
    const causeSaysMore = byCause !== null && byCause.reason !== null && (byStatus === null || status === 'failed');
    meaning = causeSaysMore ? byCause : (byStatus ?? byCause ?? { reason: 'carrier_error' });
  }
  const said = lookUp(BY_SOURCE, params.source.trim().toLowerCase());
  const presumed = CALLEE_REASONS.has(meaning.reason) ? 'caller' : null;
  return {
    reason: meaning.reason,
    hangupBy: meaning.hangupBy ?? said ?? presumed,
    sipCode: meaning.sipCode ?? null,
  };
}

function meaningOfCode(code: number): HangupMeaning | null {
  // Our redirect is asked for only when a call's stream was lost: nobody was there to take it up again.
  if (code === 7014) return { reason: 'node_lost', hangupBy: 'platform' };
  // 7011-7034: a URL of ours failed or was bad; 8011-8014: the XML that it gave.
  if (code >= 7000 && code < 9000) return OUR_DOCUMENT;
  return lookUp(BY_CODE, String(code));
}

function lookUp<Value>(table: Readonly<Record<string, Value>>, key: string): Value | null {
  return Object.hasOwn(table, key) ? table[key]! : null;
}
