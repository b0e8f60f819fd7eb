import type { Logger } from 'pino';
import { expect, test } from 'vitest';
import {
  type CarrierEndpointOptions,
  createCarrierEndpoint,
} from '../../../../../../media/io/legs/carrier/carrier-endpoint.ts';
import type { UpgradeRequest } from '../../../../../../media/io/socket-server/media-socket-server.ts';
import { VirtualClock } from '../../../../../support/virtual-clock.ts';

function createRefusingEndpoint() {
  const clock = new VirtualClock();
  const lines: { fields: Record<string, unknown>; text: string }[] = [];
  const statuses: number[] = [];
  const log = {
    warn: (fields: Record<string, unknown>, text: string) => lines.push({ fields, text }),
  } as unknown as Logger;
  const endpoint = createCarrierEndpoint({
    codecs: { find: () => undefined },
    isShortOfDescriptors: () => false,
    clock,
    log,
    refused: (httpStatus: number) => statuses.push(httpStatus),
  } as unknown as CarrierEndpointOptions);
  const request: UpgradeRequest = { path: '/media/nobody/x', query: '', headers: {}, remoteAddress: '192.0.2.1' };
  const upgrade = (times: number): void => {
    for (let i = 0; i < times; i++) {
      endpoint.upgrade(request, { onAborted: null, accept: () => false, reject: () => true } as never);
    }
  };
  return { clock, lines, statuses, upgrade };
}

test('of 1,000 refusals in a minute 20 are told one by one, then that there are many, then how many more; all are counted', () => {
  const { clock, lines, statuses, upgrade } = createRefusingEndpoint();
  upgrade(1_000);
  expect(statuses).toHaveLength(1_000);
  expect(lines.filter(({ text }) => text === 'media stream refused')).toHaveLength(20);
  expect(lines).toHaveLength(21);
  clock.advanceMs(60_000);
  expect(lines).toHaveLength(22);
  expect(lines[21]).toEqual({ fields: { untold: 979 }, text: expect.stringContaining('does not name') });
  upgrade(1);
  expect(lines.at(-1)!.text).toBe('media stream refused');
});

test('a refusal every 4 s is told each time', () => {
  const { clock, lines, upgrade } = createRefusingEndpoint();
  for (let i = 0; i < 50; i++) {
    upgrade(1);
    clock.advanceMs(4_000);
  }
  expect(lines.map(({ text }) => text)).toEqual(Array.from({ length: 50 }, () => 'media stream refused'));
});
