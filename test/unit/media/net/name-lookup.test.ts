/** Names whose name server is silent must not take the process's threads: real questions, name servers on loopback. */
import { execFileSync } from 'node:child_process';
import { pbkdf2 } from 'node:crypto';
import dgram from 'node:dgram';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../../../../bench/harness/patience.ts';
import { createAddressGuard } from '../../../../media/net/address-guard.ts';
import { failureReason } from '../../../../media/net/failure-reason.ts';
import { createNameLookup, type NameLookupOptions } from '../../../../media/net/name-lookup.ts';
import { problemOfTarget } from '../../../../media/net/target-check.ts';
import { eventually } from '../../../support/eventually.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const A = 1;
const AAAA = 28;
const SERVER_FAILED = 2;
const NO_SUCH_NAME = 3;
type Answer = { rcode: number } | { record: Buffer | null } | null;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A name server on loopback; null is silence. `asked` counts the questions. */
async function nameServer(answer: (type: number) => Answer) {
  const socket = dgram.createSocket('udp4');
  const seen = { asked: 0, servers: [''] };
  socket.on('message', (question, from) => {
    seen.asked++;
    const end = question.indexOf(0, 12) + 5;
    const type = question.readUInt16BE(end - 4);
    const given = answer(type);
    if (given === null) return;
    const record = 'record' in given ? given.record : null;
    const head = Buffer.from(question.subarray(0, end));
    // A recursive server's answer, one question, our records, nothing else.
    head.writeUInt16BE(0x8180 | ('rcode' in given ? given.rcode : 0), 2);
    head.writeUInt16BE(record === null ? 0 : 1, 6);
    head.writeUInt16BE(0, 10);
    const fields = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, record?.length ?? 0]);
    socket.send(record === null ? head : Buffer.concat([head, fields, record]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  ends.push(() => socket.close());
  seen.servers = [`127.0.0.1:${socket.address().port}`];
  return seen;
}

/**
 * As getaddrinfo under a silent name server: each opens a pipe that nobody writes to, and holds a thread till the end.
 */
function silentSystem() {
  const folder = mkdtempSync(path.join(tmpdir(), 'name-lookup-'));
  const pipe = path.join(folder, 'pipe');
  execFileSync('sh', ['-c', 'mkfifo "$0"', pipe]);
  const held: Promise<unknown>[] = [];
  ends.push(async () => {
    const writer = openSync(pipe, constants.O_RDWR);
    await Promise.all(held);
    closeSync(writer);
    rmSync(folder, { recursive: true });
  });
  const askSystem = (): Promise<readonly string[]> => {
    const opened = open(pipe, 'r').then((file) => file.close());
    held.push(opened);
    return opened.then(() => []);
  };
  return { held, askSystem };
}

/** Its name server may answer as late as the machine likes. */
const lookupOf = (servers: readonly string[], askSystem: NonNullable<NameLookupOptions['askSystem']>) =>
  createNameLookup({ servers, askSystem, tryMs: PATIENCE_MS });
const waiting = (): AbortSignal => new AbortController().signal;
const derive = promisify(pbkdf2);

async function fortyChecks(url: (index: number) => string, resolveName: ReturnType<typeof createNameLookup>) {
  const clock = new VirtualClock();
  const deps = { guard: createAddressGuard([]), resolveName, clock };
  const checks = Array.from({ length: 40 }, (_, index) => problemOfTarget(url(index), deps));
  await new Promise(setImmediate);
  return { clock, checks };
}

/** A key and a file: each needs a thread. */
async function needThreads(): Promise<void> {
  expect(await derive('password', 'salt', 1, 16, 'sha256')).toHaveLength(16);
  expect((await stat(import.meta.filename)).isFile()).toBe(true);
}

describe('forty names', () => {
  it('whose name server is silent hold no thread', async () => {
    const server = await nameServer(() => null);
    const system = silentSystem();
    const resolveName = lookupOf(server.servers, system.askSystem);
    const { clock, checks } = await fortyChecks((index) => `https://hooks-${index}.example.com/`, resolveName);
    await needThreads();
    await eventually('80 questions', () => server.asked >= 80);
    clock.advanceMs(2_000);
    expect(await Promise.all(checks)).toEqual(Array(40).fill(null));
    expect(system.held).toHaveLength(0);
  });

  it('that DNS denies and the system does not answer hold one thread, those of one label another', async () => {
    const server = await nameServer(() => ({ rcode: NO_SUCH_NAME }));
    const system = silentSystem();
    const resolveName = lookupOf(server.servers, system.askSystem);
    const many = await fortyChecks((index) => `https://hooks-${index}.example.com/`, resolveName);
    const one = await fortyChecks((index) => `https://container-${index}/`, resolveName);
    await eventually('80 questions', () => server.asked >= 80);
    await eventually('two threads held', () => system.held.length === 2);
    await needThreads();
    for (const { clock, checks } of [many, one]) {
      clock.advanceMs(2_000);
      expect(await Promise.all(checks)).toEqual(Array(40).fill(null));
    }
    // Those that were given up in the line are never asked for.
    expect(system.held).toHaveLength(2);
  });
});

describe('one name', () => {
  const hosts = async (hostname: string): Promise<readonly string[]> => [`from the system: ${hostname}`];

  it('gives the addresses of both families, or of the one that answers', async () => {
    const v4 = Buffer.from([192, 0, 2, 7]);
    const v6 = Buffer.from('20010db8000000000000000000000007', 'hex');
    const both = await nameServer((type) => ({ record: type === AAAA ? v6 : v4 }));
    const only4 = await nameServer((type) => (type === A ? { record: v4 } : { rcode: SERVER_FAILED }));
    const only6 = await nameServer((type) => ({ record: type === AAAA ? v6 : null }));
    const ask = (servers: readonly string[]) => lookupOf(servers, hosts)('hooks.example.com', waiting());
    expect(await ask(both.servers)).toEqual(['192.0.2.7', '2001:db8::7']);
    expect(await ask(only4.servers)).toEqual(['192.0.2.7']);
    expect(await ask(only6.servers)).toEqual(['2001:db8::7']);
  });

  it('is looked for in the hosts file when DNS does not have it, and at once when it has one label', async () => {
    const server = await nameServer(() => ({ rcode: NO_SUCH_NAME }));
    const resolveName = lookupOf(server.servers, hosts);
    expect(await resolveName('localhost', waiting())).toEqual(['from the system: localhost']);
    expect(server.asked).toBe(0);
    expect(await resolveName('hooks.internal', waiting())).toEqual(['from the system: hooks.internal']);
    const nobodyThere = lookupOf(['127.0.0.1:1'], hosts);
    expect(await nobodyThere('hooks.internal', waiting())).toEqual(['from the system: hooks.internal']);
  });

  it('fails in the words of the system when its name server does', async () => {
    const server = await nameServer(() => ({ rcode: SERVER_FAILED }));
    const resolveName = lookupOf(server.servers, hosts);
    const reasonFor = (hostname: string) => resolveName(hostname, waiting()).then(() => 'an answer', failureReason);
    expect(await reasonFor('hooks.example.com')).toBe('its name could not be looked up at the moment (EAI_AGAIN)');
    expect(await reasonFor('a..b.example.com')).toBe('its name does not resolve (ENOTFOUND)');
  });

  it('is called off when nobody waits for it', async () => {
    const given = new AbortController();
    const server = await nameServer(() => {
      given.abort(new Error('given up'));
      return null;
    });
    const resolveName = lookupOf(server.servers, hosts);
    await expect(resolveName('hooks.example.com', given.signal)).rejects.toThrow('given up');
  });
});
