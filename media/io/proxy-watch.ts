/**
 * Notices a proxy before us that is not among the trusted ones: requests come from a private or loopback address with a
 * header that proxies write. All its clients then count as one, which nobody would see before the limits bite. Said
 * once a process, in the log and, for `parley doctor`, in a file. A client on the same network may write such a header
 * itself, so it only seems so.
 */
import { writeFileSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import type { Logger } from 'pino';
import type { ProxySeen } from '../contract/proxy-seen.ts';
import { addressOfPeer, type ClientAddresses } from './socket-server/client-address.ts';
import type { HeaderList } from './socket-server/http-exchange.ts';

const WRITTEN_BY_PROXIES = new Set(['x-forwarded-for', 'forwarded', 'via']);
const NEAR = new Set(['private', 'loopback', 'uniqueLocal', 'linkLocal', 'carrierGradeNat']);

export function watchForProxy(
  addresses: ClientAddresses,
  deps: { log: Pick<Logger, 'warn'>; file: string },
): Pick<ClientAddresses, 'of'> {
  let isTold = false;

  function look(peer: string, headers: HeaderList): void {
    const header = headers.find(([name]) => WRITTEN_BY_PROXIES.has(name))?.[0];
    if (header === undefined) return;
    const address = addressOfPeer(peer);
    if (addresses.isTrusted(address) || !NEAR.has(ipaddr.parse(address).range())) return;
    isTold = true;
    const seen: ProxySeen = { peer: address, header };
    deps.log.warn(
      seen,
      'a proxy seems to stand in front that is not in TRUSTED_PROXIES: in limits, ranges and audit its clients count as one',
    );
    try {
      writeFileSync(deps.file, JSON.stringify(seen));
    } catch (error) {
      deps.log.warn({ err: error }, 'that could not be noted for parley doctor');
    }
  }

  return {
    of(peer, headers) {
      if (!isTold) look(peer, headers);
      return addresses.of(peer, headers);
    },
  };
}
