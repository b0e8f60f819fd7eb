import { expect, it } from 'vitest';
import { networkResult } from '../../../widget/pages/doctor/network-result.ts';

it('the doctor finds a network good by its median and its spread, and says both', () => {
  expect(networkResult([40, 42, 38, 41, 60, 39])).toEqual({ level: 'ok', found: '41 ms round trip, 22 ms of spread.' });
  expect(networkResult([400])).toMatchObject({ level: 'warn', found: '400 ms round trip, 0 ms of spread.' });
  expect(networkResult([20, 21, 150])).toMatchObject({ level: 'warn', found: '21 ms round trip, 130 ms of spread.' });
});
