/**
 * `npm run fault -- fuzz [--messages 1000000] [--seed N] [--subjects uws,ws] [--at media,live]`: mutated WebSocket
 * messages at a media process, as a carrier's stream and as a page's session, over both socket servers, while an honest
 * call goes on beside them. Fails when the process dies, an upgrade is answered 5xx, the honest call is disturbed, or
 * memory keeps growing. Prints the seed.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { connect } from 'node:net';
import { MediaSocketClient } from '../../../bench/calls/media-socket-client.ts';
import { BENCH_ORIGIN } from '../../../bench/calls/stub-control.ts';
import { type Subject, startMediaProcess } from '../../../bench/calls/subjects.ts';
import { residentBytes } from '../../../bench/calls/thread-cpu.ts';
import { readNames, readOptions } from '../../../bench/harness/options.ts';
import { LiveClient } from '../../../bench/live-client/live-client.ts';
import { CARRIER_MESSAGES, createMutator, LIVE_MESSAGES } from './mutator.ts';

/** Few, because a stream is cut at its first message that is no JSON: what follows it on that socket is not read. */
const MESSAGES_PER_SOCKET = 8;
const SOCKETS_AT_ONCE = 8;
const SOCKET_LIMIT_MS = 5_000;
/** Honest audio may stand still this long while eight sockets flood a busy machine. */
const MAX_GAP_MS = 1_000;
const MAX_GROWTH_BYTES = 64 * 1024 * 1024;
/** Of a web session, and a little. */
const RESUME_WINDOW_MS = 33_000;
const HONEST_PAYLOAD = Buffer.alloc(160, 0xff).toString('base64');

const { values } = readOptions({
  command: 'npm run fault -- fuzz',
  about: 'Mutated WebSocket messages at both socket servers.',
  options: {
    messages: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    subjects: { type: 'string', default: 'uws,ws' },
    at: { type: 'string', default: 'media,live' },
    log: { type: 'string', default: 'fatal' },
  },
  meanings: {
    messages: '<N> messages',
    seed: '<N> the same mutations again',
    subjects: '<list> of uws, ws',
    at: '<list> of media, live',
    log: '<level> of the process under attack',
  },
});
const messages = Number(values.messages);
const seed = Number(values.seed);
const subjects = readNames('subjects', values.subjects, ['uws', 'ws']);
const DOORS = ['media', 'live'] as const;
type Door = (typeof DOORS)[number];
const doors = readNames('at', values.at, DOORS);

/** Upgrades that were answered with a fault of ours. */
let serverFaults = 0;
const errors = new Map<string, number>();

/** Dials with a token of its own, floods, and resolves with the messages that were written when the socket is gone. */
function attack(subject: Subject, door: Door, socketSeed: number): Promise<number> {
  return new Promise((done) => {
    const { hostname, port, pathname, host } = new URL(subject.urlPrefix);
    const callId = `fuzz-${String(socketSeed).padStart(16, '0')}`;
    const isLive = door === 'live';
    const target = isLive ? `/ws/live?token=${callId}&parentOrigin=${BENCH_ORIGIN}` : `${pathname}${callId}`;
    const mutator = createMutator(socketSeed, callId, {
      messages: isLive ? LIVE_MESSAGES : CARRIER_MESSAGES,
      binaryShare: isLive ? 0.3 : 0.1,
    });
    let written = 0;
    const socket = connect({ host: hostname, port: Number(port) });
    const limit = setTimeout(() => socket.destroy(), SOCKET_LIMIT_MS);
    socket.on('error', (error: NodeJS.ErrnoException) =>
      errors.set(error.code ?? '', (errors.get(error.code ?? '') ?? 0) + 1),
    );
    socket.on('close', () => {
      clearTimeout(limit);
      done(written);
    });
    socket.once('connect', () =>
      socket.write(
        `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
      ),
    );
    socket.once('data', (answer) => {
      if (/^HTTP\/1\.1 5/.test(answer.toString('latin1'))) serverFaults++;
      const flood: Buffer[] = [];
      for (let i = 0; i < MESSAGES_PER_SOCKET; i++) flood.push(mutator.frame(mutator.message()));
      // A session that is not ended stands still for 30 s, for its page to come back: thousands would measure that and
      // no leak.
      if (isLive) flood.push(mutator.whole(Buffer.from('{"type":"session.end"}')));
      written = flood.length;
      socket.end(Buffer.concat(flood));
      socket.resume();
    });
  });
}

/** A call beside the fuzz. `isClosed`: it was ended, which nobody asked for. */
interface Honest {
  longestGapMs(): number;
  isClosed(): boolean;
  /** The last that it was told. */
  lastWords(): string;
  close(): void;
}

async function honestPage(subject: Subject): Promise<Honest> {
  const { host } = new URL(subject.urlPrefix);
  const client = new LiveClient({ baseUrl: `http://${host}`, token: 'honest', parentOrigin: BENCH_ORIGIN });
  await client.waitForType('session.ready');
  client.begin();
  let seenBytes = 0;
  let lastHeardAtMs = performance.now();
  let longestGapMs = 0;
  const watch = setInterval(() => {
    const nowMs = performance.now();
    if (client.bytesReceived > seenBytes) lastHeardAtMs = nowMs;
    seenBytes = client.bytesReceived;
    longestGapMs = Math.max(longestGapMs, nowMs - lastHeardAtMs);
  }, 20);
  return {
    longestGapMs: () => longestGapMs,
    isClosed: () => client.closeCode !== 0,
    lastWords: () => `${client.closeCode} ${JSON.stringify(client.messages.at(-1))}`,
    close() {
      clearInterval(watch);
      client.send({ type: 'session.end' });
    },
  };
}

async function honestCall(subject: Subject): Promise<Honest> {
  let lastHeardAtMs = performance.now();
  let longestGapMs = 0;
  let closed = false;
  let opened: () => void = () => {};
  const open = new Promise<void>((done) => {
    opened = done;
  });
  const honest = new MediaSocketClient(
    `${subject.urlPrefix}honest-0000000000000001`,
    'honest-0000000000000001',
    HONEST_PAYLOAD,
    {
      onOpen: () => opened(),
      onMessage(_bytes, _start, _end, atMs) {
        longestGapMs = Math.max(longestGapMs, atMs - lastHeardAtMs);
        lastHeardAtMs = atMs;
      },
      onClose: () => {
        closed = true;
      },
    },
  );
  await open;
  honest.start();
  const beganAtMs = performance.now();
  const speaking = setInterval(() => honest.sendFrame(performance.now() - beganAtMs), 20);
  return {
    longestGapMs: () => longestGapMs,
    isClosed: () => closed,
    lastWords: () => '',
    close() {
      clearInterval(speaking);
      honest.close();
    },
  };
}

async function fuzz(subject: Subject, door: Door): Promise<string[]> {
  serverFaults = 0;
  const honest = await (door === 'live' ? honestPage(subject) : honestCall(subject));
  const beganAtMs = performance.now();

  let sent = 0;
  let sockets = 0;
  const samples: string[] = [];
  const sampler = setInterval(() => samples.push(`${sent}:${(residentBytes(subject.pid) / 1e6).toFixed(0)}`), 4_000);
  /** Floods until so many were sent, and waits until nothing of it can be left. */
  const wave = async (untilSent: number): Promise<number> => {
    const worker = async (): Promise<void> => {
      while (sent < untilSent) {
        const written = await attack(subject, door, seed + sockets++);
        sent += written;
      }
    };
    await Promise.all(Array.from({ length: SOCKETS_AT_ONCE }, worker));
    // Sessions whose frames were broken are held for their page.
    if (door === 'live') await new Promise((done) => setTimeout(done, RESUME_WINDOW_MS));
    return residentBytes(subject.pid);
  };
  // The first third fills pools and caches, and takes what the sessions of a flood of this size take; the others may
  // take no more.
  const steadyBytes = await wave(messages / 3);
  await wave((messages * 2) / 3);
  const grownBytes = (await wave(messages)) - steadyBytes;
  clearInterval(sampler);
  console.log(`messages:resident MB ${samples.join(' ')}; errors at our sockets: ${[...errors].join(' ') || 'none'}`);
  const seconds = (performance.now() - beganAtMs) / 1000;
  const wasClosed = honest.isClosed();
  const longestGapMs = honest.longestGapMs();
  honest.close();
  console.log(
    `${subject.name} /${door}: ${sent} messages on ${sockets} sockets in ${seconds.toFixed(0)} s; longest gap of the honest call ${longestGapMs.toFixed(0)} ms; ${(grownBytes / 1e6).toFixed(1)} MB grown from the end of the first third to that of the last`,
  );
  const faults: string[] = [];
  if (serverFaults > 0) faults.push(`${serverFaults} upgrades were answered with a fault of ours`);
  if (wasClosed) faults.push(`the honest call was closed: ${honest.lastWords()}`);
  if (longestGapMs > MAX_GAP_MS) faults.push(`the honest call heard nothing for ${longestGapMs.toFixed(0)} ms`);
  if (grownBytes > MAX_GROWTH_BYTES) faults.push(`memory grew by ${(grownBytes / 1e6).toFixed(1)} MB`);
  return faults;
}

console.log(`seed ${seed}`);
let failed = false;
for (const name of subjects) {
  for (const door of doors) {
    const subject = await startMediaProcess(name, 1, values.log === 'warn' ? 'warn' : 'fatal');
    try {
      for (const fault of await fuzz(subject, door)) {
        failed = true;
        console.log(`FAILED ${subject.name} /${door}: ${fault}`);
      }
      process.kill(subject.pid, 0);
    } catch (error) {
      failed = true;
      console.log(`FAILED ${subject.name} /${door}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      await subject.stop();
    }
  }
}
process.exit(failed ? 1 : 0);
