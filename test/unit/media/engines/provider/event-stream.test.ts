/** Server-sent events out of bytes, however they are cut and whatever ends their lines. */
import { describe, expect, test } from 'vitest';
import { EventStream } from '../../../../../media/engines/provider/event-stream.ts';

function reading(): { stream: EventStream; told: string[] } {
  const told: string[] = [];
  return { stream: new EventStream((data) => told.push(data)), told };
}

const TWO = ['data: one', '', ': a comment', 'event: x', 'data:two ü', 'data: more', '', ''];

describe('events', () => {
  test.each([
    ['\n', 'LF'],
    ['\r\n', 'CRLF'],
    ['\r', 'CR'],
  ])('of lines that end with %j (%s) are the same, cut between any two bytes', (end) => {
    const bytes = Buffer.from(TWO.join(end));
    for (let at = 0; at <= bytes.length; at++) {
      const { stream, told } = reading();
      stream.push(bytes.subarray(0, at));
      stream.push(bytes.subarray(at));
      expect(told).toEqual(['one', 'two ü\nmore']);
    }
  });

  test('that end with a carriage return are told at once', () => {
    const { stream, told } = reading();
    stream.push(Buffer.from('data: one\r\r'));
    expect(told).toEqual(['one']);
    stream.push(Buffer.from('\n'));
    stream.push(Buffer.from('data: two\n\n'));
    expect(told).toEqual(['one', 'two']);
  });

  test('behind a mark of the byte order are not lost', () => {
    const { stream, told } = reading();
    stream.push(Buffer.from('\ufeffdata: one\n\ndata: \ufefftwo\n\n'));
    expect(told).toEqual(['one', '\ufefftwo']);
  });

  test('that are longer than any answer’s throw, in one line or in many', () => {
    const long = Buffer.alloc(64 * 1024, 'x');
    const endless = reading();
    endless.stream.push(Buffer.from('data: '));
    expect(() => {
      for (let pushed = 0; pushed < 8; pushed++) endless.stream.push(long);
    }).toThrow('an event of the answer is too long');
    const lines = reading();
    expect(() => {
      for (let pushed = 0; pushed < 8; pushed++) lines.stream.push(Buffer.from(`data: ${long.toString()}\n`));
    }).toThrow('an event of the answer is too long');
    expect([endless.told, lines.told]).toEqual([[], []]);
  });
});
