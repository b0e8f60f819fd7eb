/**
 * How an emulated call can end, with the words that Plivo's hang-up callback has for it. Called by the emulated call.
 */
import type { UnansweredOutcome } from '../outcomes.ts';

export interface Hangup {
  status: 'completed' | 'busy' | 'failed' | 'no-answer' | 'timeout' | 'cancel';
  code: number;
  name: string;
  cause: string;
  source: 'Caller' | 'Callee' | 'Plivo' | 'Carrier' | 'API Request' | 'Answer XML' | 'Error' | 'Unknown';
}

const hangup = (
  status: Hangup['status'],
  code: number,
  name: string,
  cause: string,
  source: Hangup['source'],
): Hangup => ({ status, code, name, cause, source });

export const HANGUPS = {
  callee: hangup('completed', 4000, 'Normal Hangup', 'NORMAL_CLEARING', 'Callee'),
  api: hangup('completed', 4000, 'Normal Hangup', 'NORMAL_CLEARING', 'API Request'),
  hangupElement: hangup('completed', 4000, 'Normal Hangup', 'NORMAL_CLEARING', 'Answer XML'),
  endOfXml: hangup('completed', 4010, 'End Of XML Instructions', 'NORMAL_CLEARING', 'Answer XML'),
  timeLimit: hangup('completed', 6000, 'Scheduled Hangup', 'ALLOTTED_TIMEOUT', 'Plivo'),
  canceled: hangup('cancel', 1000, 'Cancelled', 'ORIGINATOR_CANCEL', 'API Request'),
  ringTimeout: hangup('timeout', 6010, 'Ring Timeout Reached', 'NO_ANSWER', 'Plivo'),
  hangupOnRing: hangup('completed', 6000, 'Scheduled Hangup', 'ORIGINATOR_CANCEL', 'Plivo'),
  answerUrl: hangup('completed', 7011, 'Error Reaching Answer URL', 'NORMAL_CLEARING', 'Error'),
  transferUrl: hangup('completed', 7013, 'Error Reaching Transfer URL', 'NORMAL_CLEARING', 'Error'),
  redirectUrl: hangup('completed', 7014, 'Error Reaching Redirect URL', 'NORMAL_CLEARING', 'Error'),
  answerXml: hangup('completed', 8011, 'Invalid Answer XML', 'NORMAL_CLEARING', 'Error'),
  transferXml: hangup('completed', 8013, 'Invalid Transfer XML', 'NORMAL_CLEARING', 'Error'),
  redirectXml: hangup('completed', 8014, 'Invalid Redirect XML', 'NORMAL_CLEARING', 'Error'),
} as const satisfies Record<string, Hangup>;

/** What Plivo says of a phone that is not answered, and whether it rings before. */
export const OUTCOMES = {
  busy: { rings: false, hangup: hangup('busy', 3010, 'Busy Line', 'USER_BUSY', 'Callee') },
  no_answer: { rings: true, hangup: hangup('no-answer', 3000, 'No Answer', 'NO_ANSWER', 'Carrier') },
  declined: { rings: true, hangup: hangup('failed', 3110, 'Declined', 'CALL_REJECTED', 'Callee') },
  rejected: { rings: true, hangup: hangup('failed', 3020, 'Rejected', 'CALL_REJECTED', 'Callee') },
  spam_block: { rings: false, hangup: hangup('failed', 3130, 'Spam Block', 'CALL_REJECTED', 'Carrier') },
  unreachable: {
    rings: false,
    hangup: hangup('failed', 2010, 'Destination Out Of Service', 'NETWORK_OUT_OF_ORDER', 'Carrier'),
  },
  invalid_number: {
    rings: false,
    hangup: hangup('failed', 3050, 'Unallocated Number', 'UNALLOCATED_NUMBER', 'Carrier'),
  },
  congestion: { rings: false, hangup: hangup('failed', 3090, 'Congestion', 'NORMAL_CIRCUIT_CONGESTION', 'Carrier') },
  concurrency: {
    rings: false,
    hangup: hangup('failed', 5030, 'Concurrency Limit Breached', 'NORMAL_CIRCUIT_CONGESTION', 'Plivo'),
  },
  carrier_fault: {
    rings: false,
    hangup: hangup('failed', 3080, 'Carrier Server Error', 'NETWORK_OUT_OF_ORDER', 'Carrier'),
  },
} as const satisfies Record<UnansweredOutcome, { rings: boolean; hangup: Hangup }>;
