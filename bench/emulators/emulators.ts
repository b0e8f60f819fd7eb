/**
 * The emulator of every carrier in the list (`media/contract/carriers.ts`). The only file of `bench` that imports
 * carriers' folders: a name without an entry here does not compile. What they share lies beside it: personas, callees,
 * what really happened, events.
 */
import type { CarrierName } from '../../media/contract/carriers.ts';
import { startPlivoEmulator } from './plivo/plivo-emulator.ts';

interface RunningEmulator {
  readonly port: number;
  /** What `CARRIER_API_BASE_<CARRIER>` must be. */
  readonly apiBase: string;
  close(): Promise<void>;
}

export const EMULATORS = {
  plivo: startPlivoEmulator,
} satisfies Record<CarrierName, (options: never) => Promise<RunningEmulator>>;
