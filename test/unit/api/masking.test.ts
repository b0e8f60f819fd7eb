import { describe, expect, it } from 'vitest';
import { maskedJson, maskedStream, maskedText, maskedValue, numberFilters } from '../../../src/api/masking.ts';

const DEAF = { hears: false };

describe('numbers', () => {
  it.each([
    ['+14155550123', '+1••••••0123'],
    ['call +49 30 1234567 back', 'call +4••••••4567 back'],
    ['+1 (415) 555-0123', '+1••••••0123'],
    ['(415) 555-0123', '••••••0123'],
    ['415.555.0123', '••••••0123'],
    ['4155550123', '••••••0123'],
    ['{"to":"+14155550123"}', '{"to":"+1••••••0123"}'],
  ])('%s is shown as %s', (text, shown) => {
    expect(maskedText(text, DEAF)).toBe(shown);
  });

  it.each([
    '01993c4e-1234-7567-8901-234567890123',
    '2026-11-23T07:54:08.123Z',
    'order A-1234567',
    'sha256 0123456789abcdef0123456789abcdef',
    '12 of 400',
    '192.168.100.200',
  ])('%s stays', (text) => {
    expect(maskedText(text, DEAF)).toBe(text);
  });

  it('are hidden in every string of an answer, and numbers that are none stay numbers', () => {
    const answer = { at: 1_764_000_000_000, deep: [{ metadata: { phone: '+14155550123' } }], nothing: null };
    expect(JSON.parse(maskedJson(JSON.stringify(answer), DEAF))).toEqual({
      at: 1_764_000_000_000,
      deep: [{ metadata: { phone: '+1••••••0123' } }],
      nothing: null,
    });
  });

  it('are hidden in streams, whose other lines stay', () => {
    const text = 'id: 12345678901\nevent: turn\ndata: {"text":"+14155550123","n":12345678901}\n\n: still here\n\n';
    expect(maskedStream(text, DEAF)).toBe(
      'id: 12345678901\nevent: turn\ndata: {"text":"+1••••••0123","n":12345678901}\n\n: still here\n\n',
    );
  });
});

describe('addresses of recordings', () => {
  const url =
    'https://voice.example.com/api/developer/recordings/01993c4e-1234-7567-8901-234567890123?expires=1764000000&signature=a-b_c';

  it('are whole for those who hear, and gone for others', () => {
    expect(maskedText(url, { hears: true })).toBe(url);
    expect(maskedJson(JSON.stringify({ url, text: `see ${url} now` }), DEAF)).toBe('{"url":null,"text":"see  now"}');
    // A list promises an address with each part.
    expect(maskedValue({ parts: [{ url, startSeconds: 0 }], links: [{ url: 'https://a.example' }] }, DEAF)).toEqual({
      parts: [],
      links: [{ url: 'https://a.example' }],
    });
    expect(maskedValue([{ url }], { hears: true })).toEqual([{ url }]);
  });
});

describe('filters', () => {
  it('that look for digits are named, others not', () => {
    const query = {
      to: '+1415',
      q: 'refund 12',
      from: 'a',
      agentId: '01993c4e-1234-7567-8901-234567890123',
      'metadata.order': '1234',
      createdAfter: '2026-11-23',
    };
    expect(numberFilters(query)).toEqual(['to', 'metadata.order']);
  });
});
