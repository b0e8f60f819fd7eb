/**
 * The emulator of every carrier in the list (`media/contract/carriers.ts`). The only file of `bench` that imports
 * carriers' folders: a name without an entry here does not compile. What they share lies beside it: personas, callees,
 * what really happened, events, the clock of frames, the play queue, the faults of callbacks.
 */
import type { CarrierName } from '../../media/contract/carriers.ts';
import type { EmulatorCommand } from './emulator-command.ts';
import { plivoCommand } from './plivo/plivo-command.ts';

export const EMULATORS: Record<CarrierName, EmulatorCommand> = { plivo: plivoCommand };
