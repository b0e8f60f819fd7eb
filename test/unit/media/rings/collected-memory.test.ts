import { describe, expect, it } from 'vitest';
import { viewsOf } from '../../../../media/rings/frame-ring.ts';

const BYTES = 32 * 1024 * 1024;

describe('shared memory that a thread looks at', () => {
  it('is counted by its collector, once, and none of the counted bytes is resident', () => {
    const memory = new SharedArrayBuffer(BYTES);
    const before = process.memoryUsage();
    viewsOf(memory);
    viewsOf(memory);
    const after = process.memoryUsage();
    expect(Math.round((after.arrayBuffers - before.arrayBuffers) / BYTES)).toBe(1);
    expect(after.rss - before.rss).toBeLessThan(BYTES / 2);
  });
});
