/** The virtual clock of `bench/harness`, where tests have it from. */
export { VirtualClock } from '../../bench/harness/virtual-clock.ts';
