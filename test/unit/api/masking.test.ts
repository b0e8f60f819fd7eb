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
    ['+1\u00a0415\u202f555\u20110123', '+1••••••0123'],
    ['+1 \u200b415\u200e 555 – 0123', '+1••••••0123'],
    ['＋１４１５５５５０１２３', '+１••••••０１２３'],
    ['٠٣٠١٢٣٤٥٦٧', '••••••٤٥٦٧'],
    ['?to=%2B14155550123&x=1', '?to=+1••••••0123&x=1'],
    ['tel:4155550123', 'tel:••••••0123'],
    ['sip:4155550123@carrier.example', 'sip:••••••0123@carrier.example'],
    ['phone=4155550123', 'phone=••••••0123'],
    ['Tel.03012345678', 'Tel.•••••••5678'],
    ['1-415-555-0123', '•••••••0123'],
    ['98765 43210', '••••••3210'],
    ['020 7946 0958', '•••••••0958'],
    ['030/1234567', '••••••4567'],
    ['06.12.34.56.78', '••••••5678'],
    ['it is 4 1 5, 5 5 5, 0 1 2 3', 'it is ••••••0123'],
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
    'at 192.168.100.200 since 2026-11-23 07:54:08',
    'on 05.11.2026 10:30, or 05/11/2026 at 10',
    '1, 2, 3, 4, 5, 6, 7, 8, 9, 10',
    '0.1234567890123',
    '01993345-1234-7567-8901-234567890123',
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

  it('are hidden in names, and where others say them as numbers', () => {
    const metadata = { '+14155550123': 'x', phone: 14155550123, deep: [4155550123], small: 12, at: 1.5 };
    expect(
      maskedValue({ metadata, analysis: { data: { phone: 4155550123 }, evidence: [] }, data: [4155550123] }, DEAF),
    ).toEqual({
      metadata: { '+1••••••0123': 'x', phone: '•••••••0123', deep: ['••••••0123'], small: 12, at: 1.5 },
      analysis: { data: { phone: '••••••0123' }, evidence: [] },
      data: [4155550123],
    });
  });

  it('of 100,000 characters are found in no time worth a name', () => {
    for (const part of ['1 ', '12-', '(1', '0123456789-', '1\u200b']) {
      expect(maskedText(part.repeat(50_000), DEAF).length).toBeGreaterThan(0);
    }
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
      name: '٤١٥',
      from: 'a',
      agentId: '01993c4e-1234-7567-8901-234567890123',
      'metadata.order': '1234',
      createdAfter: '2026-11-23',
    };
    expect(numberFilters(query)).toEqual(['to', 'name', 'metadata.order']);
  });
});
