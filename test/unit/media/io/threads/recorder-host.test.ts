import { pino } from 'pino';
import { expect, test } from 'vitest';
import { MULAW_8K } from '../../../../../media/contract/audio-format.ts';
import { systemClock } from '../../../../../media/contract/clock.ts';
import { createRecorderHost } from '../../../../../media/io/threads/recorder-host.ts';

test('a recorder thread that dies is replaced with its open recordings; the one that kills it is given up at the third death', async () => {
  const finished = new Map<string, { path: string | null; error: string | null }>();
  const host = createRecorderHost({
    url: new URL('../stub-threads/recorder-thread.js', import.meta.url),
    workerData: { dataDir: '/nowhere', mediaId: 'm', runId: 'r', logLevel: 'silent' },
    clock: systemClock,
    log: pino({ level: 'silent' }),
    finished: (callUuid, recording, error) => finished.set(callUuid, { path: recording?.path ?? null, error }),
  });
  await host.ready;
  host.open('lives', MULAW_8K, new SharedArrayBuffer(4));
  host.open('die 1', MULAW_8K, new SharedArrayBuffer(4));
  host.open('lives too', MULAW_8K, new SharedArrayBuffer(4));
  host.close('die 1', 20);
  host.close('lives', 1000);
  host.close('lives', 2000);
  host.close('never opened', 1000);
  await until(() => finished.size === 2);
  expect(finished.get('die 1')).toEqual({
    path: null,
    error: 'the recorder thread died while it wrote this recording',
  });
  expect(finished.get('lives')).toEqual({ path: '/lives.ogg', error: null });
  expect(host.openRecordings).toBe(1);
  host.close('lives too', 40);
  await until(() => finished.has('lives too'));
  await host.stop();
  await host.stop();
});

async function until(condition: () => boolean, withinMs = 10_000): Promise<void> {
  const untilMs = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > untilMs) throw new Error(`not so within ${withinMs} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
