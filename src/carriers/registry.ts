/**
 * One carrier for each line's credentials, made by the factory of its name. Made by `carriers.ts`; asked by placement,
 * callbacks and hang-ups. Knows no wire format. Credentials stay in memory as a digest only, beside the carrier that
 * holds them.
 */
import { createHash } from 'node:crypto';
import { unknownCarrier } from '../../media/contract/carriers.ts';
import type { Carrier, CarrierFactory } from './carrier.ts';

export interface CarrierRegistry {
  /** Throws for a carrier that does not exist, naming those that do. */
  carrierFor(name: string, credentials: Record<string, string>): Carrier;
  /** For requests about calls that are unknown: enough to make a hang-up document. Undefined: no such carrier. */
  withoutCredentials(name: string): Carrier | undefined;
}

const MAX_CACHED = 1_000;

export function createCarrierRegistry(options: {
  factories: Readonly<Record<string, CarrierFactory>>;
  /** `CARRIER_API_BASE_<CARRIER>` by carrier name. */
  apiBases: Readonly<Record<string, string>>;
}): CarrierRegistry {
  const cached = new Map<string, Carrier>();

  function carrierFor(name: string, credentials: Record<string, string>): Carrier {
    const factory = Object.hasOwn(options.factories, name) ? options.factories[name] : undefined;
    if (factory === undefined) {
      throw unknownCarrier(name);
    }
    const key = `${name} ${digestOf(credentials)}`;
    const known = cached.get(key);
    if (known !== undefined) return known;
    if (cached.size >= MAX_CACHED) cached.delete(cached.keys().next().value as string);
    const carrier = factory(credentials, { apiBase: options.apiBases[name] ?? null });
    cached.set(key, carrier);
    return carrier;
  }

  return {
    carrierFor,
    withoutCredentials: (name) => (Object.hasOwn(options.factories, name) ? carrierFor(name, {}) : undefined),
  };
}

function digestOf(credentials: Record<string, string>): string {
  const sorted = Object.entries(credentials).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
}
