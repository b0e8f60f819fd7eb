/**
 * How late and how busy this process of the tool is, second by second: whoever measures others must not be the
 * bottleneck. Used in each far-end process.
 */
import type { OwnSecond } from './far-end-orders.ts';

const LONGEST_TENTHS = 20_000;

export class OwnLoad {
  readonly #late = new Map<number, number>();
  #cpu = process.cpuUsage();
  #readAtMs = performance.now();

  /** A frame was sent so long after it was due. */
  frameSent(lateMs: number): void {
    const tenths = Math.min(LONGEST_TENTHS, Math.max(0, Math.round(lateMs * 10)));
    this.#late.set(tenths, (this.#late.get(tenths) ?? 0) + 1);
  }

  /** Since it was asked last. */
  take(): OwnSecond {
    const nowMs = performance.now();
    const { user, system } = process.cpuUsage(this.#cpu);
    const cpuShare = (user + system) / 1000 / Math.max(1, nowMs - this.#readAtMs);
    this.#cpu = process.cpuUsage();
    this.#readAtMs = nowMs;
    const frameLateTenthsMs = [...this.#late];
    this.#late.clear();
    return { cpuShare, residentBytes: process.memoryUsage.rss(), frameLateTenthsMs };
  }
}
