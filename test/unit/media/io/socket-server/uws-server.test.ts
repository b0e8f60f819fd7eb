import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
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

const folder = mkdtempSync(join(tmpdir(), 'parley-uws-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * A copy of the package, whose entry and whose `uws.js` both plant a marker; returns its binary
 * and where to import it from.
 */
function plantedPackage(name: string): { binary: string; from: URL } {
  const home = join(folder, name, 'node_modules', 'uWebSockets.js');
  mkdirSync(home, { recursive: true });
  const binary = join(home, `uws_${key}.node`);
  copyFileSync(join(dirname(createRequire(import.meta.url).resolve('uWebSockets.js')), `uws_${key}.node`), binary);
  for (const script of ['uws.js', 'entry.js']) writeFileSync(join(home, script), 'globalThis.plantedInUws = true;');
  writeFileSync(
    join(home, 'package.json'),
    JSON.stringify({ name: 'uwebsockets', version: '3.0.6', main: 'entry.js' }),
  );
  return { binary, from: pathToFileURL(join(folder, name, 'main.js')) };
}

test.runIf(loaded.ok)('scripts of the package never run, and the binary serves without them', async () => {
  const { from } = plantedPackage('scripts');
  const planted = loadUws(undefined, from);
  if (!planted.ok) throw new Error(planted.why);
  const server = planted.create({
    maxPendingUpgrades: 1,
    callbackFailed: () => {},
    routes: [],
    request: (exchange) => {
      exchange.respond(204, '', [], 0);
      exchange.end();
    },
  });
  const port = await server.listen('127.0.0.1', 0);
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(204);
  server.close();
  expect('plantedInUws' in globalThis).toBe(false);
});

test.runIf(loaded.ok)('a binary with one byte more is refused, and auto takes ws and says why', () => {
  const { binary, from } = plantedPackage('binary');
  appendFileSync(binary, '0');
  const chosen = chooseSocketServer('auto', () => loadUws(undefined, from));
  expect(chosen.kind).toBe('ws');
  expect(chosen.why).toContain(`${binary} has SHA-256`);
});

test('a package that is not there is refused, and the reason says what to do', () => {
  const nowhere = loadUws({ [key]: 'f'.repeat(64) }, pathToFileURL(join(folder, 'nowhere', 'main.js')));
  expect(nowhere).toMatchObject({ ok: false, why: 'uWebSockets.js is not installed: install the packages' });
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
  '8 servers share one port: each gets the request that it makes to itself, whichever the kernel gives those of the port to',
  async () => {
    if (!loaded.ok) return;
    const { create } = loaded;
    let strays = 0;
    const servers = Array.from({ length: 8 }, () =>
      create({
        maxPendingUpgrades: 1,
        callbackFailed: () => {},
        routes: [],
        request: (exchange) => {
          strays++;
          exchange.respond(404, '', [], 0);
          exchange.end();
        },
      }),
    );
    try {
      // Of a port that it chose itself, uWebSockets.js keeps others out.
      const port = await freePort();
      const ports = await Promise.all(servers.map((server) => server.listen('127.0.0.1', port)));
      expect(ports).toEqual(ports.map(() => port));
      expect(strays).toBe(0);
    } finally {
      for (const server of servers) server.close();
    }
  },
);
