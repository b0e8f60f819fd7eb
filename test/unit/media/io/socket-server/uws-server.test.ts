import { expect, test } from 'vitest';
import { freePort } from '../../../../../bench/harness/free-port.ts';
import { chooseSocketServer } from '../../../../../media/io/socket-server/choose-server.ts';
import { loadUws } from '../../../../../media/io/socket-server/uws-server.ts';
import { runSocketServerConformance } from './conformance.ts';

const loaded = loadUws();
const key = `${process.platform}_${process.arch}_${process.versions.modules}`;

// Where no binary is pinned there is nothing to run; the `ws` suite is what counts there.
if (loaded.ok) runSocketServerConformance('uWebSockets.js', loaded.create);
else test.skip(`MediaSocketServer on uWebSockets.js: ${loaded.why}`, () => {});

test('a binary whose SHA-256 is not the pinned one is not loaded, and the reason names both', () => {
  const refused = loadUws({ [key]: 'f'.repeat(64) });
  expect(refused).toMatchObject({ ok: false });
  expect(refused.ok ? '' : refused.why).toMatch(/has SHA-256 [0-9a-f]{64}, not the pinned f{64}/);
});

test('a platform without a pinned checksum is refused', () => {
  expect(loadUws({})).toMatchObject({ ok: false, why: `no checksum is pinned for uWebSockets.js on ${key}` });
});

test('auto falls back to ws with the reason; uws that does not load throws; ws is taken when asked for', () => {
  const broken = () => ({ ok: false as const, why: 'no binary' });
  expect(chooseSocketServer('auto', broken)).toMatchObject({ kind: 'ws', why: 'no binary' });
  expect(() => chooseSocketServer('uws', broken)).toThrow(/"uws", but no binary; set it to "auto" or "ws"/);
  expect(chooseSocketServer('ws', broken).kind).toBe('ws');
  if (loaded.ok) expect(chooseSocketServer('auto').kind).toBe('uws');
});

test.runIf(loaded.ok)(
  '8 servers share one port: each is listening within 1 s, whichever the kernel gives a request to',
  async () => {
    if (!loaded.ok) return;
    const { create } = loaded;
    const servers = Array.from({ length: 8 }, () =>
      create({
        maxPendingUpgrades: 1,
        callbackFailed: () => {},
        routes: [],
        request: (exchange) => {
          exchange.respond(404, '', [], 0);
          exchange.end();
        },
      }),
    );
    try {
      // Of a port that it chose itself, uWebSockets.js keeps others out.
      const port = await freePort();
      const startedAtMs = performance.now();
      const ports = await Promise.all(servers.map((server) => server.listen('127.0.0.1', port)));
      expect(ports).toEqual(ports.map(() => port));
      expect(performance.now() - startedAtMs).toBeLessThan(1_000);
    } finally {
      for (const server of servers) server.close();
    }
  },
);
