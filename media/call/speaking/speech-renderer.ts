/**
 * Text, or text as it comes, → `RenderedSpeech`, piece by piece through the voice engine: the first piece at once, the
 * next when less than a few seconds remain to be played, so that a caller who interrupts wastes little of the engine.
 * Silence before the first word and after the last is cut. The speaker (through `want` and `abandon`) and the greeting
 * cache drive it.
 */
import { type LegFormat, MULAW_8K, MULAW_SILENCE } from '../../contract/audio-format.ts';
import type { Clock } from '../../contract/clock.ts';
import type { ChunkWord, SpeechChunk, TextToSpeech } from '../../contract/engines.ts';
import type { TextFeed } from '../../contract/speech-source.ts';
import { FeedPieces, type PieceSource, textPieces } from './feed-pieces.ts';
import { LegEncoder } from './leg-encoder.ts';
import { RenderedSpeech } from './rendered-speech.ts';
import type { Piece } from './sentences.ts';
import { addWords, voicedSpan } from './word-table.ts';

/** A voice engine that gives neither sound nor word for so long has failed. */
const ENGINE_SILENT_MS = 5_000;
/**
 * One that says that it is busy with others is waited for, on a slow machine too, but no caller listens to silence for
 * longer.
 */
const LONGEST_QUEUED_MS = 30_000;
/** Left before the first voiced sample, so that a soft onset is not clipped. */
const LEAD_IN_MS = 10;
/** Of speech that is not there yet. */
const MS_A_CHARACTER = 65;
/** Silence between the last sound of a piece and the first of the next; an engine may have made part of it itself. */
const SENTENCE_PAUSE_MS = 300;
const CLAUSE_PAUSE_MS = 120;

export interface RenderRequest {
  text: string;
  voice: string;
  format: LegFormat;
  /** Nobody waits for it yet. */
  ahead?: boolean;
  /** Sentences that are the same in every call. */
  fixed?: ReadonlySet<string>;
}

/** Begins at once; the returned speech grows as the engine speaks. It fails (`error`) instead of throwing. */
export function renderSpeech(textToSpeech: TextToSpeech, clock: Clock, request: RenderRequest): RenderedSpeech {
  const speech = new RenderedSpeech(request.text, request.format);
  const renderer = new SpeechRenderer(textToSpeech, clock, request, speech, textPieces(request.text));
  speech.want = (throughMs) => renderer.want(throughMs);
  speech.abandon = () => renderer.abandon();
  renderer.want(1);
  return speech;
}

/** As above; the speech is over when the feed is, and its text is what the feed has given. */
export function renderFeed(
  textToSpeech: TextToSpeech,
  clock: Clock,
  feed: TextFeed,
  request: Omit<RenderRequest, 'text'>,
): RenderedSpeech {
  const speech = new RenderedSpeech(feed.text, request.format);
  const renderer = new SpeechRenderer(textToSpeech, clock, request, speech, new FeedPieces(feed));
  const follow = (): void => {
    speech.grow(feed.text);
    // Not within the agent that feeds it.
    queueMicrotask(() => {
      if (feed.error !== null) renderer.breakOff(feed.error);
      else renderer.want(1);
    });
  };
  feed.onChange = follow;
  speech.want = (throughMs) => renderer.want(throughMs);
  speech.abandon = () => {
    renderer.abandon();
    if (feed.onChange === follow) feed.abandon();
  };
  follow();
  return speech;
}

class SpeechRenderer {
  readonly #textToSpeech: TextToSpeech;
  readonly #clock: Clock;
  readonly #voice: string;
  readonly #ahead: boolean;
  readonly #fixed: ReadonlySet<string> | undefined;
  readonly #speech: RenderedSpeech;
  readonly #pieces: PieceSource;
  readonly #abort = new AbortController();
  #encoder: LegEncoder | null = null;
  #previous: Piece | null = null;
  #wantedMs = 0;
  #running = false;
  /** Where in the text the next chunk is looked for. */
  #charAt = 0;
  /** Silence at the end of the audio so far. */
  #quietTailMs = 0;
  /** The piece whose words share its sound, their first in the table, and where its sound begins. */
  #spreading: { piece: Piece; from: number; firstMs: number } | null = null;
  /** End of the last sound so far. */
  #soundEndMs = 0;
  /** The engine speaks as the leg does: silence between its pieces is made so too. */
  #givesMulaw = false;

  constructor(
    textToSpeech: TextToSpeech,
    clock: Clock,
    request: Omit<RenderRequest, 'text'>,
    speech: RenderedSpeech,
    pieces: PieceSource,
  ) {
    this.#textToSpeech = textToSpeech;
    this.#clock = clock;
    this.#voice = request.voice;
    this.#ahead = request.ahead ?? false;
    this.#fixed = request.fixed;
    this.#speech = speech;
    this.#pieces = pieces;
  }

  want(throughMs: number): void {
    this.#wantedMs = Math.max(this.#wantedMs, throughMs);
    if (this.#running || this.#speech.complete || this.#speech.durationMs >= this.#wantedMs) return;
    this.#running = true;
    this.#run().then(
      () => {
        this.#running = false;
      },
      (error: unknown) => {
        this.#running = false;
        this.#close();
        this.#speech.fail(error instanceof Error ? error : new Error(String(error)));
      },
    );
  }

  abandon(): void {
    this.breakOff(new DOMException('the rest is not needed', 'AbortError'));
  }

  /** What is made so far is all there will be. */
  breakOff(error: Error): void {
    this.#abort.abort();
    if (!this.#running) this.#close();
    this.#speech.fail(error);
  }

  async #run(): Promise<void> {
    this.#encoder ??= await LegEncoder.create(this.#speech, this.#textToSpeech.outputRateHz);
    while (this.#speech.durationMs < this.#wantedMs) {
      this.#abort.signal.throwIfAborted();
      const piece = this.#pieces.next();
      if (piece === null) break;
      const previous = this.#previous;
      this.#previous = piece;
      if (previous !== null) this.#pauseFor(previous.isClause ? CLAUSE_PAUSE_MS : SENTENCE_PAUSE_MS);
      this.#charAt = piece.charStart;
      await this.#synthesize(piece);
    }
    if (!this.#pieces.isOver) return;
    this.#encoder.flush();
    const last = this.#speech.words.at(-1);
    // What an engine says of its times must not have its last sound cut off.
    if (last !== undefined) last.endMs = Math.max(last.endMs, this.#soundEndMs);
    this.#close();
    this.#speech.finish();
  }

  async #synthesize(piece: Piece): Promise<void> {
    const signal = this.#abort.signal;
    if (Number.isNaN(this.#speech.askedAtMs)) this.#speech.askedAtMs = this.#clock.nowMs();
    let overdue: (error: Error) => void = () => {};
    const silent = new Promise<never>((_resolve, reject) => {
      overdue = reject;
    });
    const arm = () =>
      this.#clock.after(ENGINE_SILENT_MS, () => {
        overdue(new Error(`the voice engine gave nothing for ${ENGINE_SILENT_MS} ms`));
        this.#abort.abort();
      });
    let disarm = arm();
    const giveUpAtMs = this.#clock.nowMs() + LONGEST_QUEUED_MS;
    const armAgain = (): void => {
      if (signal.aborted) return;
      disarm();
      disarm = arm();
    };
    const request = {
      text: piece.text,
      voice: this.#voice,
      signal,
      ahead: this.#ahead,
      takesMulaw: isMulaw8k(this.#speech.format),
      isFixed: this.#fixed?.has(piece.text) ?? false,
      onQueued: () => {
        if (this.#clock.nowMs() < giveUpAtMs) armAgain();
      },
    };
    try {
      const speaking = this.#textToSpeech.synthesize(request, (chunk) => {
        if (signal.aborted) return;
        armAgain();
        this.#add(chunk, piece);
      });
      await Promise.race([speaking, silent]);
      this.#respread(this.#soundEndMs);
      this.#spreading = null;
    } finally {
      disarm();
    }
  }

  #add(chunk: SpeechChunk, piece: Piece): void {
    const { mulawBytes } = chunk;
    if (Number.isNaN(this.#speech.voicedAtMs)) {
      this.#speech.voicedAtMs = this.#clock.nowMs();
      this.#speech.voice = chunk.voice ?? 0;
    }
    this.#givesMulaw = mulawBytes !== undefined;
    const rateHz = this.#givesMulaw ? MULAW_8K.rateHz : this.#textToSpeech.outputRateHz;
    const { start, end } = voicedSpan(chunk.samples, rateHz);
    const isFirst = this.#speech.durationMs === 0;
    const cut = isFirst ? Math.max(0, start - Math.round((rateHz * LEAD_IN_MS) / 1000)) : 0;
    const startsAtMs = this.#speech.durationMs;
    const firstMs = startsAtMs + ((start - cut) / rateHz) * 1000;
    if (chunk.words !== undefined) this.#addTold(chunk.words, piece, startsAtMs - (cut / rateHz) * 1000);
    else if (chunk.text === '') this.#spread(piece, firstMs, startsAtMs + ((end - cut) / rateHz) * 1000);
    else {
      const [charStart, charEnd] = this.#placeInText(chunk.text, piece);
      const lastMs = firstMs + ((end - start) / rateHz) * 1000;
      if (charEnd > charStart) addWords(this.#speech.words, this.#speech.text, charStart, charEnd, firstMs, lastMs);
    }
    const lengthMs = (chunk.samples.length / rateHz) * 1000;
    if (end > 0) this.#soundEndMs = startsAtMs + ((end - cut) / rateHz) * 1000;
    // A chunk of silence is no end of one: it goes on from the chunk before.
    this.#quietTailMs = end === 0 ? this.#quietTailMs + lengthMs : lengthMs - (end / rateHz) * 1000;
    if (mulawBytes !== undefined) this.#encoder!.append(mulawBytes.subarray(cut));
    else this.#encoder!.encode(cut === 0 ? chunk.samples : chunk.samples.subarray(cut));
  }

  /** Nobody knows which words these are: they share the piece's sound, which is guessed at until it is there. */
  #spread(piece: Piece, firstMs: number, soundEndMs: number): void {
    if (this.#spreading?.piece !== piece) {
      const { words, text } = this.#speech;
      const from = words.length;
      const pieceEnd = piece.charStart + piece.text.length;
      // A voice that tells its words may have said the first of them.
      const charStart = Math.max(piece.charStart, words.at(-1)?.charEnd ?? 0);
      addWords(words, text, charStart, pieceEnd, firstMs, firstMs + (pieceEnd - charStart) * MS_A_CHARACTER);
      this.#spreading = { piece, from, firstMs };
    }
    const endMs = this.#speech.words.at(-1)?.endMs ?? 0;
    if (soundEndMs > endMs) this.#respread(soundEndMs);
  }

  /** The piece's sound ends here. */
  #respread(endMs: number): void {
    if (this.#spreading === null) return;
    const { from, firstMs } = this.#spreading;
    const { words } = this.#speech;
    const lastMs = words.at(-1)?.endMs ?? firstMs;
    const scale = lastMs > firstMs ? (endMs - firstMs) / (lastMs - firstMs) : 1;
    for (let i = from; i < words.length; i++) {
      const word = words[i]!;
      word.startMs = firstMs + (word.startMs - firstMs) * scale;
      word.endMs = firstMs + (word.endMs - firstMs) * scale;
    }
  }

  /** Words with times of the engine's own. What it says of them is held to their order and to what was said before. */
  #addTold(words: readonly ChunkWord[], piece: Piece, chunkAtMs: number): void {
    const { words: table } = this.#speech;
    for (const { charStart, charEnd, startMs, endMs } of words) {
      const last = table.at(-1);
      const from = piece.charStart + Math.max(0, charStart);
      const to = piece.charStart + Math.min(charEnd, piece.text.length);
      if (from >= to || (last !== undefined && from < last.charEnd)) continue;
      const startsMs = Math.max(chunkAtMs + startMs, last?.endMs ?? 0);
      table.push({ charStart: from, charEnd: to, startMs: startsMs, endMs: Math.max(startsMs, chunkAtMs + endMs) });
    }
  }

  #pauseFor(pauseMs: number): void {
    const missingMs = pauseMs - this.#quietTailMs;
    if (missingMs <= 0) return;
    const rateHz = this.#givesMulaw ? MULAW_8K.rateHz : this.#textToSpeech.outputRateHz;
    const missingSamples = Math.round((rateHz * missingMs) / 1000);
    if (this.#givesMulaw) this.#encoder!.append(new Uint8Array(missingSamples).fill(MULAW_SILENCE));
    else this.#encoder!.encode(new Int16Array(missingSamples));
  }

  /**
   * Range of the chunk's text in the whole text; an engine that normalised it gets the next words of the piece, as many
   * as its own.
   */
  #placeInText(chunkText: string, piece: Piece): [number, number] {
    const text = this.#speech.text;
    const pieceEnd = piece.charStart + piece.text.length;
    const wanted = chunkText.trim();
    const found = wanted === '' ? -1 : text.indexOf(wanted, this.#charAt);
    const isHere = found >= 0 && found + wanted.length <= pieceEnd && !/\S/.test(text.slice(this.#charAt, found));
    const from = isHere ? found : this.#charAt;
    const to = isHere ? found + wanted.length : endOfWords(text, from, pieceEnd, wanted.split(/\s+/).length);
    this.#charAt = to;
    return [from, to];
  }

  #close(): void {
    this.#encoder?.close();
    this.#encoder = null;
  }
}

function isMulaw8k({ codec, rateHz }: LegFormat): boolean {
  return codec === MULAW_8K.codec && rateHz === MULAW_8K.rateHz;
}

function endOfWords(text: string, from: number, limit: number, words: number): number {
  const pattern = /\S+/g;
  pattern.lastIndex = from;
  let end = from;
  for (let count = 0; count < words; count++) {
    const match = pattern.exec(text);
    if (match === null || match.index >= limit) break;
    end = match.index + match[0].length;
  }
  return Math.min(end, limit);
}
