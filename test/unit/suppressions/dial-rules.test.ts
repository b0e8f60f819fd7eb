import { describe, expect, it } from 'vitest';
import { applyRules } from '../../../src/suppressions/dial-rules.ts';

const hours = { start: '09:00', end: '20:00', days: [1, 2, 3, 4, 5], timezone: 'recipient' };
const policy = { window: hours, allowedCountries: null, blockedCountries: [] };
const LONDON = '+442079460958';
const SAN_FRANCISCO = '+14155550123';
/** A Friday in winter: London has UTC. */
const at = (text: string): number => Date.parse(`2026-11-20T${text}Z`);

const codeAt = (time: number, phone: string, timezone: string | null = null): string | null =>
  applyRules(policy, { phone, timezone, atEpochMs: time }).code;

describe('calling hours', () => {
  it('are open from their first minute to the one before their last', () => {
    const closed = 'blocked_time_window';
    const seen = ['08:59:59', '09:00:00', '19:59:59', '20:00:00'].map((time) => codeAt(at(time), LONDON));
    expect(seen).toEqual([closed, null, null, closed]);
  });

  it('hold on their days by the clock of the called person: Saturday begins earlier in Tokyo', () => {
    expect(codeAt(at('10:00:00'), LONDON)).toBeNull();
    expect(codeAt(at('10:00:00') + 24 * 3_600_000, LONDON)).toBe('blocked_time_window');
    expect(codeAt(at('03:00:00'), LONDON, 'Asia/Tokyo')).toBeNull();
    expect(codeAt(at('16:00:00'), LONDON, 'Asia/Tokyo')).toBe('blocked_time_window');
  });

  it('must hold in every zone of the number’s country when nobody says which: New York is not enough for a US number', () => {
    // 09:30 in New York, 04:30 in Honolulu; 14:30 and 09:30.
    expect(codeAt(at('14:30:00'), SAN_FRANCISCO)).toBe('blocked_time_window');
    expect(codeAt(at('19:30:00'), SAN_FRANCISCO)).toBeNull();
    expect(codeAt(at('14:30:00'), SAN_FRANCISCO, 'America/New_York')).toBeNull();
  });

  it('follow the clocks when they change: 09:00 in Berlin is 07:00 UTC in summer', () => {
    const summer = Date.parse('2026-07-03T07:00:00Z');
    expect(codeAt(summer, '+49301234567', 'Europe/Berlin')).toBeNull();
    expect(codeAt(summer - 1, '+49301234567', 'Europe/Berlin')).toBe('blocked_time_window');
  });

  it('are closed for a number whose time nobody can know, and open by a zone of the policy’s own', () => {
    expect(codeAt(at('10:00:00'), '+883123456789')).toBe('blocked_time_window');
    const own = { ...policy, window: { ...hours, timezone: 'UTC' } };
    const verdict = applyRules(own, { phone: '+883123456789', timezone: 'Asia/Tokyo', atEpochMs: at('10:00:00') });
    expect(verdict).toEqual({
      code: null,
      facts: { localTimes: ['2026-11-20T10:00 UTC'], zoneFrom: 'policy', country: null, window: '09:00-20:00 UTC' },
    });
  });
});

describe('countries', () => {
  const judge = (phone: string, change: object): string | null =>
    applyRules({ ...policy, window: null, ...change }, { phone, timezone: null, atEpochMs: at('00:00:00') }).code;

  it('are told apart where they share a calling code', () => {
    const allowedCountries = ['US'];
    expect([SAN_FRANCISCO, '+14165550123', '+18005550123'].map((phone) => judge(phone, { allowedCountries }))).toEqual([
      null,
      'blocked_country',
      null,
    ]);
    expect(judge('+77011234567', { blockedCountries: ['RU'] })).toBeNull();
    expect(judge('+74951234567', { blockedCountries: ['RU'] })).toBe('blocked_country');
  });

  it('that are not known are no allowed ones, and no blocked ones', () => {
    expect(judge('+883123456789', { allowedCountries: ['US'] })).toBe('blocked_country');
    expect(judge('+883123456789', { blockedCountries: ['US'] })).toBeNull();
  });
});
