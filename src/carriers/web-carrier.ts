/**
 * A web session where a carrier would stand: nobody can be dialled, asked or told anything, because the socket is
 * media's own. So the timers and effects of calls need not know the difference. It is not in the registry of carriers:
 * no line can have it.
 */
import type { Carrier } from './carrier.ts';

const NOT_FOR_WEB = 'a web session is not placed through a carrier';

export const WEB_CARRIER: Carrier = {
  name: 'web',
  missingCredentials: () => [],
  place: () => Promise.reject(new Error(NOT_FOR_WEB)),
  answerDocument() {
    throw new Error(NOT_FOR_WEB);
  },
  hangupDocument() {
    throw new Error(NOT_FOR_WEB);
  },
  verifyCallback: () => false,
  signatureOf() {
    throw new Error(NOT_FOR_WEB);
  },
  verifyUpgrade: () => 'unsupported',
  parseCallback: () => ({ type: 'ignored', why: NOT_FOR_WEB }),
  // Media closes the socket when it is told to stop.
  hangup: async () => true,
  cancel: async () => true,
  lookup: async () => 'unknown',
};
