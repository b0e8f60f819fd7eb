import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { watchForProxy } from '../../../../media/io/proxy-watch.ts';
import { createClientAddresses } from '../../../../media/io/socket-server/client-address.ts';
import type { HeaderList } from '../../../../media/io/socket-server/http-exchange.ts';
import { checkClientAddresses } from '../../../../src/doctor/proxy-check.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-proxy-watch-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'proxy-seen.json');
const FORWARDED: HeaderList = [['x-forwarded-for', '198.51.100.7']];

function watching(cidrs: string[]) {
  rmSync(file, { force: true });
  const lines: object[] = [];
  const watched = watchForProxy(createClientAddresses({ cidrs, header: 'auto' }), {
    log: { warn: (fields: object) => void lines.push(fields) } as never,
    file,
  });
  return { lines, of: (peer: string, headers: HeaderList) => watched.of(peer, headers) };
}

const doctor = (trustedProxies: string[], publicUrl = 'http://voice.example.com') =>
  checkClientAddresses({ runDir: folder, trustedProxies, publicUrl })[0]!;

test.each([
  ['127.0.0.1', FORWARDED, 'x-forwarded-for'],
  ['::ffff:172.17.0.1', [['forwarded', 'for=a']] as HeaderList, 'forwarded'],
  ['fd00::5', [['via', '1.1 caddy']] as HeaderList, 'via'],
])('a proxy at %s that is not trusted is told once, in the log and by the doctor', (peer, headers, header) => {
  const { lines, of } = watching(['10.0.0.0/8']);
  expect(doctor(['10.0.0.0/8'])).toMatchObject({ level: 'ok', detail: expect.stringContaining('10.0.0.0/8') });
  for (let i = 0; i < 3; i++) expect(of(peer, headers)).not.toBe('198.51.100.7');
  expect(lines).toEqual([{ peer: peer.replace('::ffff:', ''), header }]);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(lines[0]);
  expect(doctor(['10.0.0.0/8'])).toMatchObject({
    level: 'warn',
    detail: expect.stringContaining(`with the header ${header}`),
    wayOut: expect.stringContaining('TRUSTED_PROXIES (now 10.0.0.0/8)'),
  });
});

test('a trusted proxy, a client of it on the same network, a direct client and one from afar are none', () => {
  const { lines, of } = watching(['10.0.0.5/32']);
  expect(of('10.0.0.5', [['x-forwarded-for', '10.0.0.77']])).toBe('10.0.0.77');
  expect(of('127.0.0.1', [['host', 'a']])).toBe('127.0.0.1');
  expect(of('203.0.113.5', FORWARDED)).toBe('203.0.113.5');
  expect(lines).toEqual([]);
  expect(existsSync(file)).toBe(false);
  expect(doctor([])).toMatchObject({ level: 'ok', detail: expect.stringContaining('TRUSTED_PROXIES is not set') });
  const secure = 'https://voice.example.com';
  expect(doctor([], secure)).toMatchObject({ level: 'warn', wayOut: expect.stringContaining('TRUSTED_PROXIES') });
  expect(doctor(['10.0.0.5/32'], secure)).toMatchObject({ level: 'ok' });
});

test('a folder that is gone costs no request', () => {
  const { lines } = watching([]);
  const watched = watchForProxy(createClientAddresses({ cidrs: [], header: 'auto' }), {
    log: { warn: (fields: object) => void lines.push(fields) } as never,
    file: join(folder, 'gone', 'x.json'),
  });
  expect(watched.of('127.0.0.1', FORWARDED)).toBe('127.0.0.1');
  expect(lines).toHaveLength(2);
});
