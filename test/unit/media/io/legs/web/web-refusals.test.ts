import type { Logger } from 'pino';
import { expect, test } from 'vitest';
import { createWebEndpoint, type WebEndpointOptions } from '../../../../../../media/io/legs/web/web-endpoint.ts';
import { VirtualClock } from '../../../../../support/virtual-clock.ts';

test('of 1,000 upgrades at /ws/live in a minute 20 refusals are told one by one, the rest as a number; all are counted', async () => {
  const clock = new VirtualClock();
  const lines: { fields: Record<string, unknown>; text: string }[] = [];
  const codes: number[] = [];
  const endpoint = createWebEndpoint({
    registry: { find: () => undefined, isDraining: false, hasRoom: () => true },
    link: { claim: async () => ({ ok: false, httpStatus: 401, why: 'a test', code: 'token_invalid' }) },
    clock,
    log: { info: (fields: Record<string, unknown>, text: string) => lines.push({ fields, text }) } as unknown as Logger,
    refused: (code: number) => codes.push(code),
  } as unknown as WebEndpointOptions);
  let accepted = 0;
  for (let nth = 0; nth < 1_000; nth++) {
    const query = nth % 2 === 0 ? '' : 'token=forged';
    const request = { path: '/ws/live', query, headers: {}, remoteAddress: '192.0.2.1' };
    endpoint.upgrade(request, { onAborted: null, accept: () => ++accepted > 0, reject: () => true } as never);
  }
  while (accepted < 1_000) await new Promise(setImmediate);
  expect(codes).toHaveLength(1_000);
  expect(lines.filter(({ text }) => text === 'web socket refused')).toHaveLength(20);
  expect(lines).toHaveLength(21);
  expect(lines[0]!.fields).toMatchObject({ code: 'token_invalid', remoteAddress: '192.0.2.1' });
  clock.advanceMs(60_000);
  expect(lines).toHaveLength(22);
  expect(lines[21]).toEqual({ fields: { untold: 979 }, text: expect.stringContaining('does not name') });
});
