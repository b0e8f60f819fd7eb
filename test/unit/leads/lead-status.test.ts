/** What each end of a call makes of its lead (contract §4); the transactions are in `lead-calls.test.ts`. */
import { expect, it } from 'vitest';
import { ENDED_REASONS, type EndedReason } from '../../../media/contract/call-outcome.ts';
import { leadStatusAfter } from '../../../src/leads/lead-calls.ts';

const AFTER_TALK: Partial<Record<EndedReason, string>> = {
  voicemail_detected: 'no_answer',
  voicemail_left: 'no_answer',
  ivr_reached: 'no_answer',
  opt_out_requested: 'do_not_contact',
};
const completed = Object.entries(ENDED_REASONS).flatMap(([reason, { status }]) =>
  status === 'completed' ? [reason as EndedReason] : [],
);

it('knows a dozen ends of an answered call', () => expect(completed.length).toBeGreaterThanOrEqual(10));

it.each(completed)('an answered call that ended by %s', (endedReason) => {
  expect(leadStatusAfter({ status: 'completed', endedReason })).toBe(AFTER_TALK[endedReason] ?? 'contacted');
});

it('nobody answered, and a fault', () => {
  expect(leadStatusAfter({ status: 'no_answer', endedReason: 'busy' })).toBe('no_answer');
  expect(leadStatusAfter({ status: 'failed', endedReason: 'carrier_error' })).toBe('failed');
  expect(leadStatusAfter({ status: 'failed', endedReason: 'opt_out_requested' })).toBe('do_not_contact');
});
