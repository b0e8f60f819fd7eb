import { describe, expect, it } from 'vitest';
import { createAddressGuard } from '../../../../media/net/address-guard.ts';
import { problemOfTarget } from '../../../../media/net/target-check.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const RANGES = ['10.0.0.0/8'];

async function problem(url: string, resolveName: () => Promise<readonly string[]>, ranges = RANGES) {
  const clock = new VirtualClock();
  const asked = problemOfTarget(url, { guard: createAddressGuard(ranges), resolveName, clock });
  await new Promise(setImmediate);
  clock.advanceMs(2_000);
  return asked;
}

describe('a URL that is saved', () => {
  const unknown = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
  const silent = () => new Promise<never>(() => {});

  it('may be https with a name that does not resolve now', async () => {
    for (const resolve of [unknown, silent]) expect(await problem('https://hooks.example.com/', resolve)).toBeNull();
  });

  it('may be plain http only when its name is seen to lead into the allowed ranges', async () => {
    expect(await problem('http://hooks.internal/', async () => ['10.1.2.3'])).toBeNull();
    expect(await problem('http://hooks.internal/', async () => ['10.1.2.3', '93.184.215.14'])).toMatch(/plain http/);
    for (const ranges of [RANGES, []]) {
      expect(await problem('http://hooks.example.com/', async () => ['93.184.215.14'], ranges)).toMatch(/plain http/);
      for (const resolve of [unknown, silent, async () => []]) {
        expect(await problem('http://hooks.example.com/', resolve, ranges)).toBe(
          'must begin with https://; plain http is spoken only inside the ranges of WEBHOOK_ALLOW_CIDRS, and hooks.example.com has no address there now',
        );
      }
    }
  });
});
