import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OggError, OggOpusReader, opusPacketTicks, readOggOpus } from '../../../../media/audio/ogg-opus-reader.ts';
import { createOggOpusWriter } from '../../../../media/audio/ogg-opus-writer.ts';

const OPUSENC_HEAD_PAGE =
  '4f67675300020000000000000000850fd03d00000000adae513301134f7075734865616401013801401f0000000000';

/** First byte of a packet of one 20 ms SILK frame, stereo (RFC 6716 §3.1: configuration 1, s = 1, code 0). */
const TOC_20_MS = 0x0c;

function packetOf(lengthBytes: number, seed: number): Uint8Array {
  const packet = Uint8Array.from({ length: lengthBytes }, (_, i) => (seed * 31 + i * 7) & 0xff);
  packet[0] = TOC_20_MS;
  return packet;
}

function oggOf(packets: Uint8Array[], soundTicks: number, preSkipTicks = 312): Buffer {
  const pages: Buffer[] = [];
  const writer = createOggOpusWriter({
    channels: 2,
    preSkipTicks,
    inputRateHz: 8000,
    serial: 0xfedcba98,
    vendor: 'parley',
    comments: { TITLE: 'ä=b', CALL: '1' },
    write: (page) => pages.push(Buffer.from(page)),
  });
  for (const packet of packets) writer.addPacket(packet, 0, packet.length, 960);
  writer.finish(soundTicks);
  return Buffer.concat(pages);
}

const hundredPackets = Array.from({ length: 101 }, (_, i) => packetOf(20 + (i % 60), i));

describe('Ogg/Opus writer and reader', () => {
  it('gives back every packet, the exact length, head and tags; two header pages and 50 packets a page', () => {
    const got: Uint8Array[] = [];
    const facts = readOggOpus(oggOf(hundredPackets, 96000), (bytes, start, length) =>
      got.push(bytes.slice(start, start + length)),
    );
    expect(got).toEqual(hundredPackets);
    expect(facts).toEqual({
      channels: 2,
      preSkipTicks: 312,
      inputRateHz: 8000,
      vendor: 'parley',
      comments: { TITLE: 'ä=b', CALL: '1' },
      pages: 5,
      packets: 101,
      soundTicks: 96000,
    });
  });

  it('keeps packets of any size apart, sizes 254, 255, 256 and 510 included, read in pieces of any size', () => {
    const size = fc.oneof(fc.integer({ min: 1, max: 1275 }), fc.constantFrom(254, 255, 256, 509, 510, 511));
    fc.assert(
      fc.property(
        fc.array(size, { minLength: 1, maxLength: 120 }),
        fc.integer({ min: 1, max: 5000 }),
        (sizes, piece) => {
          const packets = sizes.map(packetOf);
          const file = oggOf(packets, sizes.length * 960 - 312);
          const got: Uint8Array[] = [];
          const reader = new OggOpusReader((bytes, start, length) => got.push(bytes.slice(start, start + length)));
          for (let at = 0; at < file.length; at += piece) reader.push(file.subarray(at, at + piece));
          expect(reader.finish().soundTicks).toBe(sizes.length * 960 - 312);
          expect(got).toEqual(packets);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('begins a new page when lacing values run out: one packet of 765 bytes (4 values), then 119 of 1275 (6)', () => {
    const packets = Array.from({ length: 120 }, (_, i) => packetOf(i === 0 ? 765 : 1275, i));
    const got: Uint8Array[] = [];
    const facts = readOggOpus(oggOf(packets, 114500), (bytes, start, length) =>
      got.push(bytes.slice(start, start + length)),
    );
    expect(got).toEqual(packets);
    expect(facts.pages).toBe(2 + 3);
  });

  it('writes the checksum of RFC 3533: a page from another tool’s file reads as intact', () => {
    // The head page that opusenc of opus-tools 0.2 wrote for a mono file of 8 kHz.
    const page = Buffer.from(OPUSENC_HEAD_PAGE, 'hex');
    const reader = new OggOpusReader();
    expect(() => reader.push(page)).not.toThrow();
    page[40] = page[40]! ^ 1;
    expect(() => new OggOpusReader().push(page)).toThrow(/wrong checksum/);
  });

  it('refuses a file in which any one byte differs', () => {
    const file = oggOf(hundredPackets.slice(0, 60), 57000);
    fc.assert(
      fc.property(fc.nat(file.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const damaged = Buffer.from(file);
        damaged[at] = damaged[at]! ^ change;
        expect(() => readOggOpus(damaged)).toThrow(OggError);
      }),
      { numRuns: 500 },
    );
  });

  it('refuses a file that is cut anywhere', () => {
    const file = oggOf(hundredPackets.slice(0, 60), 57000);
    for (let end = 0; end < file.length; end += 37) {
      expect(() => readOggOpus(file.subarray(0, end)), `cut at ${end}`).toThrow(OggError);
    }
  });

  it('refuses a missing page and a page after the end', () => {
    const file = oggOf(hundredPackets, 96000);
    const second = file.indexOf('OggS', 4);
    const third = file.indexOf('OggS', second + 4);
    const fourth = file.indexOf('OggS', third + 4);
    const without = Buffer.concat([file.subarray(0, third), file.subarray(fourth)]);
    expect(() => readOggOpus(without)).toThrow(/page 2 is missing/);
    expect(() => readOggOpus(Buffer.concat([file, file]))).toThrow(/follows the last/);
  });

  it('refuses to end with more sound than its packets hold, and counts 0 s of sound in one packet', () => {
    expect(() => oggOf(hundredPackets, 101 * 960 - 311)).toThrow(/cannot hold/);
    expect(readOggOpus(oggOf([packetOf(3, 1)], 0)).soundTicks).toBe(0);
  });

  it('holds granule positions beyond 32 bits (a stream of over 24 h)', () => {
    const pages: Buffer[] = [];
    const writer = createOggOpusWriter({
      channels: 1,
      preSkipTicks: 312,
      inputRateHz: 8000,
      serial: 1,
      vendor: '',
      comments: {},
      write: (page) => pages.push(Buffer.from(page)),
    });
    writer.addPacket(packetOf(5, 1), 0, 5, 2 ** 33);
    writer.finish(2 ** 33 - 312);
    expect(pages.at(-1)!.readBigUInt64LE(6)).toBe(2n ** 33n);
  });
});

describe('opusPacketTicks', () => {
  it.each([
    ['SILK 10 ms', [0 << 3], 480],
    ['SILK 60 ms', [3 << 3], 2880],
    ['hybrid 20 ms', [13 << 3], 960],
    ['CELT 2.5 ms', [16 << 3], 120],
    ['CELT 20 ms', [31 << 3], 960],
    ['two frames of 20 ms', [(1 << 3) | 1], 1920],
    ['six frames of 20 ms', [(1 << 3) | 3, 6], 5760],
    ['a count without its byte', [(1 << 3) | 3], 0],
    ['nothing', [], 0],
  ])('%s', (_name, bytes, ticks) => {
    expect(opusPacketTicks(Uint8Array.from(bytes), 0, bytes.length)).toBe(ticks);
  });
});
