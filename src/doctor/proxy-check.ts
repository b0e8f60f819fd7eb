/**
 * Does the service see its clients, or a proxy in front of it? Media says what it has met (`media/io/proxy-watch.ts`).
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROXY_SEEN_FILE, type ProxySeen } from '../../media/contract/proxy-seen.ts';
import { type CheckResult, ok, warn } from './check.ts';
import type { DoctorSettings } from './doctor-settings.ts';

const NAME = 'client addresses';

/** After the public URL was asked: that request may have come through the proxy. */
export function checkClientAddresses({
  runDir,
  trustedProxies,
  publicUrl,
}: Pick<DoctorSettings, 'runDir' | 'trustedProxies' | 'publicUrl'>): CheckResult[] {
  const file = runDir === null ? null : join(runDir, PROXY_SEEN_FILE);
  if (file !== null && existsSync(file)) {
    const { peer, header } = JSON.parse(readFileSync(file, 'utf8')) as ProxySeen;
    const detail = `requests come from ${peer} with the header ${header}: a proxy seems to stand in front, and its clients count as one`;
    const trusted = trustedProxies.length === 0 ? '' : ` (now ${trustedProxies.join(',')})`;
    return [warn(NAME, detail, `If it is a proxy of yours, add it to TRUSTED_PROXIES${trusted} and start again.`)];
  }
  if (trustedProxies.length === 0 && publicUrl.startsWith('https:')) {
    // The service itself speaks no TLS.
    const detail = `something in front ends the TLS of ${publicUrl}, and TRUSTED_PROXIES is not set: its clients count as one`;
    return [warn(NAME, detail, 'Set TRUSTED_PROXIES to the address from which it connects, and start again.')];
  }
  if (trustedProxies.length === 0) return [ok(NAME, 'those of the connections (TRUSTED_PROXIES is not set)')];
  return [ok(NAME, `as the proxies at ${trustedProxies.join(', ')} say`)];
}
