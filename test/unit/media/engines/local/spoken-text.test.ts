import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../../../bench/harness/seeded-random.ts';
import { spokenText } from '../../../../../media/engines/local/spoken-text.ts';

const rows: [written: string, spoken: string][] = [
  ['3/4/2025', 'March 4th, 2025'],
  ['on 2025-12-21 at 14:30', 'on December 21st, 2025 at 2:30 p.m.'],
  ['2025-03-04T09:05', 'March 4th, 2025 9:05 a.m.'],
  ['13/40/2025', '13/40/2025'],
  ['at 10:30 or 10:00', "at 10:30 or 10 o'clock"],
  ['3pm, 3 PM, 3:00 p.m.', '3 p.m., 3 p.m., 3:00 p.m.'],
  ['0:30 and 20:00 and 25:99', '12:30 a.m. and 8 p.m. and 25:99'],
  ['order #A12-9', 'order number ay 1 2, 9'],
  ['Order #12345', 'Order number 1 2 3 4 5'],
  ['code AB1234 or 4f3a-99', 'code ay B 1 2 3 4 or 4 f 3 ay, 9 9'],
  ['Covid-19, the 23rd, iPhone15', 'Covid-19, the 23rd, iPhone 15'],
  ['No. 5 at St. John', 'number 5 at St. John'],
  ['call +1 415 555 0123', 'call plus 1, 4 1 5, 5 5 5, 0 1 2 3'],
  ['(415) 555-0123', '4 1 5, 5 5 5, 0 1 2 3'],
  ['it costs $42.10, €5 or £3.50', 'it costs $42.10, 5 euros or 3 pounds 50'],
  ['1,234,567 is 50% at -5', '1,234,567 is 50% at -5'],
  ['ana@example.com', 'ana at example dot com'],
  ['see https://www.example.com/help.', 'see w w w dot example dot com slash help.'],
  ['AT&T A/C 24/7 x=3', 'AT and T A slash C 24 7 x equals 3'],
  ['naïve “café” – yes… 72°F', 'naive cafe , yes. 72 degrees Fahrenheit'],
  ['<speak>Hi <break time="1s"/> <!-- x --> you</speak>', 'Hi you'],
  ['a\u0000b\u0007\tc', 'a b c'],
];

describe('spoken text', () => {
  it.each(rows)('says %j as %j', (written, spoken) => {
    expect(spokenText(written)).toBe(spoken);
  });

  it.each(['', '  \n', '...', '<break/>', '日本語', '\u0000', '?!'])('finds nothing to say in %j', (written) => {
    expect(spokenText(written)).toBe('');
  });

  it('gives printable ASCII for 2,000 random texts of 60 code units', () => {
    const random = createRandom(7);
    for (let i = 0; i < 2000; i++) {
      const text = String.fromCharCode(
        ...Array.from({ length: 60 }, () => Math.floor(random() * (i % 2 ? 0xffff : 128))),
      );
      expect(spokenText(text)).toMatch(/^[\x20-\x7e]*$/);
    }
  });
});
