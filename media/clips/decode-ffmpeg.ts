/**
 * Every other kind of sound → samples, by FFmpeg where it is installed, run through prism-media. A file may say
 * anything, so FFmpeg gets demuxers and protocols from lists: playlists (HLS, DASH, concat) are on neither, and nothing
 * but its standard input can be opened. Its time, memory and output are bounded. Called in the clip process only.
 */
import { readFile } from 'node:fs/promises';
import prism from 'prism-media';
import { LONGEST_CLIP_MS } from '../contract/clip.ts';
import { ClipRefused, tooLong } from './clip-refused.ts';

export const FFMPEG_RATE_HZ = 24_000;
/** Containers and raw streams of sound. None of them names another file. */
const DEMUXERS =
  'aac,ac3,aiff,amr,asf,au,caf,flac,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,mp3,ogg,w64,wav,wv,ape,tta,eac3,amrnb,amrwb';
/** Of sound: pictures and subtitles of a container are not decoded even to look at them. */
const DECODERS =
  'aac,aac_latm,ac3,eac3,alac,amrnb,amrwb,libopencore_amrnb,libopencore_amrwb,ape,flac,mp1,mp1float,mp2,mp2float,mp3,mp3float,opus,libopus,' +
  'vorbis,libvorbis,tta,wavpack,wmav1,wmav2,wmapro,wmalossless,adpcm_ms,adpcm_ima_wav,adpcm_ima_qt,gsm,gsm_ms,pcm_alaw,pcm_mulaw,pcm_s8,pcm_u8,' +
  'pcm_s16le,pcm_s16be,pcm_u16le,pcm_u16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be,pcm_f32le,pcm_f32be,pcm_f64le,pcm_f64be';
const CPU_SECONDS = 15;
const MOST_RESIDENT_BYTES = 512 * 1024 * 1024;
const LARGEST_ALLOCATION_BYTES = 128 * 1024 * 1024;
const WATCH_EVERY_MS = 50;
const PAGE_BYTES = 4096;
const LONGEST_WORDS = 4_000;

export interface FfmpegInput {
  file: Uint8Array;
  /** It has to be read out of order (MP4): then FFmpeg holds it in a nameless temporary file of its own. */
  seekable: boolean;
  /** What it is for, in the sentence that says that FFmpeg is missing. */
  why: string;
}

export async function decodeWithFfmpeg({ file, seekable, why }: FfmpegInput): Promise<Float32Array> {
  try {
    prism.FFmpeg.getInfo();
  } catch {
    throw new ClipRefused(
      `${why}, which takes FFmpeg, and that is not installed on this machine; send Ogg Opus, WebM Opus or WAV, or install ffmpeg`,
    );
  }
  const ffmpeg = new prism.FFmpeg({ args: argumentsOf(seekable) });
  // Its own process, which prism-media keeps; its types do not show it.
  const { process: child } = ffmpeg as unknown as { process: import('node:child_process').ChildProcess };
  const mostBytes = (LONGEST_CLIP_MS / 1000) * FFMPEG_RATE_HZ * 2;
  const pieces: Buffer[] = [];
  let bytes = 0;
  let words = '';
  let isTooLarge = false;
  const watch = setInterval(() => {
    residentBytes(child.pid).then(
      (resident) => {
        if (resident <= MOST_RESIDENT_BYTES) return;
        isTooLarge = true;
        child.kill('SIGKILL');
      },
      () => {},
    );
  }, WATCH_EVERY_MS);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.stderr?.on('data', (piece: Buffer) => {
        if (words.length < LONGEST_WORDS) words += piece.toString();
      });
      child.stdout?.on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (bytes > mostBytes) child.kill('SIGKILL');
        else pieces.push(piece);
      });
      // It may have had enough before it has read all.
      child.stdin?.on('error', () => {});
      ffmpeg.on('error', () => {});
      child.on('error', reject);
      child.on('close', resolve);
      child.stdin?.end(file);
    });
    if (bytes > mostBytes) throw tooLong();
    if (isTooLarge) throw new ClipRefused('reading it takes more memory than a clip may');
    if (code !== 0) throw new ClipRefused(`FFmpeg cannot read it${reasonIn(words)}`);
  } finally {
    clearInterval(watch);
  }
  const samples = Buffer.concat(pieces);
  return Float32Array.from({ length: Math.floor(samples.length / 2) }, (_, i) => samples.readInt16LE(2 * i) / 32_768);
}

function argumentsOf(seekable: boolean): string[] {
  return [
    ...['-nostdin', '-hide_banner', '-loglevel', 'error', '-threads', '1'],
    ...['-timelimit', String(CPU_SECONDS), '-max_alloc', String(LARGEST_ALLOCATION_BYTES)],
    ...['-protocol_whitelist', seekable ? 'cache,pipe' : 'pipe', '-format_whitelist', DEMUXERS],
    ...['-codec_whitelist', DECODERS],
    ...['-i', seekable ? 'cache:pipe:0' : 'pipe:0'],
    ...['-map', '0:a:0', '-vn', '-sn', '-dn', '-map_metadata', '-1'],
    // A little more than is taken: what is longer shows as longer.
    ...['-t', String(LONGEST_CLIP_MS / 1000 + 1), '-ac', '1', '-ar', String(FFMPEG_RATE_HZ), '-f', 's16le'],
  ];
}

/** Only Linux tells; elsewhere the limits on time and allocations hold. */
async function residentBytes(pid: number | undefined): Promise<number> {
  if (pid === undefined || process.platform !== 'linux') return 0;
  return Number((await readFile(`/proc/${pid}/statm`, 'latin1')).split(' ')[1]) * PAGE_BYTES;
}

/** FFmpeg's last complaint, without addresses of its memory. */
function reasonIn(words: string): string {
  const line = words
    .trim()
    .split('\n')
    .at(-1)
    ?.replace(/\[[^\]]*\]/g, '')
    .replace(/^\s*(?:cache:)?pipe:0?:?/, '')
    .trim();
  return line === undefined || line === '' ? '' : `: ${line.slice(0, 200)}`;
}
