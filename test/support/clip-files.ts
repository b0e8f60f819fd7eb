/**
 * Sound files as users bring them, made here: speech of the local voice as WAV, Ogg Opus and WebM Opus, and by FFmpeg
 * as anything else.
 */
import { spawnSync } from 'node:child_process';
import { createOggOpusWriter } from '../../media/audio/ogg-opus-writer.ts';
import { loadOpusCodec, MAX_OPUS_PACKET_BYTES } from '../../media/audio/opus-codec.ts';
import { WAV_HEADER_BYTES, writeWavHeader } from '../../media/audio/wav.ts';
import { FLITE_RATE_HZ, loadFliteVoice } from '../../media/engines/local/flite-voice.ts';

export const SPEECH_RATE_HZ = FLITE_RATE_HZ;
const FRAME_SAMPLES = SPEECH_RATE_HZ / 50;
const PRE_SKIP_TICKS = 312;

export const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0;

export async function speechOf(text: string, voice = 'slt'): Promise<Int16Array> {
  const flite = await loadFliteVoice();
  return flite.speak({ text, voice, isFirst: true, end: 'text' }).slice();
}

export function wavOf(samples: Int16Array, rateHz: number = SPEECH_RATE_HZ, channels = 1): Buffer {
  const wav = Buffer.alloc(WAV_HEADER_BYTES + samples.length * 2);
  writeWavHeader(wav, { codec: 'pcm_s16le', rateHz, channels, dataBytes: samples.length * 2 });
  samples.forEach((sample, i) => {
    wav.writeInt16LE(sample, WAV_HEADER_BYTES + 2 * i);
  });
  return wav;
}

export function oggOpusOf(samples: Int16Array): Buffer {
  const pages: Buffer[] = [];
  const packets = opusPacketsOf(samples);
  const ogg = createOggOpusWriter({
    channels: 1,
    preSkipTicks: PRE_SKIP_TICKS,
    inputRateHz: SPEECH_RATE_HZ,
    serial: 7,
    vendor: 'test',
    comments: {},
    write: (page) => pages.push(Buffer.from(page)),
  });
  for (const packet of packets) ogg.addPacket(packet, 0, packet.length, 960);
  ogg.finish(packets.length * 960 - PRE_SKIP_TICKS);
  return Buffer.concat(pages);
}

/** As a browser's MediaRecorder writes it: segment and cluster of open size, simple blocks. */
export function webmOpusOf(samples: Int16Array, trackExtra: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(19);
  head.write('OpusHead', 'latin1');
  head[8] = 1;
  head[9] = 1;
  head.writeUInt16LE(PRE_SKIP_TICKS, 10);
  head.writeUInt32LE(SPEECH_RATE_HZ, 12);
  const track = Buffer.concat([
    element('d7', Buffer.from([1])),
    element('83', Buffer.from([2])),
    element('86', Buffer.from('A_OPUS')),
    element('63a2', head),
    trackExtra,
  ]);
  const blocks = opusPacketsOf(samples).map((packet, i) => {
    const at = Buffer.alloc(4);
    at[0] = 0x81;
    at.writeInt16BE(i * 20, 1);
    at[3] = 0x80;
    return element('a3', Buffer.concat([at, packet]));
  });
  return Buffer.concat([
    element('1a45dfa3', element('4282', Buffer.from('webm'))),
    Buffer.from('1853806701ffffffffffffff', 'hex'),
    element('1654ae6b', element('ae', track)),
    Buffer.from('1f43b67501ffffffffffffff', 'hex'),
    element('e7', Buffer.from([0])),
    ...blocks,
  ]);
}

export function element(idHex: string, data: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(0x10000000 | data.length);
  return Buffer.concat([Buffer.from(idHex, 'hex'), size, data]);
}

/** Null where FFmpeg cannot make it. */
export function byFfmpeg(wav: Buffer, ...output: string[]): Buffer {
  const made = spawnSync('ffmpeg', ['-v', 'error', '-i', 'pipe:0', ...output, 'pipe:1'], {
    input: wav,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (made.status !== 0) throw new Error(`ffmpeg ${output.join(' ')}: ${made.stderr}`);
  return made.stdout;
}

/** What FFmpeg's own EBU R 128 meter says of a WAV. */
export function ffmpegLufs(wav: Uint8Array): number {
  const args = ['-nostats', '-hide_banner', '-i', 'pipe:0', '-af', 'ebur128', '-f', 'null', '-'];
  const { stderr } = spawnSync('ffmpeg', args, { input: wav, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return Number(/Integrated loudness:\s+I:\s+(-?[\d.]+) LUFS/.exec(stderr)?.[1] ?? Number.NaN);
}

function opusPacketsOf(samples: Int16Array): Buffer[] {
  const encoder = loadOpusCodec().createEncoder({
    rateHz: SPEECH_RATE_HZ,
    channels: 1,
    bitsPerSec: 32_000,
    complexity: 5,
  });
  const packet = new Uint8Array(MAX_OPUS_PACKET_BYTES);
  const packets: Buffer[] = [];
  const frame = new Int16Array(FRAME_SAMPLES);
  for (let at = 0; at < samples.length + FRAME_SAMPLES; at += FRAME_SAMPLES) {
    frame.fill(0);
    frame.set(samples.subarray(at, at + FRAME_SAMPLES));
    packets.push(Buffer.from(packet.subarray(0, encoder.encode(frame, packet, 0))));
  }
  encoder.close();
  return packets;
}
