import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CALL_STATUSES, ENDED_REASONS, type EndedReason } from '../../../media/contract/call-outcome.ts';
import { fittingReason, isTerminal, LEGAL_TRANSITIONS, mayMove, rankOf } from '../../../src/calls/state-machine.ts';

describe('the states of a call', () => {
  test('every legal transition rises in rank, so no state is ever left for an earlier one', () => {
    for (const from of CALL_STATUSES) {
      for (const to of LEGAL_TRANSITIONS[from]) expect(rankOf(to), `${from} to ${to}`).toBeGreaterThan(rankOf(from));
    }
  });

  test('exactly completed, no_answer and failed are terminal, and nothing leaves them', () => {
    expect(CALL_STATUSES.filter(isTerminal)).toEqual(['completed', 'no_answer', 'failed']);
    expect(CALL_STATUSES.filter((status) => LEGAL_TRANSITIONS[status].length === 0)).toEqual([
      'completed',
      'no_answer',
      'failed',
    ]);
  });

  test('dialing may go to in_progress without ringing, ringing may not go to completed, queued may not be answered', () => {
    expect(mayMove('dialing', 'in_progress')).toBe(true);
    expect(mayMove('ringing', 'completed')).toBe(false);
    expect(mayMove('queued', 'in_progress')).toBe(false);
  });

  test('whatever reason is reported in whatever live state, the fitting one may follow it, and a fitting one is kept', () => {
    const live = CALL_STATUSES.filter((status) => !isTerminal(status)) as (
      | 'queued'
      | 'dialing'
      | 'ringing'
      | 'in_progress'
    )[];
    const reasons = Object.keys(ENDED_REASONS) as EndedReason[];
    fc.assert(
      fc.property(fc.constantFrom(...live), fc.constantFrom(...reasons), (status, reason) => {
        const fitting = fittingReason(status, reason);
        expect(mayMove(status, ENDED_REASONS[fitting].status)).toBe(true);
        if (mayMove(status, ENDED_REASONS[reason].status)) expect(fitting).toBe(reason);
      }),
      { seed: 1, numRuns: 400 },
    );
  });

  test('our own cancel that met an answer is an API hang-up; an API hang-up that met no answer is a cancel', () => {
    expect(fittingReason('in_progress', 'canceled')).toBe('api_hangup');
    expect(fittingReason('ringing', 'api_hangup')).toBe('canceled');
    expect(fittingReason('ringing', 'user_hangup')).toBe('no_answer');
    expect(fittingReason('in_progress', 'busy')).toBe('carrier_error');
  });
});
