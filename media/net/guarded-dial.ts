/**
 * One connection to where a URL leads, looked up, checked and pinned, and looked at once more when it stands. What every
 * way out is built on: requests (`guarded-client.ts`), streams of answers (`guarded-stream.ts`) and WebSockets
 * (`guarded-socket.ts`). The certificate is checked against the URL's name, by the system's authorities and those of
 * NODE_EXTRA_CA_CERTS.
 */
import type net from 'node:net';
import type { AddressGuard } from './address-guard.ts';
import { type ResolveName, systemResolver } from './name-lookup.ts';
import { checkedAddresses, dial, RefusedAddress } from './pinned-dial.ts';

export interface GuardedDialDeps {
  guard: AddressGuard;
  /** Default: DNS, then the system's look-up with its hosts file. */
  resolveName?: ResolveName;
  /** PEM of the only authorities to trust, in place of the system's. */
  ca?: string;
}

/**
 * `url` is http(s), as `parseTargetUrl` gave it. Resolves with a socket that is connected, its TLS included; rejects
 * with `RefusedAddress` where nothing may be sent, else with what the network said. Aborted: nothing is left behind.
 */
export async function guardedDial(url: URL, deps: GuardedDialDeps, signal: AbortSignal): Promise<net.Socket> {
  const { guard, resolveName = systemResolver, ca } = deps;
  const addresses = await unlessAborted(checkedAddresses(url, guard, resolveName, signal), signal);
  return new Promise((resolve, reject) => {
    const socket = dial(url, addresses, ca);
    const settled = (): void => {
      signal.removeEventListener('abort', aborted);
      socket.off('error', failed);
    };
    const failed = (error: Error): void => {
      settled();
      socket.on('error', () => {}).destroy();
      reject(error);
    };
    const aborted = (): void => failed(signal.reason instanceof Error ? signal.reason : new Error('it was called off'));
    signal.addEventListener('abort', aborted, { once: true });
    socket.once('error', failed);
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      // The last line of defence: what the kernel says we are connected to.
      const refusal = guard.refusal(socket.remoteAddress ?? '');
      if (refusal !== null) return failed(new RefusedAddress(refusal));
      settled();
      resolve(socket);
    });
  });
}

/** A look-up of somebody else's may not answer to its signal. */
function unlessAborted<Value>(wanted: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(signal.reason);
    if (signal.aborted) aborted();
    signal.addEventListener('abort', aborted, { once: true });
    wanted.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}
