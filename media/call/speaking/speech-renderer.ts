/**
 * Text, or text as it comes, → `RenderedSpeech`, piece by piece through the voice engine: the first piece at once, the
 * next when less than a few seconds remain to be played, so that a caller who interrupts wastes little of the engine.
 * Silence before the first word and after the last is cut. The speaker (through `want` and `abandon`) and the greeting
 * cache drive it.
 */
import type { LegFormat } from '../../contract/audio-format.ts';
import type { Clock } from '../../contract/clock.ts';
import type { SpeechChunk, TextToSpeech } from '../../contract/engines.ts';
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
    this.#close();
    this.#speech.finish();
  }

  async #synthesize(piece: Piece): Promise<void> {
    const signal = this.#abort.signal;
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
    } finally {
      disarm();
    }
  }

  #add(chunk: SpeechChunk, piece: Piece): void {
    const rateHz = this.#textToSpeech.outputRateHz;
    const { start, end } = voicedSpan(chunk.samples, rateHz);
    const isFirst = this.#speech.durationMs === 0;
    const cut = isFirst ? Math.max(0, start - Math.round((rateHz * LEAD_IN_MS) / 1000)) : 0;
    const startsAtMs = this.#speech.durationMs;
    const [charStart, charEnd] = this.#placeInText(chunk.text, piece);
    if (charEnd > charStart) {
      const firstMs = startsAtMs + ((start - cut) / rateHz) * 1000;
      addWords(
        this.#speech.words,
        this.#speech.text,
        charStart,
        charEnd,
        firstMs,
        firstMs + ((end - start) / rateHz) * 1000,
      );
    }
    this.#quietTailMs = ((chunk.samples.length - end) / rateHz) * 1000;
    this.#encoder!.encode(cut === 0 ? chunk.samples : chunk.samples.subarray(cut));
  }

  #pauseFor(pauseMs: number): void {
    const missingMs = pauseMs - this.#quietTailMs;
    if (missingMs > 0)
      this.#encoder!.encode(new Int16Array(Math.round((this.#textToSpeech.outputRateHz * missingMs) / 1000)));
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
