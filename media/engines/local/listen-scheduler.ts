/**
 * Shares the decoders of a thread between the open streams: one batch of audio of one stream at a time, in turn, so that a stream that is
 * behind cannot starve the others. Called by the listen thread. Knows no ports; between two batches it yields, so that new
 * audio and cancellations get in. A stream without a free decoder waits with its audio queued.
 */
import type { Grammar, Recognition } from '../../contract/engines.ts';
import type { DecoderPool } from './decoder-pool.ts';
import type { CompiledGrammar } from './grammar.ts';
import type { DecoderRateHz, Hypothesis, PhraseDecoder } from './phrase-decoder.ts';

/** What a stream may have waiting; audio beyond it is dropped and counted. */
const MAX_QUEUED_MS = 10_000;
/** One turn's worth of audio: 4 to 10 ms of work. */
const TURN_MS = 120;

export interface StreamListener {
  /** Partials as they change, then one final. */
  onResult(result: Recognition): void;
  /** Instead of the final. */
  onError(message: string): void;
}

export interface ListenStream {
  push(monoSamples: Int16Array): void;
  finish(): void;
  cancel(): void;
}

export interface ListenScheduler {
  /** Throws `GrammarError`. */
  open(rateHz: DecoderRateHz, grammar: Grammar, listener: StreamListener): ListenStream;
  readonly openStreams: number;
  /** Samples that found their stream's queue full, since the start. */
  readonly droppedSamples: number;
}

export interface ListenSchedulerOptions {
  compile(grammar: Grammar): CompiledGrammar;
  pool: DecoderPool;
  /** Runs its argument after pending messages were read: `setImmediate`. */
  yieldThen(run: () => void): void;
}

interface Stream {
  rateHz: DecoderRateHz;
  grammar: CompiledGrammar;
  listener: StreamListener;
  queue: Int16Array[];
  queuedSamples: number;
  decoder: PhraseDecoder | null;
  finishing: boolean;
  lastText: string;
  lastRejected: boolean;
}

/** `wake` is for the pool: a decoder has become free. */
export function createListenScheduler(options: ListenSchedulerOptions): ListenScheduler & { wake(): void } {
  const { pool } = options;
  /** In the order of their turns: a stream that had one goes to the end. */
  const streams = new Set<Stream>();
  let running = false;
  let droppedSamples = 0;

  function wake(): void {
    if (running) return;
    running = true;
    options.yieldThen(turn);
  }

  function turn(): void {
    for (const stream of streams) {
      if (!isReady(stream)) continue;
      streams.delete(stream);
      streams.add(stream);
      work(stream);
      options.yieldThen(turn);
      return;
    }
    running = false;
  }

  /** Has something to do and a decoder to do it with; takes one if need be. */
  function isReady(stream: Stream): boolean {
    if (stream.queue.length === 0 && !stream.finishing) return false;
    if (stream.decoder !== null) return true;
    const decoder = pool.take(stream.rateHz, stream.grammar);
    if (decoder === null) return false;
    try {
      decoder.begin(stream.grammar);
      stream.decoder = decoder;
    } catch (error) {
      pool.give(stream.rateHz, decoder, true);
      end(stream);
      stream.listener.onError(`The recogniser failed: ${messageOf(error)}`);
    }
    return stream.decoder !== null;
  }

  function work(stream: Stream): void {
    const decoder = stream.decoder!;
    try {
      let samplesLeft = (TURN_MS * stream.rateHz) / 1000;
      while (samplesLeft > 0 && stream.queue.length > 0) {
        const samples = stream.queue.shift()!;
        stream.queuedSamples -= samples.length;
        samplesLeft -= samples.length;
        decoder.push(samples);
      }
      if (stream.queue.length > 0 || !stream.finishing) {
        tellPartial(stream, decoder.partial());
        return;
      }
      const final = decoder.finish();
      release(stream, false);
      end(stream);
      stream.listener.onResult({ ...final, final: true });
    } catch (error) {
      release(stream, true);
      end(stream);
      stream.listener.onError(`The recogniser failed: ${messageOf(error)}`);
    }
  }

  function tellPartial(stream: Stream, partial: Hypothesis): void {
    if (partial.text === stream.lastText && partial.rejected === stream.lastRejected) return;
    stream.lastText = partial.text;
    stream.lastRejected = partial.rejected;
    stream.listener.onResult({ ...partial, final: false });
  }

  function release(stream: Stream, broken: boolean): void {
    const decoder = stream.decoder;
    stream.decoder = null;
    if (decoder !== null) pool.give(stream.rateHz, decoder, broken);
  }

  function end(stream: Stream): void {
    streams.delete(stream);
    stream.queue = [];
    stream.queuedSamples = 0;
  }

  return {
    open(rateHz, grammar, listener) {
      const stream: Stream = {
        rateHz,
        grammar: options.compile(grammar),
        listener,
        queue: [],
        queuedSamples: 0,
        decoder: null,
        finishing: false,
        lastText: '',
        lastRejected: false,
      };
      streams.add(stream);
      return {
        push(monoSamples) {
          if (!streams.has(stream) || stream.finishing || monoSamples.length === 0) return;
          if (stream.queuedSamples + monoSamples.length > (MAX_QUEUED_MS * rateHz) / 1000) {
            droppedSamples += monoSamples.length;
            return;
          }
          stream.queue.push(monoSamples);
          stream.queuedSamples += monoSamples.length;
          wake();
        },
        finish() {
          if (!streams.has(stream)) return;
          stream.finishing = true;
          wake();
        },
        cancel() {
          if (!streams.has(stream)) return;
          end(stream);
          if (stream.decoder === null) return;
          let broken = false;
          try {
            stream.decoder.abandon();
          } catch {
            broken = true;
          }
          release(stream, broken);
        },
      };
    },
    wake,
    get openStreams() {
      return streams.size;
    },
    get droppedSamples() {
      return droppedSamples;
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
