/** Threads as the operating system shows them. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { nameThisThread } from '../../../../../media/io/threads/os-thread.ts';

const COMM = '/proc/thread-self/comm';

test.runIf(process.platform === 'linux')('a thread is named, cut to what the kernel keeps', () => {
  const before = readFileSync(COMM, 'latin1').trim();
  try {
    nameThisThread('voice-activity');
    expect(readFileSync(COMM, 'latin1').trim()).toBe('voice-activity');
    nameThisThread('a name of more than fifteen');
    expect(readFileSync(COMM, 'latin1').trim()).toBe('a name of more');
  } finally {
    nameThisThread(before);
  }
});
