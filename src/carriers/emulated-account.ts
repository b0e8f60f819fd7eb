/**
 * Whom the emulator plays, and the account that it has unless it is told another, for `parley quickstart`, the demo and
 * tests. No secret: it dials nobody.
 */
import type { CarrierName } from '../../media/contract/carriers.ts';

export const EMULATED_CARRIER = 'plivo' satisfies CarrierName;
export const EMULATED_ACCOUNT = { authId: 'MAEMULATOR0000000001', authToken: 'emulated-token-of-no-value' } as const;

/** Of the emulated account, kept for fiction; and of the person who answers there by default. */
export const EMULATED_LINE_NUMBER = '+14155550100';
export const EMULATED_CALLEE_NUMBER = '+14155550123';
/** Where the emulator listens if nobody else does. */
export const EMULATOR_PORT = 4010;
