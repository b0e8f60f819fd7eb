/** Credentials go from control's word to the provider threads, and nowhere else. */
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { ConnectionGrant } from '../../../../media/contract/grant.ts';
import { safeLogOptions } from '../../../../media/contract/log-safety.ts';
import { CallGrants } from '../../../../media/io/call-grants.ts';
import { CallRegistry } from '../../../../media/io/call-registry.ts';
import { createPlivoCodecFactory } from '../../../../media/io/carriers/plivo/plivo-codec.ts';
import { FrameClock } from '../../../../media/io/frame-clock.ts';
import { setupOf } from '../../../support/fakes/fake-call.ts';
import { sampleAgent } from '../../../support/sample-agent.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const CANARY = 'canary-9f8e7d6c';

function grantOf(name: string): ConnectionGrant {
  return {
    name,
    version: 1,
    provider: 'openai_compatible',
    baseUrl: 'https://api.example.com',
    credentials: { apiKey: CANARY },
    limits: {},
    settings: {},
  };
}

function grantsOn(clock = new VirtualClock()) {
  const told: object[] = [];
  return { clock, told, grants: new CallGrants(clock, (message) => told.push(message)) };
}

describe('the grants of calls', () => {
  test('are taken out, told, told to a new thread, and revoked at the end', () => {
    const { grants, told } = grantsOn();
    const setup = grants.begun({ callUuid: 'c', more: 1, grants: [grantOf('a'), grantOf('b')] });
    expect(setup).toEqual({ callUuid: 'c', more: 1, granted: ['a', 'b'] });
    expect(told).toEqual([{ type: 'grant', callUuid: 'c', grants: [grantOf('a'), grantOf('b')] }]);
    expect(grants.all()).toEqual(told);
    grants.over('c');
    grants.over('c');
    expect(told.slice(1)).toEqual([{ type: 'revoke', callUuid: 'c' }]);
    expect(grants.all()).toEqual([]);
  });

  test('of a phone that nobody answers are forgotten, those of a call are not', () => {
    const { clock, grants } = grantsOn();
    grants.prepared({ callUuid: 'rings', grants: [grantOf('a')] });
    grants.prepared({ callUuid: 'talks', grants: [grantOf('a')] });
    clock.advanceMs(60_000);
    grants.begun({ callUuid: 'talks', grants: [grantOf('a')] });
    clock.advanceMs(3_600_000);
    expect(grants.all().map(({ callUuid }) => callUuid)).toEqual(['talks']);
  });

  test('a call without any costs nobody a word', () => {
    const { grants, told } = grantsOn();
    expect(grants.begun({ callUuid: 'c' })).toEqual({ callUuid: 'c' });
    expect(told).toEqual([]);
  });
});

test('no pipeline thread, recorder, log line or word to control ever holds a credential', () => {
  const seen: unknown[] = [];
  const lines: string[] = [];
  const log = pino({ level: 'trace', ...safeLogOptions() }, { write: (line: string) => void lines.push(line) });
  const { clock, told, grants } = grantsOn();
  /** Notes all that it is given, and has every method. */
  const noted = (name: string) =>
    new Proxy({} as never, {
      get:
        (_target, method) =>
        (...args: unknown[]) => {
          seen.push([name, method, args.filter((one) => !(one instanceof SharedArrayBuffer))]);
          return noted(name);
        },
    });
  const registry = new CallRegistry({
    capacityCalls: 10,
    clock,
    frameClock: new FrameClock({ clock, afterTick: () => {} }),
    pool: noted('pool'),
    recorder: noted('recorder'),
    grants,
    log,
    toControl: (message) => seen.push(message),
  });
  const setup = setupOf(sampleAgent(), { record: true, recordingKeyHex: '0'.repeat(64), grants: [grantOf('a')] });
  const leg = registry.carry(setup, createPlivoCodecFactory({ framesPerMessage: 1 }));
  const life = registry.find(setup.callUuid)!;
  life.started('stream-1', 'carrier-1', { memory: new SharedArrayBuffer(8) } as never, new SharedArrayBuffer(8));
  expect(seen.length).toBeGreaterThan(2);
  expect(life.setup.granted).toEqual(['a']);
  expect(JSON.stringify(told)).toContain(CANARY);
  log.info({ setup, error: `Authorization: Bearer ${CANARY}` }, 'what nobody should do');
  expect(JSON.stringify([seen, life.setup, lines])).not.toContain(CANARY);
  leg.stop('stopped');
  life.closed(false);
  expect(told.at(-1)).toEqual({ type: 'revoke', callUuid: setup.callUuid });
});
