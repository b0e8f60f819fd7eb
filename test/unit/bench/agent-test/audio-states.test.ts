/** Where an agent stood after each exchange of a call with sound. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { StateWatch, statesOf } from '../../../../bench/agent-test/audio-states.ts';

test('the state of an exchange is that before the caller’s next turn, of the last one that of the end', () => {
  const known = {
    steps: [
      { stepId: 'confirm', atMs: 0 },
      { stepId: 'reschedule', atMs: 6_200 },
      { stepId: 'bye', atMs: 11_000 },
    ],
    variables: [
      { variables: {}, atMs: 5_000 },
      { variables: { day: 'Thursday' }, atMs: 9_900 },
      { variables: { day: 'Friday' }, atMs: 12_000 },
    ],
  };
  expect(statesOf(known, [{ startMs: 5_100 }, { startMs: 10_000 }])).toEqual([
    { step: 'confirm', variables: {} },
    { step: 'reschedule', variables: { day: 'Thursday' } },
    { step: 'bye', variables: { day: 'Friday' } },
  ]);
  expect(statesOf({ steps: [], variables: [] }, [])).toEqual([{ step: null, variables: {} }]);
});

test('checkpoints are kept as they come, each once, whoever wrote them, and a database that is gone is told', async () => {
  const rows: object[] = [];
  const watch = (query: (sql: string) => Promise<object[]>) =>
    new StateWatch({ query: query as <Row>(sql: string) => Promise<Row[]> }, 'call-1');
  const steps = [{ stepId: 'confirm', atMs: 10 }];
  const own = watch(async (sql) => (sql.includes('call_events') ? steps : rows));
  rows.push({ checkpoint: null });
  await pause(300);
  rows[0] = { checkpoint: { agent: null, variables: {}, nextTurnNumber: 1, atMs: 500 } };
  await pause(600);
  rows[0] = {
    checkpoint: { stepId: 'x', misses: 0, visits: {}, variables: { day: 'Friday' }, nextTurnNumber: 2, atMs: 900 },
  };
  expect(await own.close()).toEqual({
    steps,
    variables: [
      { variables: {}, atMs: 500 },
      { variables: { day: 'Friday' }, atMs: 900 },
    ],
  });
  const lost = watch(() => Promise.reject(new Error('gone')));
  await pause(300);
  await expect(lost.close()).rejects.toThrow('gone');
});
