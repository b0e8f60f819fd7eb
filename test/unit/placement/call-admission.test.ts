/** When a call is refused before anything of it is looked at, and as what. */
import { expect, test } from 'vitest';
import { createCallAdmission } from '../../../src/placement/call-admission.ts';

const WELL = {
  isDraining: false,
  roomElsewhere: 0,
  hasRoom: true,
  isCounted: false,
  isOverloaded: false,
  isMeasuredRoom: true,
};
const LATE = { isOverloaded: true, isMeasuredRoom: false };

test.each([
  ['open', {}],
  ['no_capacity', { hasRoom: false }],
  ['overloaded', { isOverloaded: true }],
  ['overloaded', { isMeasuredRoom: false }],
  ['open', { isCounted: true, ...LATE }],
  ['no_capacity', { isCounted: true, hasRoom: false }],
  ['draining', { isCounted: true, isDraining: true }],
  ['draining', { isDraining: true }],
  ['draining', { isDraining: true, isOverloaded: true }],
  ['open', { isDraining: true, roomElsewhere: 1 }],
  ['overloaded', { isDraining: true, roomElsewhere: 1, isOverloaded: true }],
] as const)('%s with %j', (state, change) => {
  const now = { ...WELL, ...change };
  const admission = createCallAdmission({
    isDraining: () => now.isDraining,
    roomElsewhere: () => now.roomElsewhere,
    hasRoom: () => now.hasRoom,
    isCounted: now.isCounted,
    isOverloaded: () => now.isOverloaded,
    isMeasuredRoom: () => now.isMeasuredRoom,
  });
  expect(admission.state()).toBe(state);
});
