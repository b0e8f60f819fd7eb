import { describe, expect, it } from 'vitest';
import { ENDED_REASONS, type EndedReason } from '../../../media/contract/call-outcome.ts';
import { buildEventBody, type EventFacts } from '../../../src/webhooks/event-body.ts';
import { createEventId } from '../../../src/webhooks/event-id.ts';
import { WEBHOOK_EVENTS } from '../../../src/webhooks/events.ts';
import { sampleCall } from './sample-call.ts';

const facts = (changes: Partial<EventFacts> = {}): EventFacts => ({
  event: 'call.completed',
  id: 'evt_1',
  timestampEpochMs: Date.UTC(2026, 10, 21, 1, 5, 10, 412),
  sequence: 1,
  transcript: 'Agent: Hello\nCustomer: Hi',
  turnCount: 2,
  extra: {},
  ...changes,
});

/** The common part of every body, as JSON text, up to and with `fault`. */
const common = (event: string, transcript: string | null, ending: string): string =>
  `{"event":"${event}","callUuid":"0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11","to":"+14155550123",` +
  `"transcript":${JSON.stringify(transcript)},"intent":null,"summary":null,` +
  '"id":"evt_1","apiVersion":"1","timestamp":"2026-11-21T01:05:10.412Z","sequence":1,' +
  '"enterprise":"acme","agentId":"0199f0a0-0000-7000-8000-000000000002","agentVersion":7,"leadId":null,' +
  '"campaignId":null,"channel":"phone","direction":"outbound","from":"0199f0a0-0000-7000-8000-000000000003",' +
  `"fromNumber":"+14155550100","name":"Asha","metadata":{"plan":"gold"},${ending}`;

describe('the body of every event', () => {
  it.each(WEBHOOK_EVENTS)('%s: metadata without what is secret, whatever its depth', (event) => {
    const metadata = { plan: 'gold', 'secret.token': 'canary-1', 'secret.a.b': { c: 'canary-2' }, secretary: 'Ann' };
    const body = buildEventBody(sampleCall({ metadata }), facts({ event }));
    expect(body['metadata']).toEqual({ plan: 'gold', secretary: 'Ann' });
    expect(JSON.stringify(body)).not.toContain('canary');
  });
});

describe('the body of a terminal event, key for key', () => {
  it('call.completed: 6.2 s of ringing, 48.2 s of talk, 49 billable seconds', () => {
    const call = sampleCall({
      latency: {
        answerToFirstWordMs: 240,
        agentMs: { p95: 640, p50: 420 },
        mouthToEarMs: { max: 1_502, p50: 720, p90: 980, p95: 1_100, count: 9 },
      },
    });
    expect(JSON.stringify(buildEventBody(call, facts()))).toBe(
      common(
        'call.completed',
        'Agent: Hello\nCustomer: Hi',
        '"status":"completed","endedReason":"user_hangup","hangupBy":"caller","fault":"none",' +
          '"createdAt":"2026-11-21T01:04:15.000Z","ringingAt":"2026-11-21T01:04:16.000Z",' +
          '"answeredAt":"2026-11-21T01:04:22.200Z","endedAt":"2026-11-21T01:05:10.400Z","ringSeconds":6.2,' +
          '"durationSeconds":48.2,"billableSeconds":49,"answeredBy":"human","answeredByConfidence":null,"sipCode":200,' +
          '"recordingStatus":"pending","analysisStatus":"none","turns":2,' +
          '"latency":{"mouthToEarMs":{"p50":720,"p95":1100,"max":1502},"agentMs":{"p50":420,"p95":640}},' +
          '"quality":null,"transfer":null}',
      ),
    );
  });

  it('call.no_answer: no transcript whatever was said, and how long it rang', () => {
    const call = sampleCall({
      status: 'no_answer',
      endedReason: 'busy',
      hangupBy: 'carrier',
      fault: 'callee',
      sipCode: 486,
      answeredAt: null,
    });
    expect(JSON.stringify(buildEventBody(call, facts({ event: 'call.no_answer', extra: { sipReason: 'Busy' } })))).toBe(
      common(
        'call.no_answer',
        null,
        '"status":"no_answer","endedReason":"busy","hangupBy":"carrier","fault":"callee",' +
          '"createdAt":"2026-11-21T01:04:15.000Z","endedAt":"2026-11-21T01:05:10.400Z","ringSeconds":54.4,' +
          '"sipCode":486,"sipReason":"Busy","attempt":1,"nextAttemptAt":null}',
      ),
    );
  });

  it('call.failed before any answer: the error, and no times of talk', () => {
    const call = sampleCall({
      status: 'failed',
      endedReason: 'carrier_rejected',
      hangupBy: 'carrier',
      fault: 'carrier',
      sipCode: 403,
      ringingAt: null,
      answeredAt: null,
      error: { message: 'not allowed', code: 'carrier_rejected' },
    });
    expect(JSON.stringify(buildEventBody(call, facts({ event: 'call.failed', transcript: null })))).toBe(
      common(
        'call.failed',
        null,
        '"status":"failed","endedReason":"carrier_rejected","hangupBy":"carrier","fault":"carrier",' +
          '"createdAt":"2026-11-21T01:04:15.000Z","endedAt":"2026-11-21T01:05:10.400Z","ringSeconds":null,' +
          '"sipCode":403,"sipReason":null,"attempt":1,"nextAttemptAt":null,' +
          '"error":{"code":"carrier_rejected","message":"not allowed","provider":"plivo","retryable":false}}',
      ),
    );
  });
});

describe('the body of an event', () => {
  it('has the five keys of the specification and the id in every event', () => {
    for (const event of WEBHOOK_EVENTS) {
      const keys = Object.keys(buildEventBody(sampleCall(), facts({ event })));
      expect(keys.slice(0, 6)).toEqual(['event', 'callUuid', 'to', 'transcript', 'intent', 'summary']);
      expect(keys.slice(6, 10)).toEqual(['id', 'apiVersion', 'timestamp', 'sequence']);
    }
  });

  it('carries the partial transcript and times of talk when a call failed after its answer', () => {
    const call = sampleCall({ status: 'failed', endedReason: 'tts_error', fault: 'provider' });
    expect(buildEventBody(call, facts({ event: 'call.failed' }))).toMatchObject({
      transcript: 'Agent: Hello\nCustomer: Hi',
      error: { code: 'tts_error', message: 'The agent could not speak any more.', provider: 'flite', retryable: false },
      answeredAt: '2026-11-21T01:04:22.200Z',
      durationSeconds: 48.2,
    });
  });

  it('says of each fault whose it is and whether the call may be placed again, whatever the row was told', () => {
    const error = (endedReason: EndedReason): unknown => {
      const { fault } = ENDED_REASONS[endedReason];
      const call = sampleCall({ status: 'failed', endedReason, fault, error: null, ringingAt: null, answeredAt: null });
      return (buildEventBody(call, facts({ event: 'call.failed' })) as { error: unknown })['error'];
    };
    expect(error('carrier_timeout')).toMatchObject({ provider: 'plivo', retryable: true });
    expect(error('carrier_auth')).toMatchObject({ provider: 'plivo', retryable: false });
    expect(error('invalid_number')).toMatchObject({ provider: 'plivo', retryable: false });
    expect(error('stt_error')).toMatchObject({ provider: 'soundswallower', retryable: true });
    expect(error('node_lost')).toMatchObject({ provider: null, retryable: true });
    // A phone may have rung.
    expect(error('submission_unknown')).toMatchObject({ provider: null, retryable: false });
    for (const [reason, { status }] of Object.entries(ENDED_REASONS)) {
      if (status !== 'failed') continue;
      expect(error(reason as EndedReason), reason).toMatchObject({
        code: reason,
        message: expect.stringMatching(/\.$/),
      });
    }
  });

  it('takes intent and summary from the caller without moving their place', () => {
    const body = buildEventBody(
      sampleCall(),
      facts({ event: 'analysis.completed', extra: { summary: 'Booked.', intent: 'book_appointment' } }),
    );
    expect(Object.entries(body).slice(4, 6)).toEqual([
      ['intent', 'book_appointment'],
      ['summary', 'Booked.'],
    ]);
  });

  it('cuts a transcript of more than 64 KB and says so; one of exactly 64 KB is whole', () => {
    const whole = buildEventBody(sampleCall(), facts({ transcript: 'a'.repeat(65_536) }));
    expect(whole['transcript']).toHaveLength(65_536);
    expect(whole).not.toHaveProperty('transcriptTruncated');
    const cut = buildEventBody(sampleCall(), facts({ transcript: 'a'.repeat(65_537) }));
    expect(cut['transcript']).toHaveLength(65_536);
    expect(cut['transcriptTruncated']).toBe(true);
  });

  it('never reports negative seconds when the callbacks came out of order', () => {
    const call = sampleCall();
    const late = { ...call, ringingAt: new Date(call.answeredAt!.getTime() + 400) };
    expect(buildEventBody(late, facts())).toMatchObject({ ringSeconds: 0 });
  });
});

describe('createEventId', () => {
  it('is 22 base62 characters that sort like the UUIDv7 inside', () => {
    expect(createEventId('ffffffff-ffff-ffff-ffff-ffffffffffff')).toBe('evt_7n42DGM5Tflk9n8mt7Fhc7');
    expect(createEventId('00000000-0000-0000-0000-00000000003e')).toBe('evt_0000000000000000000010');
    const ids = Array.from({ length: 500 }, () => createEventId());
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(500);
  });
});
