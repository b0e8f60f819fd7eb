/** The command line of Plivo's emulator: its account, and what Plivo does differently from one account to another. */
import { EMULATED_ACCOUNTS } from '../../../src/carriers/emulated-account.ts';
import { readNumber } from '../../harness/options.ts';
import { emulatorCommand } from '../emulator-command.ts';
import { startPlivoEmulator } from './plivo-emulator.ts';

const ACCOUNT = EMULATED_ACCOUNTS.plivo;
const COUNT = { least: 1, isWhole: true };

export const plivoCommand = emulatorCommand({
  options: {
    'auth-id': { type: 'string', default: ACCOUNT.authId },
    'auth-token': { type: 'string', default: ACCOUNT.authToken },
    'own-number': { type: 'string', multiple: true },
    'limit-requests': { type: 'string' },
    'different-uuids': { type: 'boolean', default: false },
    'upgrade-signed-as': { type: 'string', default: 'dialled' },
    'handshake-timeout-ms': { type: 'string' },
  },
  meanings: {
    'auth-id': "<id> the account's id",
    'auth-token': '<token> its token; an emulated one is no secret',
    'own-number': "<number> (repeatable) the account's numbers: another from is refused",
    'limit-requests': '<N> 429 after so many API requests in 5 s',
    'different-uuids': 'CallUUID is not the request_uuid',
    'upgrade-signed-as': '<form> of the URL of the WebSocket upgrade: dialled, https',
    'handshake-timeout-ms': '<N> an upgrade of the WebSocket that takes longer is given up (default 5000)',
  },
  start(own, options) {
    const { 'own-number': ownNumbers, 'limit-requests': limit, 'handshake-timeout-ms': handshake } = own;
    return startPlivoEmulator({
      ...options,
      authId: own['auth-id'],
      authToken: own['auth-token'],
      sameUuids: !own['different-uuids'],
      upgradeSignedAs: own['upgrade-signed-as'] === 'https' ? 'https' : 'dialled',
      ...(ownNumbers === undefined ? {} : { ownNumbers }),
      ...(limit === undefined ? {} : { requestsPer5Seconds: readNumber('limit-requests', limit, COUNT) }),
      ...(handshake === undefined ? {} : { handshakeTimeoutMs: readNumber('handshake-timeout-ms', handshake, COUNT) }),
    });
  },
});
