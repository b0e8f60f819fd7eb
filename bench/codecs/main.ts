/**
 * `npm run bench -- codecs`: what a frame of 20 ms costs in base64 and G.711, ours beside what Node offers and beside
 * the reference figures of docs/decisions/frame-path.md. `warm`: over and over; `cold`: after 512 KiB of other memory
 * was touched, as sockets and other calls do between two frames of one call (the touching
 * itself is measured apart and taken off).
 */
import { decodeBase64, encodeBase64 } from '../../media/audio/base64.ts';
import { decodeAlaw, decodeMulaw, encodeAlaw, encodeMulaw } from '../../media/audio/g711.ts';
import { readOptions } from '../harness/options.ts';

readOptions({
  command: 'npm run bench -- codecs',
  about: 'base64 and G.711 beside Buffer and other ways.',
  options: {},
  meanings: {},
});
const FRAME_BYTES = 160;
const TEXT_BYTES = 216;
const WARM_ROUNDS = 300_000;
const COLD_ROUNDS = 4_000;
const REPETITIONS = 7;

const audio = new Uint8Array(FRAME_BYTES).map((_, i) => (i * 37) & 255);
const linear = new Int16Array(FRAME_BYTES).map((_, i) => Math.round(9000 * Math.sin(i / 3)));
const text = Buffer.from(audio).toString('base64');
/** As it lies in a message. */
const message = Buffer.from(`{"event":"media","media":{"payload":"${text}"}}`, 'latin1');
const at = message.indexOf(text);
const bytes = new Uint8Array(FRAME_BYTES);
const bytesBuffer = Buffer.from(bytes.buffer);
const outMessage = Buffer.alloc(TEXT_BYTES + 80);
const codes = new Uint8Array(FRAME_BYTES);
const samples = new Int16Array(FRAME_BYTES);
/** What is measured must be used. */
let sink = 0;

/** The standard's arithmetic without a table, sample by sample, as is often published. */
function arithmeticMulaw(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  let magnitude = Math.min(Math.abs(sample), 32_635) + 0x84;
  let exponent = 7;
  for (let mask = 0x4000; (magnitude & mask) === 0 && exponent > 0; mask >>= 1) exponent--;
  magnitude = (magnitude >> (exponent + 3)) & 0x0f;
  return ~(sign | (exponent << 4) | magnitude) & 0xff;
}

const WAYS: { group: string; name: string; run: () => void }[] = [
  {
    group: 'base64 → 160 bytes',
    name: 'ours, in the message',
    run: () => {
      sink += decodeBase64(message, at, at + TEXT_BYTES, bytes, 0);
    },
  },
  {
    group: 'base64 → 160 bytes',
    name: 'toString + Buffer.write',
    run: () => {
      sink += bytesBuffer.write(message.toString('latin1', at, at + TEXT_BYTES), 'base64');
    },
  },
  {
    group: 'base64 → 160 bytes',
    name: 'toString + Buffer.from',
    run: () => {
      sink += Buffer.from(message.toString('latin1', at, at + TEXT_BYTES), 'base64').length;
    },
  },
  {
    group: 'base64 → 160 bytes',
    name: 'JSON.parse + Buffer.from',
    run: () => {
      sink += Buffer.from(JSON.parse(message.toString()).media.payload, 'base64').length;
    },
  },
  {
    group: '160 bytes → base64',
    name: 'ours, into the message',
    run: () => {
      sink += encodeBase64(audio, 0, FRAME_BYTES, outMessage, 60);
    },
  },
  {
    group: '160 bytes → base64',
    name: 'toString + latin1 write',
    run: () => {
      sink += outMessage.write(bytesBuffer.toString('base64'), 60, 'latin1');
    },
  },
  {
    group: '160 bytes → base64',
    name: 'JSON.stringify of it all',
    run: () => {
      sink += JSON.stringify({ event: 'playAudio', media: { payload: bytesBuffer.toString('base64') } }).length;
    },
  },
  { group: 'mu-law → linear', name: 'ours', run: () => decodeMulaw(codes, 0, FRAME_BYTES, samples, 0) },
  { group: 'linear → mu-law', name: 'ours', run: () => encodeMulaw(linear, 0, FRAME_BYTES, codes, 0) },
  {
    group: 'linear → mu-law',
    name: 'arithmetic',
    run: () => {
      for (let i = 0; i < FRAME_BYTES; i++) codes[i] = arithmeticMulaw(linear[i]!);
    },
  },
  { group: 'A-law → linear', name: 'ours', run: () => decodeAlaw(codes, 0, FRAME_BYTES, samples, 0) },
  { group: 'linear → A-law', name: 'ours', run: () => encodeAlaw(linear, 0, FRAME_BYTES, codes, 0) },
];

const others = new Uint8Array(512 * 1024);
function touchOthers(): void {
  for (let i = 0; i < others.length; i += 64) others[i] = (others[i]! + 1) & 255;
}

/** µs of CPU for one round; the smallest of some repetitions, because whatever disturbs makes it longer. */
function microseconds(rounds: number, run: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < REPETITIONS; i++) {
    const before = process.cpuUsage();
    const beganAtMs = performance.now();
    for (let round = 0; round < rounds; round++) run();
    const { user, system } = process.cpuUsage(before);
    const wallMicros = (performance.now() - beganAtMs) * 1000;
    // Too short for the operating system's clock: then the wall's.
    least = Math.min(least, (user + system > 2000 ? Math.min(user + system, wallMicros) : wallMicros) / rounds);
  }
  return least;
}

const touchMicros = microseconds(COLD_ROUNDS, touchOthers);
console.log(`${''.padEnd(22)}${''.padEnd(28)} warm µs   cold µs`);
let group = '';
for (const way of WAYS) {
  const warm = microseconds(WARM_ROUNDS, way.run);
  const cold = microseconds(COLD_ROUNDS, () => {
    touchOthers();
    way.run();
  });
  const title = way.group === group ? '' : way.group;
  group = way.group;
  console.log(
    `${title.padEnd(22)}${way.name.padEnd(28)}${warm.toFixed(3).padStart(8)}${Math.max(0, cold - touchMicros)
      .toFixed(2)
      .padStart(10)}`,
  );
}
if (sink === 0) process.exit(1);
