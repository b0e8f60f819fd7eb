/** Bad luck in the middle of a run, the same for all: recognisers and voices are closed, questions are refused. */
import type { RaceProviders } from './providers-process.ts';

/** Apart by so much, so that each meets another moment of the conversations. */
const APART_MS = 2_000;
const REFUSED = 10;

export function haveTrouble(providers: RaceProviders): void {
  providers.order({ type: 'close', kind: 'listen' });
  setTimeout(() => providers.order({ type: 'close', kind: 'speak' }), APART_MS).unref();
  setTimeout(() => providers.order({ type: 'refuse', times: REFUSED }), 2 * APART_MS).unref();
}
