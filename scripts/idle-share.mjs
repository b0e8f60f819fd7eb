/** How much of the machine nobody uses: what else runs there takes it from whatever is begun now. */
import { cpus } from 'node:os';

const times = () =>
  cpus().map(({ times }) => ({ idle: times.idle, all: Object.values(times).reduce((a, b) => a + b) }));

/** 0 to 1, of all cores together, within `forMs`. */
export async function idleShare(forMs) {
  const before = times();
  await new Promise((done) => setTimeout(done, forMs));
  const sums = { idle: 0, all: 0 };
  for (const [core, { idle, all }] of times().entries()) {
    sums.idle += idle - (before[core]?.idle ?? 0);
    sums.all += all - (before[core]?.all ?? 0);
  }
  return sums.all === 0 ? 1 : sums.idle / sums.all;
}
