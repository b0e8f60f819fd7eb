import { pino } from 'pino';
import { expect, test } from 'vitest';
import { MULAW_8K } from '../../../../../media/contract/audio-format.ts';
import { systemClock } from '../../../../../media/contract/clock.ts';
import { createRecorderHost } from '../../../../../media/io/threads/recorder-host.ts';
import { eventually } from '../../../../support/eventually.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

test('a recorder thread that dies is replaced with its open recordings; the one that kills it is given up at the third death', async () => {
  const finished = new Map<string, { path: string | null; error: string | null }>();
  const host = createRecorderHost({
    url: new URL('../stub-threads/recorder-thread.js', import.meta.url),
    workerData: { dataDir: '/nowhere', mediaId: 'm', runId: 'r', logLevel: 'silent' },
    clock: systemClock,
    log: pino({ level: 'silent' }),
    finished: ({ callUuid, epoch }, recording, error) =>
      finished.set(`${callUuid} ${epoch}`, { path: recording?.path ?? null, error }),
  });
  await host.ready;
  host.open({ callUuid: 'lives', epoch: 1 }, MULAW_8K, new SharedArrayBuffer(4));
  host.open({ callUuid: 'die 1', epoch: 1 }, MULAW_8K, new SharedArrayBuffer(4));
  host.open({ callUuid: 'lives too', epoch: 1 }, MULAW_8K, new SharedArrayBuffer(4));
  host.close({ callUuid: 'die 1', epoch: 1 }, 20);
  host.close({ callUuid: 'lives', epoch: 1 }, 1000);
  host.close({ callUuid: 'lives', epoch: 1 }, 2000);
  host.close({ callUuid: 'never opened', epoch: 1 }, 1000);
  await until(() => finished.size === 2);
  expect(finished.get('die 1 1')).toEqual({
    path: null,
    error: 'the recorder thread died while it wrote this recording',
  });
  expect(finished.get('lives 1')).toEqual({ path: '/lives.ogg', error: null });
  expect(host.openRecordings).toBe(1);
  host.close({ callUuid: 'lives too', epoch: 1 }, 40);
  await until(() => finished.has('lives too 1'));
  await host.stop();
  await host.stop();
});

const until = (condition: () => boolean): Promise<boolean> => eventually(String(condition), condition);

test('two streams of one call are recorded side by side, and what an earlier run left behind is told too', async () => {
  const finished: string[] = [];
  const host = createRecorderHost({
    url: new URL('../stub-threads/recorder-thread.js', import.meta.url),
    workerData: { dataDir: '/nowhere', mediaId: 'm', runId: 'r', logLevel: 'silent' },
    clock: systemClock,
    log: pino({ level: 'silent' }),
    finished: ({ callUuid, epoch }, recording) => finished.push(`${callUuid} ${epoch} ${recording?.durationMs}`),
  });
  await host.ready;
  host.open({ callUuid: 'call', epoch: 1 }, MULAW_8K, new SharedArrayBuffer(4));
  host.open({ callUuid: 'call', epoch: 3 }, MULAW_8K, new SharedArrayBuffer(4));
  host.close({ callUuid: 'call', epoch: 3 }, 300);
  host.close({ callUuid: 'call', epoch: 1 }, 100);
  host.open({ callUuid: 'finds left-over', epoch: 1 }, MULAW_8K, new SharedArrayBuffer(4));
  await until(() => finished.length === 3);
  await host.stop();
  expect(finished).toEqual(['call 3 300', 'call 1 100', 'left-over 2 7']);
});

test('a recorder thread that dies again and again is started after 50, 100, 200 ms and so on, up to every 5 s', async () => {
  const clock = new VirtualClock();
  const host = createRecorderHost({
    url: new URL(
      `data:text/javascript,${encodeURIComponent(
        "import { parentPort } from 'node:worker_threads'; parentPort.postMessage({ type: 'ready' }); setTimeout(() => process.exit(7), 5);",
      )}`,
    ),
    workerData: { dataDir: '/nowhere', mediaId: 'm', runId: 'r', logLevel: 'silent' },
    clock,
    log: pino({ level: 'silent' }),
    finished: () => {},
  });
  await host.ready;
  await until(() => host.deaths === 1);
  let dueAfterMs = 50;
  for (let deaths = 2; deaths <= 9; deaths++) {
    clock.advanceMs(dueAfterMs - 1);
    expect(clock.pendingTimers).toBe(1);
    clock.advanceMs(1);
    expect(clock.pendingTimers).toBe(0);
    await until(() => host.deaths === deaths);
    dueAfterMs = Math.min(dueAfterMs * 2, 5_000);
  }
  expect(dueAfterMs).toBe(5_000);
  await host.stop();
});
