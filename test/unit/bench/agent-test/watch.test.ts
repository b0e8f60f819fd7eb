/** `--watch`: a change of a file runs again, of another beside it does not, and it ends when it is told to. */
import { afterAll, expect, it } from 'vitest';
import { runOnChange } from '../../../../bench/agent-test/watch.ts';
import { TestFolder } from './run-tests.ts';

const folder = new TestFolder();
afterAll(() => folder.remove());

it('runs again when a file changes', async () => {
  const path = folder.write('scenario.json', '{}');
  const stop = new AbortController();
  let runs = 0;
  let ran = (): void => {};
  const nextRun = () =>
    new Promise<void>((resolve) => {
      ran = resolve;
    });
  const first = nextRun();
  const watching = runOnChange(async () => {
    runs++;
    ran();
    return [path];
  }, stop.signal);
  await first;
  const second = nextRun();
  // The watch begins after the run.
  setImmediate(() => {
    folder.write('other.json', '{}');
    folder.write('scenario.json', '{"a":1}');
  });
  await second;
  expect(runs).toBe(2);
  stop.abort();
  await watching;
});
