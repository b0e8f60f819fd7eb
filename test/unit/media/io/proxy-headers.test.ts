import { expect, it } from 'vitest';
import { forwardedHeaders } from '../../../../media/io/proxy-headers.ts';
import type { HttpExchange } from '../../../../media/io/socket-server/http-exchange.ts';

const of = (...lengths: string[]) =>
  forwardedHeaders({
    headers: lengths.map((length): [string, string] => ['content-length', length]),
    remoteAddress: '192.0.2.1',
  } as unknown as HttpExchange);

it.each([
  [['5'], true],
  [['0'], true],
  [[], true],
  [['5', '5'], false],
  [['x', '5'], false],
  [['5, 5'], false],
  [['0x10'], false],
  [['-1'], false],
  [['five'], false],
  [[''], false],
])('of the lengths %j it is clear which is meant: %s', (lengths, isClear) =>
  expect(of(...lengths).isLengthClear).toBe(isClear),
);
