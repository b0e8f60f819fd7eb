/**
 * Work on many rows in statements of bounded size: a purge that meets a million rows must not be cancelled by the time
 * limit of its statement, hold many locks for long, or begin from nothing each hour. Used by
 * all that removes what is old.
 */

/**
 * Repeats `work`, which says how many rows it did, until it did fewer than `batch` or `isOver`.
 * Returns how many in all.
 */
export async function inBatches(
  batch: number,
  work: (limit: number) => Promise<number>,
  isOver: () => boolean = () => false,
): Promise<number> {
  for (let total = 0; ; ) {
    if (isOver()) return total;
    const count = await work(batch);
    total += count;
    if (count < batch) return total;
  }
}
