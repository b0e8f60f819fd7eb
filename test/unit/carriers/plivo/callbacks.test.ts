import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isEndedReason } from '../../../../media/contract/call-outcome.ts';
import { parsePlivoCallback } from '../../../../src/carriers/plivo/callbacks.ts';

const CALL = { CallUUID: 'u1', RequestUUID: 'r1' };

function endOf(params: Record<string, string>) {
  const event = parsePlivoCallback('hangup', { ...CALL, Event: 'Hangup', ...params });
  if (event.type !== 'ended') throw new Error(`was ${event.type}`);
  return event.end;
}

describe('Plivo callbacks', () => {
  it('reads ring, answer and hang-up with the call id, and the request id where there is no call id', () => {
    expect(parsePlivoCallback('ring', { ...CALL, Event: 'Ring' })).toEqual({ type: 'ringing', carrierCallId: 'u1' });
    expect(parsePlivoCallback('answer', { ...CALL, Event: 'StartApp' })).toEqual({
      type: 'answered',
      carrierCallId: 'u1',
    });
    expect(parsePlivoCallback('ring', { RequestUUID: 'r1' })).toEqual({ type: 'ringing', carrierCallId: 'r1' });
    expect(parsePlivoCallback('hangup', CALL).type).toBe('ended');
  });

  it('takes a hang-up at the answer URL for a hang-up', () => {
    expect(parsePlivoCallback('answer', { ...CALL, Event: 'Hangup', CallStatus: 'busy' }).type).toBe('ended');
  });

  it('ignores what has no id, an unknown event and an unknown path', () => {
    expect(parsePlivoCallback('ring', { Event: 'Ring' }).type).toBe('ignored');
    expect(parsePlivoCallback('ring', { ...CALL, Event: 'MachineDetection' }).type).toBe('ignored');
    expect(parsePlivoCallback('toString', CALL).type).toBe('ignored');
  });

  it.each([
    ['busy', '3010', 'USER_BUSY', 'busy', 486],
    ['busy', '3100', 'USER_BUSY', 'busy', 600],
    ['no-answer', '3000', 'NO_ANSWER', 'no_answer', null],
    ['timeout', '6010', 'NO_ANSWER', 'no_answer', 487],
    ['failed', '3020', 'CALL_REJECTED', 'declined', null],
    ['failed', '3110', 'CALL_REJECTED', 'declined', 603],
    ['failed', '3130', 'CALL_REJECTED', 'rejected_as_spam', 607],
    ['failed', '3120', 'UNALLOCATED_NUMBER', 'invalid_number', 604],
    ['failed', '2000', 'UNALLOCATED_NUMBER', 'invalid_number', 404],
    ['failed', '2010', 'NETWORK_OUT_OF_ORDER', 'unreachable', null],
    ['failed', '3040', 'CALL_REJECTED', 'carrier_rejected', 403],
    ['failed', '3080', 'NETWORK_OUT_OF_ORDER', 'carrier_error', 500],
    ['failed', '5030', 'Concurrency Limit Breached', 'carrier_throttled', null],
    ['cancel', '1000', 'ORIGINATOR_CANCEL', 'canceled', 487],
    ['completed', '6000', 'ALLOTTED_TIMEOUT', 'max_duration_reached', null],
    ['completed', '6020', 'MEDIA_TIMEOUT', 'no_media', null],
    ['completed', '7011', 'NORMAL_CLEARING', 'internal_error', null],
    ['completed', '8011', 'NORMAL_CLEARING', 'internal_error', null],
    ['completed', '9100', 'NORMAL_CLEARING', 'voicemail_detected', null],
    ['completed', '4000', 'NORMAL_CLEARING', null, null],
    // No code: the status decides, refined by the cause when it only says "failed".
    ['busy', '', '', 'busy', 486],
    ['failed', '', 'UNALLOCATED_NUMBER', 'invalid_number', 404],
    ['failed', '', '', 'carrier_error', null],
    ['', '', 'USER_BUSY', 'busy', 486],
    ['', '', '', 'carrier_error', null],
    // A normal clearing of a call that was not completed is what the status says.
    ['no-answer', '4000', 'NORMAL_CLEARING', 'no_answer', null],
    ['Busy', '9999', 'x', 'busy', 486],
  ])(
    'status %s, code %s, cause %s end as %s with SIP %s',
    (CallStatus, HangupCauseCode, HangupCause, reason, sipCode) => {
      expect(endOf({ CallStatus, HangupCauseCode, HangupCause })).toMatchObject({ reason, sipCode });
    },
  );

  it.each([
    ['Callee', 'caller'],
    ['Call recipient', 'caller'],
    ['Caller', 'caller'],
    ['API Request', 'platform'],
    ['Answer XML', 'platform'],
    ['Carrier', 'carrier'],
    ['Plivo', 'carrier'],
    ['Unknown', null],
    ['toString', null],
  ])('source %s is hung up by %s', (HangupSource, hangupBy) => {
    expect(endOf({ CallStatus: 'completed', HangupCauseCode: '4000', HangupSource }).hangupBy).toBe(hangupBy);
  });

  it('keeps the duration in whole seconds and the cause in one printable line of at most 120 characters', () => {
    const end = endOf({
      CallStatus: 'completed',
      HangupCauseCode: '4000',
      HangupCauseName: `Normal\n\tHangup ${'x'.repeat(300)}`,
      Duration: '17',
    });
    expect(end.durationSeconds).toBe(17);
    expect(end.carrierCause).toMatch(/^4000 Normal Hangup x+$/);
    expect(end.carrierCause).toHaveLength(120);
    expect(endOf({ Duration: 'abc' }).durationSeconds).toBeNull();
    expect(endOf({ Duration: '-3' }).durationSeconds).toBeNull();
    expect(endOf({ Duration: '0' }).durationSeconds).toBe(0);
  });

  it.each([
    ['StartStream', 'started'],
    ['started', 'started'],
    ['StopStream', 'stopped'],
    ['STOPPED', 'stopped'],
    ['DroppedStream', 'failed'],
    ['failed', 'failed'],
    ['DegradedStream', 'degraded'],
  ])('stream event %s is %s', (Event, state) => {
    expect(parsePlivoCallback('stream', { ...CALL, Event, StatusReason: 'x' })).toMatchObject({
      type: 'stream',
      state,
    });
  });

  it('never throws on 1000 random callbacks, and gives only reasons of the contract', () => {
    const key = fc.constantFrom(
      'CallUUID',
      'RequestUUID',
      'Event',
      'CallStatus',
      'HangupCause',
      'HangupCauseCode',
      'HangupCauseName',
      'HangupSource',
      'Duration',
      'StatusReason',
      '__proto__',
      'x',
    );
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('Hangup', '4000', '1e9', 'constructor', 'failed', '0x10'),
    );
    const kind = fc.oneof(fc.constantFrom('answer', 'ring', 'hangup', 'stream'), fc.string());
    fc.assert(
      fc.property(kind, fc.dictionary(key, value), (path, params) => {
        const event = parsePlivoCallback(path, params);
        if (event.type !== 'ended') return;
        const { reason, durationSeconds, carrierCause } = event.end;
        expect(reason === null || isEndedReason(reason)).toBe(true);
        expect(durationSeconds === null || Number.isInteger(durationSeconds)).toBe(true);
        expect(carrierCause === null || carrierCause.length <= 120).toBe(true);
      }),
      { numRuns: 1000, seed: 3 },
    );
  });
});
