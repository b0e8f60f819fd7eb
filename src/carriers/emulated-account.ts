/**
 * Whom the emulator plays, and the account that each carrier's has unless it is told another, for `parley quickstart`,
 * the demo and tests. No secret: it dials nobody.
 */
import type { CARRIERS, CarrierName } from '../../media/contract/carriers.ts';

export const EMULATED_CARRIER = 'plivo' satisfies CarrierName;
export const EMULATED_ACCOUNTS = {
  plivo: { authId: 'MAEMULATOR0000000001', authToken: 'emulated-token-of-no-value' },
} as const satisfies {
  [Name in CarrierName]: Record<(typeof CARRIERS)[Name]['credentials'][number]['name'], string>;
};
export const EMULATED_ACCOUNT = EMULATED_ACCOUNTS[EMULATED_CARRIER];

/** Of the emulated account, kept for fiction; and of the person who answers there by default. */
export const EMULATED_LINE_NUMBER = '+14155550100';
export const EMULATED_CALLEE_NUMBER = '+14155550123';
/** Where the emulator listens if nobody else does. */
export const EMULATOR_PORT = 4010;
