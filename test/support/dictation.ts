/**
 * An ear that is not ours: Debian's pocketsphinx with its free-dictation model. It knows nothing of an agent's phrases,
 * so what it writes down was really audible. Needs the packages `pocketsphinx` and `pocketsphinx-en-us`.
 */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const MODEL = '/usr/share/pocketsphinx/model/en-us';
const WAV_HEADER_BYTES = 44;

export function canDictate(): boolean {
  return existsSync(`${MODEL}/en-us.lm.bin`) && spawnSync('sh', ['-c', 'command -v pocketsphinx_batch']).status === 0;
}

/** Lower-case words heard in mono PCM at 16 kHz, in order. Telephone band; normalised over the whole utterance. */
export async function dictate(samples16k: Int16Array): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-dictation-'));
  try {
    const pcm = Buffer.from(samples16k.buffer, samples16k.byteOffset, samples16k.byteLength);
    writeFileSync(join(folder, 'speech.wav'), Buffer.concat([Buffer.alloc(WAV_HEADER_BYTES), pcm]));
    writeFileSync(join(folder, 'list'), 'speech\n');
    const args = {
      '-adcin': 'yes',
      '-adchdr': String(WAV_HEADER_BYTES),
      '-cepdir': folder,
      '-cepext': '.wav',
      '-ctl': join(folder, 'list'),
      '-hyp': join(folder, 'heard'),
      '-hmm': `${MODEL}/en-us`,
      '-lm': `${MODEL}/en-us.lm.bin`,
      '-dict': `${MODEL}/cmudict-en-us.dict`,
      '-cmn': 'batch',
      '-remove_noise': 'no',
      '-lowerf': '130',
      '-upperf': '3700',
    };
    // It logs much; and the event loop goes on, because the caller's sockets must not grow stale meanwhile.
    await promisify(execFile)('pocketsphinx_batch', Object.entries(args).flat(), { maxBuffer: 64 * 1024 * 1024 });
    const line = readFileSync(join(folder, 'heard'), 'utf8');
    return line
      .replace(/\(speech\b.*$/s, '')
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Share (0–1) of the words of `text` that were heard, each heard word counting once. */
export function heardShare(text: string, heard: readonly string[]): number {
  const words = text.toLowerCase().match(/[a-z']+/g) ?? [];
  const left = [...heard];
  const found = words.filter((word) => {
    const at = left.indexOf(word);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
  return words.length === 0 ? 0 : found.length / words.length;
}
