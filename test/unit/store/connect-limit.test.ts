import { expect, test } from 'vitest';
import { connectLimitMs } from '../../../src/store/connect-limit.ts';

test.each([
  ['postgresql://parley@db/parley', 2_000],
  ['postgresql://parley@db/parley?connect_timeout=10', 10_000],
  ['postgresql://parley@db/parley?sslmode=require&connect_timeout=3&application_name=x', 3_000],
  ['postgresql://parley@db/parley?connect_timeout=0', 2_000],
  ['postgresql://parley@db/parley?connect_timeout=soon', 2_000],
  ['postgresql://parley@db/parley?tcp_connect_timeout=9', 2_000],
])('%s: %i ms', (address, expected) => {
  expect(connectLimitMs(address)).toBe(expected);
});
