/**
 * Speech that is worth keeping: greetings, rendered while the phone rings, so that the agent's first word need not wait
 * for a voice engine, and whatever a script says without placeholders, which is the same in every call. In memory for
 * this thread, and on disk for the others and for the next start: `<directory>/<sha-256 of text, voice and
 * codec>.speech`, written to a temporary file and renamed. A call that begins while its greeting still renders plays
 * from the rendering itself. Both are bounded in number and bytes; the longest unused go. Greetings hold names: neither
 * the text nor anything audible is in the file. It is encrypted under a key made of the text itself, so that who does
 * not know what was said cannot find out by listening.
 *
 *   file:  nonce (12) │ tag (16) │ AES-256-GCM of
 *          {"version":1,"frameBytes":160,"frames":N,"words":[[charStart,charEnd,startMs,endMs],…]}\n
 *          N × frameBytes of audio
 */
import { createCipheriv, createDecipheriv, createHash, createHmac } from 'node:crypto';
import type { Logger } from 'pino';
import type { Clock } from '../../contract/clock.ts';
import type { TextToSpeech } from '../../contract/engines.ts';
import { GreetingFiles, type SpeechStore } from './greeting-files.ts';
import { RenderedSpeech } from './rendered-speech.ts';
import { type RenderRequest, renderSpeech } from './speech-renderer.ts';

/** Raise when rendering or the file's layout changes: old files are then not found. */
const VERSION = 2;
const MOST_IN_MEMORY = 128;
/** Of one thread, about an hour of a telephone's speech. */
const MOST_MEMORY_BYTES = 32 * 1024 * 1024;

interface FileHeader {
  version: number;
  frameBytes: number;
  frames: number;
  words: [number, number, number, number][];
}

export interface GreetingCacheOptions {
  /** A folder, which is made when the first speech is kept; or another place. */
  directory: string | SpeechStore;
  clock: Clock;
  logger: Logger;
  textToSpeech: TextToSpeech;
  /** Whose voices it keeps: those of two engines may have the same names. Default: the local one. */
  engine?: string;
  mostMemoryBytes?: number;
  /** Of the folder. Default 256 MiB. */
  mostDiskBytes?: number;
}

export class GreetingCache {
  readonly #options: GreetingCacheOptions;
  /** Oldest use first. */
  readonly #memory = new Map<string, RenderedSpeech>();
  readonly #writing = new Set<Promise<void>>();
  readonly #store: SpeechStore;
  /** Stands before the voice in every key. */
  readonly #engine: string;

  constructor(options: GreetingCacheOptions) {
    this.#options = options;
    const { directory, clock, mostDiskBytes, engine = 'local' } = options;
    // Files of the local voice keep the names that they have.
    this.#engine = engine === 'local' ? '' : `${engine} `;
    this.#store = typeof directory === 'string' ? new GreetingFiles(directory, clock, mostDiskBytes) : directory;
  }

  /**
   * The speech, perhaps still growing: from memory at once, else from disk, else rendered now. With `hurry` the disk is
   * not asked for what is not known to be there: a caller listens. Never rejects.
   */
  obtain(request: RenderRequest, hurry = false): RenderedSpeech {
    const key = keyOf(this.#keyed(request));
    const known = this.#memory.get(key);
    if (known !== undefined && known.error === null) {
      this.#memory.delete(key);
      this.#memory.set(key, known);
      return known;
    }
    const speech = new RenderedSpeech(request.text, request.format);
    this.#memory.delete(key);
    this.#memory.set(key, speech);
    this.#forgetOldest();
    const filling = this.#fill(key, request, speech, hurry && !this.#store.knows(key)).catch((error: unknown) => {
      speech.fail(error instanceof Error ? error : new Error(String(error)));
      this.#options.logger.warn({ err: error }, 'greeting cache: could not be filled');
    });
    this.#writing.add(filling);
    filling.finally(() => this.#writing.delete(filling)).catch(() => {});
    return speech;
  }

  /** Resolves when what was begun is rendered and written. */
  async settled(): Promise<void> {
    await Promise.all(this.#writing);
  }

  #forgetOldest(): void {
    const { mostMemoryBytes = MOST_MEMORY_BYTES } = this.#options;
    let bytes = 0;
    for (const speech of this.#memory.values()) bytes += speech.bytes.length;
    for (const [oldest, speech] of this.#memory) {
      if (this.#memory.size <= MOST_IN_MEMORY && bytes <= mostMemoryBytes) break;
      this.#memory.delete(oldest);
      bytes -= speech.bytes.length;
    }
  }

  async #fill(key: string, request: RenderRequest, speech: RenderedSpeech, isNew: boolean): Promise<void> {
    if (!isNew && (await this.#load(key, request, speech))) return;
    await this.#render(request, speech);
    if (speech.error !== null) {
      if (this.#memory.get(key) === speech) this.#memory.delete(key);
      return;
    }
    try {
      this.#forgetOldest();
      await this.#save(key, request, speech);
    } catch (error) {
      this.#options.logger.warn(
        { err: error },
        'greeting cache: the greeting could not be written; it stays in memory',
      );
    }
  }

  #keyed(request: RenderRequest): RenderRequest {
    return this.#engine === '' ? request : { ...request, voice: this.#engine + request.voice };
  }

  /** Copies what the renderer makes into `speech`, which others may be playing already. */
  #render(request: RenderRequest, speech: RenderedSpeech): Promise<void> {
    const { textToSpeech, clock } = this.#options;
    const made = renderSpeech(textToSpeech, clock, request);
    made.want?.(Number.POSITIVE_INFINITY);
    return new Promise((resolve) => {
      const copy = () => {
        speech.askedAtMs = made.askedAtMs;
        speech.voicedAtMs = made.voicedAtMs;
        speech.voice = made.voice;
        for (let i = speech.words.length; i < made.words.length; i++) speech.words.push(made.words[i]!);
        appendFrames(speech, made.bytes, speech.frames, made.frames);
        if (!made.complete) return;
        if (made.error === null) speech.finish();
        else speech.fail(made.error);
        stop();
        resolve();
      };
      const stop = made.onChange(copy);
      copy();
    });
  }

  async #load(key: string, request: RenderRequest, speech: RenderedSpeech): Promise<boolean> {
    const kept = await this.#store.read(key);
    const file = kept === null ? null : opened(this.#keyed(request), kept);
    if (file === null) return false;
    // What is used is not among the oldest.
    await this.#store.touch(key);
    const headerEnd = file.indexOf(0x0a);
    const header = headerEnd < 0 ? null : parseHeader(file.toString('utf8', 0, headerEnd));
    if (header === null || header.version !== VERSION || header.frameBytes !== speech.frameBytes) return false;
    if (file.length !== headerEnd + 1 + header.frames * header.frameBytes) return false;
    for (const [charStart, charEnd, startMs, endMs] of header.words) {
      speech.words.push({ charStart, charEnd, startMs, endMs });
    }
    appendFrames(speech, file.subarray(headerEnd + 1), 0, header.frames);
    speech.finish();
    return true;
  }

  async #save(key: string, request: RenderRequest, speech: RenderedSpeech): Promise<void> {
    const header: FileHeader = {
      version: VERSION,
      frameBytes: speech.frameBytes,
      frames: speech.frames,
      words: speech.words.map((word) => [word.charStart, word.charEnd, word.startMs, word.endMs]),
    };
    const audio = speech.bytes.subarray(0, speech.frames * speech.frameBytes);
    const plain = Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), audio]);
    await this.#store.write(key, encrypted(this.#keyed(request), plain));
  }
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The name of a file is a digest too: this one must not be got from it. */
function encryptionKeyOf({ text, voice, format }: RenderRequest): Buffer {
  return createHash('sha256')
    .update(JSON.stringify(['parley greeting', VERSION, text, voice, format.codec, format.rateHz]))
    .digest();
}

/** The nonce is made of what is encrypted: another rendering of the same text has another. */
function encrypted(request: RenderRequest, plain: Buffer): Buffer {
  const key = encryptionKeyOf(request);
  const nonce = createHmac('sha256', key).update(plain).digest().subarray(0, NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

/** Null: damaged, or not ours. */
function opened(request: RenderRequest, file: Buffer): Buffer | null {
  if (file.length < NONCE_BYTES + TAG_BYTES) return null;
  const body = file.subarray(NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', encryptionKeyOf(request), file.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(file.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(body), decipher.final()]);
  } catch {
    return null;
  }
}

function keyOf({ text, voice, format }: RenderRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([VERSION, text, voice, format.codec, format.rateHz]))
    .digest('hex');
}

function appendFrames(speech: RenderedSpeech, source: Uint8Array, fromFrame: number, toFrame: number): void {
  if (toFrame <= fromFrame) return;
  const { frameBytes } = speech;
  const lengthBytes = (toFrame - fromFrame) * frameBytes;
  const at = speech.reserve(lengthBytes);
  if (at < 0) return;
  speech.bytes.set(source.subarray(fromFrame * frameBytes, toFrame * frameBytes), at);
  speech.advance(lengthBytes);
}

function parseHeader(text: string): FileHeader | null {
  try {
    const header = JSON.parse(text) as FileHeader;
    return Array.isArray(header.words) && Number.isInteger(header.frames) ? header : null;
  } catch {
    return null;
  }
}
