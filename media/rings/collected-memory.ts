/**
 * V8 does not count shared memory (`BackingStore::PerIsolateAccountingLength`), so a thread whose calls come and go,
 * and that makes no garbage otherwise, keeps the rings of thousands of dead calls: 3,000 of 194 kB, 100 of them alive,
 * 651 MB resident. So each thread that looks at a call's memory holds beside it as much of its own, which is counted
 * and never written: no page of it becomes resident, and the collector comes in time (247 MB). Called by `viewsOf`,
 * once a call and thread; nothing of it is on the frame path.
 */
const counted = new WeakMap<SharedArrayBuffer, Buffer>();

/** More than once for a memory does no harm. */
export function countForCollection(memory: SharedArrayBuffer): void {
  if (!counted.has(memory)) counted.set(memory, Buffer.allocUnsafeSlow(memory.byteLength));
}
