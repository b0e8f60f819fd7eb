import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { createScoringHost } from '../../../../../media/io/threads/scoring-host.ts';

const log = pino({ level: 'silent' });
const memory = new SharedArrayBuffer(4);

afterEach(() => void vi.useRealTimers());

/** A thread of these lines; `told` holds what it was told, `word` the first memory's first number. */
function threadOf(lines: string): URL {
  const source = `import { parentPort } from 'node:worker_threads';
    let word;
    parentPort.on('message', (message) => { if (message.memory) word = new Int32Array(message.memory); ${lines} });`;
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
}

test('a scoring thread that cannot load tells each thread that asked once, and those that ask later at once', async () => {
  const host = createScoringHost({ url: threadOf(`throw new Error('npm install …');`), log });
  const told: string[] = [];
  await new Promise<void>((resolve) => {
    host.attach(7, {}, memory, () => told.push('gone'));
    host.detach(7);
    host.attach(0, {}, memory, (why) => {
      told.push(why);
      resolve();
    });
  });
  host.attach(1, {}, memory, (why) => told.push(`later: ${why}`));
  expect(told).toEqual(['npm install …', 'later: npm install …']);
  await host.close();
});

test('a scoring thread is told to stop and ends by itself; that is no failure, and a second close does nothing', async () => {
  const host = createScoringHost({
    url: threadOf(
      `if (message.type === 'stop') setTimeout(() => { Atomics.store(word, 0, 2); parentPort.close(); }, 50);`,
    ),
    log,
  });
  const own = new SharedArrayBuffer(4);
  let failures = 0;
  host.attach(0, {}, own, () => failures++);
  // However long its thread takes to start and to end: what close() itself waits for it with is on the test's clock.
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  await host.close();
  await host.close();
  expect(new Int32Array(own)[0]).toBe(2);
  expect(failures).toBe(0);
});
