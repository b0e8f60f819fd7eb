/**
 * Control's part of every carrier in the list (`media/contract/carriers.ts`). The only file of `src` that imports
 * carriers' folders: a name without an entry here does not compile.
 */
import type { CarrierName } from '../../media/contract/carriers.ts';
import type { CarrierFactory } from './carrier.ts';
import { createPlivoCarrier } from './plivo/plivo-carrier.ts';
import { type CarrierRegistry, createCarrierRegistry } from './registry.ts';

export const CARRIER_FACTORIES: Readonly<Record<CarrierName, CarrierFactory>> = {
  plivo: createPlivoCarrier,
};

/** `apiBases`: what the settings `CARRIER_API_BASE_…` say, by carrier. */
export function openCarriers(apiBases: Readonly<Record<string, string>>): CarrierRegistry {
  return createCarrierRegistry({ factories: CARRIER_FACTORIES, apiBases });
}
