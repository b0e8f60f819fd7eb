/**
 * Shares the decoders of a thread between the open streams: one batch of audio of one stream at a time, in turn, so
 * that a stream that is behind cannot starve the others. Called by the STT thread. Knows no ports; between two batches
 * it yields, so that new audio and cancellations get in. A stream without a free decoder waits with its audio queued.
 *
 * A stream that is asked for a conclusion is decoded to its end and gives its decoder back. Goes it on after all, it is
 * heard again from its beginning: a decoder cannot take back an end.
 */
import type { Clock } from '../../contract/clock.ts';
import type { Grammar, Recognition } from '../../contract/engines.ts';
import type { DecoderPool } from './decoder-pool.ts';
import type { CompiledGrammar } from './grammar.ts';
import type { DecoderRateHz, Hypothesis, PhraseDecoder } from './phrase-decoder.ts';
import { type Metered, timed } from './work-meter.ts';

/** What a stream may have waiting; audio beyond it is dropped and counted. */
const MAX_QUEUED_MS = 10_000;
/** One turn's worth of audio: 4 to 10 ms of work. */
const TURN_MS = 120;
/** An utterance that is longer is not concluded: to hear it again would cost over 0.4 s of the thread. */
const MOST_HEARD_AGAIN_MS = 8_000;

export interface StreamListener {
  /** Partials as they change, then one final. */
  onResult(result: Recognition): void;
  /** Instead of the final. */
  onError(message: string): void;
}

export interface SttStream {
  push(monoSamples: Int16Array): void;
  conclude(): void;
  goOn(): void;
  finish(): void;
  cancel(): void;
}

export interface SttScheduler extends Metered {
  /** Throws `GrammarError`. */
  open(rateHz: DecoderRateHz, grammar: Grammar, listener: StreamListener): SttStream;
  readonly openStreams: number;
  /** Samples that found their stream's queue full, since the start. */
  readonly droppedSamples: number;
}

export interface SttSchedulerOptions {
  compile(grammar: Grammar): CompiledGrammar;
  pool: DecoderPool;
  /** Runs its argument after pending messages were read: `setImmediate`. */
  yieldThen(run: () => void): void;
  clock: Pick<Clock, 'nowMs'>;
}

interface Stream {
  rateHz: DecoderRateHz;
  grammar: CompiledGrammar;
  listener: StreamListener;
  queue: Int16Array[];
  queuedSamples: number;
  /** Of these, what was heard before and is heard again: it says nothing of how far behind the stream is. */
  againSamples: number;
  decoder: PhraseDecoder | null;
  finishing: boolean;
  /** Since when it has had something to do that was not begun; NaN when it has nothing. */
  waitsSinceMs: number;
  /** What was decoded, from the utterance's beginning; null once that is too long to be heard again. */
  heard: Int16Array[] | null;
  heardSamples: number;
  concluding: boolean;
  conclusion: Hypothesis | null;
  lastText: string;
  lastRejected: boolean;
}

/** `wake` is for the pool: a decoder has become free. */
export function createSttScheduler(options: SttSchedulerOptions): SttScheduler & { wake(): void } {
  const { pool, clock } = options;
  /** In the order of their turns: a stream that had one goes to the end. */
  const streams = new Set<Stream>();
  let running = false;
  let droppedSamples = 0;
  let busyMs = 0;
  const spent = (ms: number): void => {
    busyMs += ms;
  };

  function wake(): void {
    if (running) return;
    running = true;
    options.yieldThen(turn);
  }

  function due(stream: Stream): void {
    if (Number.isNaN(stream.waitsSinceMs)) stream.waitsSinceMs = clock.nowMs();
    wake();
  }

  function turn(): void {
    for (const stream of streams) {
      if (!isReady(stream)) continue;
      streams.delete(stream);
      streams.add(stream);
      timed(clock, spent, () => work(stream));
      options.yieldThen(turn);
      return;
    }
    running = false;
  }

  /** Has something to do and a decoder to do it with; takes one if need be. */
  function isReady(stream: Stream): boolean {
    if (stream.conclusion !== null) return false;
    if (stream.queue.length === 0 && !stream.finishing && !stream.concluding) return false;
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
        stream.againSamples = Math.max(0, stream.againSamples - samples.length);
        samplesLeft -= samples.length;
        decoder.push(samples);
        keep(stream, samples);
      }
      stream.waitsSinceMs = stream.queue.length > 0 ? clock.nowMs() : Number.NaN;
      if (stream.queue.length > 0 || !(stream.finishing || stream.concluding)) {
        tellPartial(stream, decoder.partial());
        return;
      }
      const result = decoder.finish();
      release(stream, false);
      if (stream.finishing) {
        end(stream);
        stream.listener.onResult({ ...result, final: true });
      } else {
        stream.conclusion = result;
        stream.listener.onResult({ ...result, final: false, concluded: true });
      }
    } catch (error) {
      release(stream, true);
      end(stream);
      stream.listener.onError(`The recogniser failed: ${messageOf(error)}`);
    }
  }

  function keep(stream: Stream, samples: Int16Array): void {
    stream.heardSamples += samples.length;
    if (stream.heardSamples > (MOST_HEARD_AGAIN_MS * stream.rateHz) / 1000) stream.heard = null;
    else stream.heard?.push(samples);
    if (stream.heard === null) stream.concluding = false;
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
    stream.heard = null;
  }

  return {
    open(rateHz, grammar, listener) {
      const stream: Stream = {
        rateHz,
        grammar: options.compile(grammar),
        listener,
        queue: [],
        queuedSamples: 0,
        againSamples: 0,
        decoder: null,
        finishing: false,
        waitsSinceMs: Number.NaN,
        heard: [],
        heardSamples: 0,
        concluding: false,
        conclusion: null,
        lastText: '',
        lastRejected: false,
      };
      streams.add(stream);
      return {
        push(monoSamples) {
          if (!streams.has(stream) || stream.finishing || monoSamples.length === 0) return;
          const behindSamples = stream.queuedSamples - stream.againSamples;
          if (behindSamples + monoSamples.length > (MAX_QUEUED_MS * rateHz) / 1000) {
            droppedSamples += monoSamples.length;
            return;
          }
          stream.queue.push(monoSamples);
          stream.queuedSamples += monoSamples.length;
          // What comes after a conclusion waits for nobody, until it is to go on.
          if (stream.conclusion === null) due(stream);
        },
        conclude() {
          if (!streams.has(stream) || stream.finishing || stream.heard === null) return;
          stream.concluding = true;
          due(stream);
        },
        goOn() {
          if (!streams.has(stream) || stream.finishing) return;
          stream.concluding = false;
          if (stream.conclusion === null) return;
          stream.conclusion = null;
          stream.queue = [...(stream.heard ?? []), ...stream.queue];
          stream.queuedSamples += stream.heardSamples;
          stream.againSamples = stream.heardSamples;
          stream.heard = [];
          stream.heardSamples = 0;
          due(stream);
        },
        finish() {
          if (!streams.has(stream)) return;
          stream.finishing = true;
          if (stream.conclusion === null) {
            due(stream);
            return;
          }
          end(stream);
          stream.listener.onResult({ ...stream.conclusion, final: true });
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
    get busyMs() {
      return busyMs;
    },
    get lateMs() {
      let lateMs = 0;
      for (const { waitsSinceMs, queuedSamples, againSamples, rateHz } of streams) {
        if (Number.isNaN(waitsSinceMs)) continue;
        lateMs = Math.max(lateMs, clock.nowMs() - waitsSinceMs, ((queuedSamples - againSamples) * 1000) / rateHz);
      }
      return lateMs;
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
