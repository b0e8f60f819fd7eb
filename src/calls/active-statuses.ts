/** The states of calls that are not over, for whoever asks the database for them. */
import { CALL_STATUSES } from '../../media/contract/call-outcome.ts';
import { isTerminal } from './state-machine.ts';

export const ACTIVE_STATUSES = CALL_STATUSES.filter((status) => !isTerminal(status));

/** SQL, after `status IN`: written out as in the partial indexes on `calls`, so that they are used. */
export const ACTIVE = `(${ACTIVE_STATUSES.map((status) => `'${status}'`).join(', ')})`;
