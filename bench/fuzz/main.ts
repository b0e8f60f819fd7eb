/**
 * `npm run bench -- fuzz [--messages 1000000] [--seed N] [--subjects uws,ws]`: mutated WebSocket messages at a media process, over
 * both socket servers, while an honest call goes on beside them. Fails when the process dies, the honest call is disturbed,
 * or memory keeps growing. Prints the seed.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { connect } from 'node:net';
import { parseArgs } from 'node:util';
import { MediaSocketClient } from '../calls/media-socket-client.ts';
import { type Subject, startMediaProcess } from '../calls/subjects.ts';
import { residentBytes } from '../calls/thread-cpu.ts';
import { createMutator } from './mutator.ts';

/** Few, because a stream is cut at its first message that is no JSON: what follows it on that socket is not read. */
const MESSAGES_PER_SOCKET = 8;
const SOCKETS_AT_ONCE = 8;
const SOCKET_LIMIT_MS = 5_000;
/** Honest audio may stand still this long while eight sockets flood a busy machine. */
const MAX_GAP_MS = 1_000;
const MAX_GROWTH_BYTES = 64 * 1024 * 1024;
const HONEST_PAYLOAD = Buffer.alloc(160, 0xff).toString('base64');

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    subjects: { type: 'string', default: 'uws,ws' },
  },
});
const messages = Number(values.messages);
const seed = Number(values.seed);

/** Dials with a token of its own, floods, and resolves with the messages that were written when the socket is gone. */
function attack(subject: Subject, socketSeed: number): Promise<number> {
  return new Promise((done) => {
    const { hostname, port, pathname, host } = new URL(subject.urlPrefix);
    const callId = `fuzz-${String(socketSeed).padStart(16, '0')}`;
    const mutator = createMutator(socketSeed, callId);
    let written = 0;
    const socket = connect({ host: hostname, port: Number(port) });
    const limit = setTimeout(() => socket.destroy(), SOCKET_LIMIT_MS);
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(limit);
      done(written);
    });
    socket.once('connect', () =>
      socket.write(
        `GET ${pathname}${callId} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
      ),
    );
    socket.once('data', () => {
      const flood: Buffer[] = [];
      for (let i = 0; i < MESSAGES_PER_SOCKET; i++) flood.push(mutator.frame(mutator.message()));
      written = flood.length;
      socket.end(Buffer.concat(flood));
      socket.resume();
    });
  });
}

async function fuzz(subject: Subject): Promise<string[]> {
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

  let sent = 0;
  let sockets = 0;
  let steadyBytes = 0;
  const worker = async (): Promise<void> => {
    while (sent < messages) {
      const written = await attack(subject, seed + sockets++);
      sent += written;
      // The first tenth fills pools and caches.
      if (steadyBytes === 0 && sent > messages / 10) steadyBytes = residentBytes(subject.pid);
    }
  };
  await Promise.all(Array.from({ length: SOCKETS_AT_ONCE }, worker));
  const seconds = (performance.now() - beganAtMs) / 1000;
  clearInterval(speaking);
  const wasClosed = closed;
  honest.close();
  const grownBytes = residentBytes(subject.pid) - steadyBytes;
  console.log(
    `${subject.name}: ${sent} messages on ${sockets} sockets in ${seconds.toFixed(0)} s; longest gap of the honest call ${longestGapMs.toFixed(0)} ms; ${(grownBytes / 1e6).toFixed(1)} MB grown after the first tenth`,
  );
  const faults: string[] = [];
  if (wasClosed) faults.push('the honest call was closed');
  if (longestGapMs > MAX_GAP_MS) faults.push(`the honest call heard nothing for ${longestGapMs.toFixed(0)} ms`);
  if (grownBytes > MAX_GROWTH_BYTES) faults.push(`memory grew by ${(grownBytes / 1e6).toFixed(1)} MB`);
  return faults;
}

console.log(`seed ${seed}`);
let failed = false;
for (const name of values.subjects.split(',')) {
  const subject = await startMediaProcess(name === 'ws' ? 'ws' : 'uws', 1, 'fatal');
  try {
    for (const fault of await fuzz(subject)) {
      failed = true;
      console.log(`FAILED ${subject.name}: ${fault}`);
    }
    process.kill(subject.pid, 0);
  } catch (error) {
    failed = true;
    console.log(`FAILED ${subject.name}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await subject.stop();
  }
}
process.exit(failed ? 1 : 0);
