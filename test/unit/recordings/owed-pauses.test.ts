import { expect, test } from 'vitest';
import { OwedPauses } from '../../../src/recordings/owed-pauses.ts';

const ROW = { callUuid: '0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11', epoch: 1 };

test('a pause that the database was not there to be told is told by the next look, once', async () => {
  const told: unknown[][] = [];
  let isAway = true;
  const pauses = new OwedPauses({
    async query(_sql, parameters = []) {
      if (isAway) throw new Error('the database system is starting up');
      told.push([...parameters]);
      return [];
    },
  });
  const nextAt = new Date(2_000);
  await expect(pauses.postpone(ROW, { attempts: 1, nextAt })).rejects.toThrow('starting up');
  await expect(pauses.settle()).rejects.toThrow('starting up');
  isAway = false;
  await pauses.settle();
  await pauses.settle();
  expect(told).toEqual([[1, nextAt, ROW.callUuid, ROW.epoch]]);
});
