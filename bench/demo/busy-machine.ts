/** Whether a machine was so busy that a demo which failed says little of Parley. Pure; told by `main.ts`. */

/** From here on threads wait for a core longer than speech may. */
const BUSY_PER_CORE = 1.5;

/** `load`: the average of the last minute. Null: it was not busy. */
export function busySentence(load: number, cores: number): string | null {
  if (load <= BUSY_PER_CORE * cores) return null;
  const on = `${cores} ${cores === 1 ? 'core' : 'cores'}`;
  return `The machine was busy (load ${load.toFixed(1)} on ${on}), and the simulated callee and the local recognisers hear worse or too late then: try again with less going on.`;
}
