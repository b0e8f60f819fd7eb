import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { vouchedByKey } from '../../../../../media/contract/vouched.ts';
import { laneOf } from '../../../../../media/io/request-room/lanes.ts';
import { type Place, RequestRoom } from '../../../../../media/io/request-room/request-room.ts';
import type { HeaderList, HttpExchange } from '../../../../../media/io/socket-server/http-exchange.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const CALLBACK = '/carriers/plivo/0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11/answer';
const EMBED = '/api/embed/session';
const KEY = 'Bearer sv_live_right';

type Asking = ReturnType<typeof setUp>['ask'];

function setUp(budgets = { addressRequests: 100, addressBodies: 20, keyRequests: 50, bodyMs: 5_000 }) {
  const clock = new VirtualClock();
  const lines: { address: string; budget: string; refused?: object }[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const room = new RequestRoom({ clock, log, budgets });
  const ask = (
    address: string,
    url: string,
    { method = 'GET', hasBody = false, key = '' }: { method?: string; hasBody?: boolean; key?: string } = {},
  ): { place: Place; refusal: string | null } => {
    const headers: HeaderList = key === '' ? [] : [['authorization', key]];
    const exchange = { method, url, headers, remoteAddress: address } as unknown as HttpExchange;
    const place = room.placeOf(exchange, hasBody);
    return { place, refusal: place.begin() };
  };
  const fill = (addresses: number, times: number, ...of: [string, Parameters<typeof ask>[2]?]): number => {
    let refused = 0;
    for (let at = 0; at < addresses; at++) {
      for (let time = 0; time < times; time++) {
        if (ask(`10.1.${at >> 8}.${at & 255}`, ...of).refusal !== null) refused++;
      }
    }
    return refused;
  };
  return { clock, lines, room, ask, fill };
}

describe('the lane of a request', () => {
  it.each([
    ['GET', '/livez', false, 'probe'],
    ['HEAD', '/readyz?x=1', false, 'probe'],
    ['GET', '/healthz', false, 'probe'],
    ['GET', '/livez', true, 'request'],
    ['POST', '/livez', false, 'request'],
    ['GET', '/livez/', false, 'request'],
    ['POST', CALLBACK, true, 'callback'],
    ['GET', `${CALLBACK}?a=b`, false, 'callback'],
    ['PUT', CALLBACK, true, 'request'],
    ['POST', '/carriers/plivo/x/answer', true, 'request'],
    ['POST', `${CALLBACK}/more`, true, 'request'],
    ['POST', EMBED, true, 'request'],
  ])('%s %s, with a body: %s, is %s', (method, url, hasBody, lane) =>
    expect(laneOf({ method, url }, hasBody)).toBe(lane),
  );
});

describe('the room for requests', () => {
  it('gives one address its hundred, everybody together 1,024, and says which of both it was', () => {
    const { room, ask, fill, lines } = setUp();
    expect(fill(1, 101, '/docs')).toBe(1);
    expect(lines).toMatchObject([{ address: '10.1.0.0', budget: 'requests' }]);
    expect(ask('192.0.2.1', '/docs').refusal).toBeNull();
    // The first of the twelve has its hundred already.
    expect(fill(12, 100, '/docs')).toBe(100 + 1_201 - 1_024);
    expect(ask('192.0.2.2', '/docs').refusal).toBe('room');
    expect(room.inUse().request).toBe(1_024);
  });

  it('has lanes beside it for probes and callbacks, of which one address has half at most', () => {
    const { ask, fill } = setUp();
    fill(20, 100, '/docs');
    expect(fill(1, 200, '/livez')).toBe(72);
    expect(fill(1, 200, CALLBACK)).toBe(72);
    expect(ask('192.0.2.1', '/livez').refusal).toBeNull();
    expect(ask('192.0.2.1', CALLBACK).refusal).toBeNull();
  });

  it('keeps a room for the keys and the carriers whom control has vouched for', () => {
    const { ask, fill } = setUp();
    const { place } = ask('192.0.2.1', '/api/developer/calls', { key: KEY });
    place.judged(200, vouchedByKey('acme'));
    place.release();
    const { place: callback } = ask('198.51.100.1', CALLBACK);
    callback.judged(200, 'carrier');
    callback.release();
    fill(20, 100, '/docs');
    fill(20, 100, CALLBACK);
    expect(ask('192.0.2.9', CALLBACK).refusal).toBe('room');
    expect(ask('198.51.100.1', CALLBACK).refusal).toBeNull();
    expect(ask('192.0.2.1', '/docs', { key: 'Bearer sv_live_wrong' }).refusal).toBe('room');
    const keyed = Array.from({ length: 51 }, () => ask('192.0.2.1', '/api/developer/calls', { key: KEY }));
    expect(keyed.map(({ refusal }) => refusal)).toEqual([...new Array<null>(50).fill(null), 'address']);
    // Revoked: it is a stranger again.
    keyed[0]!.place.judged(401, '');
    keyed[0]!.place.release();
    expect(ask('192.0.2.1', '/api/developer/calls', { key: KEY }).refusal).toBe('room');
  });

  describe('of 1,024 places, each workspace or carrier 512,', () => {
    const budgets = { addressRequests: 512, addressBodies: 128, keyRequests: 512, bodyMs: 5_000 };
    const known = (ask: Asking, key: string, workspace: string): void => {
      const { place } = ask('192.0.2.1', '/api/developer/calls', { key });
      place.judged(200, vouchedByKey(workspace));
      place.release();
    };
    const took = (ask: Asking, times: number, ...of: Parameters<Asking>): number =>
      Array.from({ length: times }, () => ask(...of)).filter(({ refusal }) => refusal === null).length;

    it.each([
      ['one key, however it is spelled', ['Bearer k', 'Bearer  k', 'bearer k', 'BEARER   k']],
      ['five keys of one workspace', ['Bearer a', 'Bearer b', 'Bearer c', 'Bearer d', 'Bearer e']],
    ])('%s, has 512, and leaves the rest to others', (_what, keys) => {
      const { room, ask } = setUp(budgets);
      for (const key of keys) known(ask, key, 'acme');
      known(ask, 'Bearer other', 'other');
      const taken = keys.map((key) => took(ask, 512, '192.0.2.1', '/docs', { key }));
      expect(taken.reduce((sum, one) => sum + one)).toBe(512);
      expect(room.inUse().request).toBe(0);
      expect(took(ask, 100, '198.51.100.1', '/docs', { key: 'Bearer other' })).toBe(100);
    });

    it('a key that is spelled in 10,000 ways makes no other forgotten', () => {
      const { room, ask } = setUp(budgets);
      known(ask, 'Bearer other', 'other');
      for (let blanks = 1; blanks <= 10_000; blanks++) known(ask, `Bearer${' '.repeat(blanks)}k`, 'acme');
      ask('198.51.100.1', '/docs', { key: 'Bearer other' });
      expect(room.inUse().key).toBe(1);
    });

    it.each([2, 5])('%i workspaces that take what they can get leave room for one more', (workspaces) => {
      const { ask } = setUp(budgets);
      for (let at = 0; at <= workspaces; at++) known(ask, `Bearer k${at}`, `w${at}`);
      for (let at = 0; at < workspaces; at++) took(ask, 512, '192.0.2.1', '/docs', { key: `Bearer k${at}` });
      expect(took(ask, 10, '192.0.2.1', '/docs', { key: `Bearer k${workspaces}` })).toBe(10);
    });

    it.each([1, 5])('%i addresses that have signed a callback leave room for the carriers', (addresses) => {
      const { ask } = setUp(budgets);
      const all = Array.from({ length: addresses + 1 }, (_, at) => `203.0.113.${at}`);
      for (const address of all) {
        const { place } = ask(address, CALLBACK);
        place.judged(200, 'carrier');
        place.release();
      }
      const [carrier = '', ...others] = all;
      for (const address of others) expect(took(ask, 1_024, address, CALLBACK)).toBeLessThanOrEqual(512);
      expect(took(ask, 10, carrier, CALLBACK)).toBe(10);
    });
  });

  it('gives a held-back body no place until it is whole, and a streamed one its place at once', () => {
    const { room, ask } = setUp();
    const { place } = ask('192.0.2.1', EMBED, { method: 'POST', hasBody: true });
    expect([place.waitsForBody, room.openBodies(), room.inUse().request]).toEqual([true, 1, 0]);
    expect(place.bodyIsWhole()).toBeNull();
    expect([room.openBodies(), room.inUse().request]).toEqual([0, 1]);
    place.release();
    place.release();
    const { place: streamed } = ask('192.0.2.1', '/api/outbound-call', { method: 'POST', hasBody: true });
    expect([streamed.waitsForBody, room.openBodies(), room.inUse().request]).toEqual([false, 1, 1]);
    streamed.release();
    expect([room.openBodies(), room.inUse().request]).toEqual([0, 0]);
  });

  it('cuts a slow body, gives back all that it held, and tells of it', () => {
    const { clock, room, ask, lines } = setUp();
    const { place } = ask('2001:db8::7', '/api/outbound-call', { method: 'POST', hasBody: true });
    const cuts: string[] = [];
    place.onCut = (why) => cuts.push(why);
    clock.advanceMs(5_000);
    expect([cuts, room.openBodies(), room.inUse().request]).toEqual([['slow'], 0, 0]);
    expect(lines).toMatchObject([{ address: '2001:db8:0:0::/64', budget: 'slow_body' }]);
  });

  it('an event stream gives its place to the next request', () => {
    const { room, ask, fill } = setUp();
    for (let at = 0; at < 100; at++) expect(ask('192.0.2.1', '/events').place.becomesStream()).toBeNull();
    expect(fill(1, 100, '/docs')).toBe(0);
    expect(ask('192.0.2.1', '/docs').refusal).toBeNull();
    expect(room.inUse()).toMatchObject({ stream: 100, request: 101 });
  });

  it('writes at most five lines a minute, however many are refused', () => {
    const { clock, fill, lines, room } = setUp();
    fill(20, 300, '/docs');
    expect(lines).toHaveLength(4);
    clock.advanceMs(60_000);
    expect(lines).toHaveLength(5);
    expect(lines[4]!.refused).toEqual(
      room.log.counts.room > 0 ? expect.objectContaining({ room: room.log.counts.room }) : {},
    );
    fill(1, 1, '/docs');
    expect(lines).toHaveLength(6);
  });
});
