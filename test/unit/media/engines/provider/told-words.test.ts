/** What a provider says on its way to warnings and logs: without the key, of whatever shape it is. */
import { afterEach, expect, test } from 'vitest';
import { createEarService } from '../../../../../media/engines/provider/ear-service.ts';
import { ProviderLines } from '../../../../../media/engines/provider/provider-lines.ts';
import type { ServiceKind } from '../../../../../media/engines/provider/provider-service.ts';
import { grantOf, type ProviderHarness, providerHarness } from '../provider-harness.ts';

const KEY = '0a1b2c3d4e5f60718293a4b5c6d7e8f9';
const SAID = `The key ${KEY} is revoked (${KEY}).`;
const SAFE = 'The key … is revoked (…).';

let harness: ProviderHarness;
afterEach(() => harness.close());

function heardOf(load: ServiceKind['load']): Promise<unknown[]> {
  harness = providerHarness({ services: [{ name: 'loud', isRequest: true, providers: ['openai_compatible'], load }] });
  harness.grant('call-1', grantOf({ credentials: { apiKey: KEY } }));
  const port = harness.connect();
  return new Promise((resolve) => {
    new ProviderLines(() => port, 'loud').open(
      { callUuid: 'call-1', connection: 'main', settings: {} },
      {},
      {
        said: (body) => resolve([body]),
        over: (fault, message) => resolve([fault, message]),
      },
    );
  });
}

test('of a request that it refuses', async () => {
  const heard = await heardOf(async () => () => (line) => {
    line.end('refused', SAID);
    return { closed: () => {} };
  });
  expect(heard).toEqual(['refused', SAFE]);
});

test('of an ear that it ends', async () => {
  const heard = await heardOf(async () =>
    createEarService((_wish, { clock }, listener) => {
      clock.after(0, () => listener.failed(1, new Error(SAID)));
      const nothing = (): void => {};
      return {
        hint: nothing,
        push: nothing,
        turnBegan: nothing,
        mayBeOver: nothing,
        wentOn: nothing,
        turnOver: nothing,
        turnDropped: nothing,
        close: nothing,
      };
    }),
  );
  expect(heard).toEqual([{ type: 'failed', turn: 1, message: SAFE }]);
});
