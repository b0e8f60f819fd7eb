/**
 * One socket of `/v1/listen`: interim and final results with word times, endpointing, `Finalize`, `KeepAlive`,
 * `CloseStream`, `SpeechStarted` and `UtteranceEnd`. Made by the emulator once an upgrade. A segment is what has not
 * yet been finalised; it is decoded from its onset on, and finalised by a pause, by `Finalize` or by the stream's end.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { TimedWord } from '../../../../media/engines/local/rejection.ts';
import { Hearing, type SoundFormat } from '../hearing/hearing.ts';
import { writtenWords } from '../hearing/written-words.ts';
import type { SocketExchange } from '../provider.ts';
import type { WordRecogniser } from '../word-recogniser.ts';
import type { Latencies } from './latencies.ts';
import { QueryFault, readBoolean, readNumber, readSoundFormat } from './query.ts';
import { watchIdle } from './watch-idle.ts';

export interface ListenV1Settings {
  model: string;
  format: SoundFormat;
  interimResults: boolean;
  /** Null: no endpointing. */
  endpointingMs: number | null;
  utteranceEndMs: number | null;
  vadEvents: boolean;
  /** Results are written as the vocabulary writes them. */
  isPunctuated: boolean;
  keyterms: string[];
}

export interface ListenV1Options {
  settings: ListenV1Settings;
  recogniser: WordRecogniser;
  /** Phrases that the scenario expects, beside the key terms. */
  vocabulary: readonly string[];
  latencies: Latencies;
  requestId: string;
}

const MODELS = /^(nova(-[23])?(-[a-z]+)?|enhanced(-[a-z]+)?|base(-[a-z]+)?|custom.*)$/;
const DEFAULT_ENDPOINTING_MS = 10;
/** A segment of this length is finalised in a pause that is no end of speech yet. */
const LONG_SEGMENT_MS = 4_000;
/** Silence is finalised too, as an empty result, when there is so much of it. */
const SILENT_SEGMENT_MS = 5_000;
/** Less sound than this is not worth an answer to `Finalize`. */
const LEAST_TO_FINALIZE_MS = 200;
const CHANNEL = [0, 1];

export function readListenV1(query: URLSearchParams): ListenV1Settings {
  const model = query.get('model') ?? 'base-general';
  if (!MODELS.test(model)) throw new QueryFault('No such model/language/tier combination found.');
  if (model.startsWith('nova-3') && query.has('keywords'))
    throw new QueryFault('Keywords are not supported for Nova-3 models. Use keyterm instead.');
  if (!model.startsWith('nova-3') && query.has('keyterm'))
    throw new QueryFault('Keyterm is supported for Nova-3 models only. Use keywords instead.');
  const interimResults = readBoolean(query, 'interim_results');
  const utteranceEndMs = readNumber(query, 'utterance_end_ms', 1000, 5000);
  if (utteranceEndMs !== null && !interimResults) throw new QueryFault('utterance_end_ms needs interim_results=true.');
  const endpointing = query.get('endpointing');
  return {
    model,
    format: readSoundFormat(query),
    interimResults,
    endpointingMs:
      endpointing === 'false'
        ? null
        : endpointing === 'true'
          ? DEFAULT_ENDPOINTING_MS
          : (readNumber(query, 'endpointing', 0, 60_000) ?? DEFAULT_ENDPOINTING_MS),
    utteranceEndMs,
    vadEvents: readBoolean(query, 'vad_events'),
    isPunctuated: readBoolean(query, 'punctuate') || readBoolean(query, 'smart_format'),
    keyterms: query.getAll('keyterm'),
  };
}

/** Why a segment is finalised. */
type Finality = 'pause' | 'endpoint' | 'finalize' | 'close';

export function openListenV1(exchange: SocketExchange, options: ListenV1Options): void {
  const { settings, latencies, requestId } = options;
  const phrases = [...options.vocabulary, ...settings.keyterms];
  const pauseMs = Math.max(settings.endpointingMs ?? 0, latencies.gateHangoverMs);
  const digest = createHash('sha256');
  const modelUuid = randomUUID();
  /** In ms of sound: up to here all is finalised. */
  let finalisedMs = 0;
  let lastInterimMs = 0;
  let words: TimedWord[] = [];
  /** Speech was heard whose end has not been told. */
  let isSpeaking = false;
  /** End of the last final word, while the end of its utterance is to be told. */
  let utteranceEndsAfterMs: number | null = null;
  let isClosing = false;
  /** Segments whose final words have not come. */
  let owedFinals = 0;
  /** `Finalize` came while they were owed: the next of them answers it. */
  let owesFinalize = false;

  const hearing = new Hearing(options.recogniser, settings.format, {
    onset(atMs) {
      if (settings.vadEvents && !isSpeaking)
        later(latencies.speechStartedMs, { type: 'SpeechStarted', channel: CHANNEL, timestamp: seconds(atMs) });
      isSpeaking = true;
    },
    frame() {
      const { nowMs, silenceMs } = hearing;
      // Speech may go on where `Finalize` cut it.
      if (silenceMs === 0 && !hearing.hasStretch) open();
      if (hearing.hasStretch) {
        if (silenceMs >= pauseMs && settings.endpointingMs !== null) finalise('endpoint');
        else if (silenceMs >= latencies.gateHangoverMs && hearing.stretchMs >= LONG_SEGMENT_MS) finalise('pause');
        else if (settings.interimResults && nowMs - lastInterimMs >= latencies.interimEveryMs) interim();
      } else if (owedFinals === 0 && isSpeaking && settings.endpointingMs !== null && silenceMs >= pauseMs) {
        // A long segment was finalised in this pause already: its end is told by an empty result.
        isSpeaking = false;
        result([], true, true, false, nowMs, hearing.arrivedAtMs + latencies.finalMs);
      } else if (owedFinals === 0 && nowMs - finalisedMs >= SILENT_SEGMENT_MS) {
        result([], true, false, false, nowMs, hearing.arrivedAtMs + latencies.finalMs);
      }
      if (utteranceEndsAfterMs !== null && !hearing.hasStretch) tellUtteranceEnd(nowMs);
    },
    warning: (message) => exchange.note('warning', { message }),
  });
  const idle = watchIdle(exchange, latencies.idleTimeoutMs);

  exchange.signal.addEventListener('abort', () => {
    idle.stop();
    hearing.close();
  });
  exchange.onMessage((message) => {
    if (isClosing) return;
    idle.alive();
    if (typeof message === 'string') return command(message);
    if (message.length === 0) return closeStream();
    digest.update(message);
    hearing.push(message, exchange.timetable.nowMs());
  });

  function command(text: string): void {
    const type = typeOf(text);
    if (type === 'Finalize') finalise('finalize');
    else if (type === 'CloseStream') closeStream();
    else if (type !== 'KeepAlive') exchange.close(1008, 'DATA-0000: The payload cannot be decoded as audio.');
  }

  function open(): void {
    words = [];
    lastInterimMs = hearing.nowMs;
    hearing.open(phrases, {
      partial(heard) {
        words = heard;
      },
    });
  }

  function interim(): void {
    lastInterimMs = hearing.nowMs;
    if (words.length > 0) result(words, false, false, false, hearing.nowMs, hearing.arrivedAtMs + latencies.interimMs);
  }

  function finalise(by: Finality): void {
    const endMs = hearing.nowMs;
    const causeAtMs = by === 'finalize' || by === 'close' ? exchange.timetable.nowMs() : hearing.arrivedAtMs;
    const dueAtMs = causeAtMs + latencies.finalMs;
    const isEnd = by !== 'pause';
    if (isEnd) isSpeaking = false;
    const isFromFinalize = by === 'finalize';
    if (!hearing.hasStretch && owedFinals > 0) {
      owesFinalize ||= isFromFinalize;
      return;
    }
    if (!hearing.hasStretch) {
      if (isFromFinalize && endMs - finalisedMs >= LEAST_TO_FINALIZE_MS) result([], true, isEnd, true, endMs, dueAtMs);
      return;
    }
    owedFinals++;
    hearing.finish((heard) => {
      owedFinals--;
      result(heard, true, isEnd, isFromFinalize || owesFinalize, endMs, dueAtMs);
      owesFinalize = false;
      const last = heard.at(-1);
      if (last !== undefined && settings.utteranceEndMs !== null) utteranceEndsAfterMs = last.endMs;
      // The words may come later than the silence behind them.
      if (!hearing.hasStretch) tellUtteranceEnd(hearing.nowMs);
      if (isClosing && owedFinals === 0) sayGoodbye();
    });
  }

  function tellUtteranceEnd(nowMs: number): void {
    if (utteranceEndsAfterMs === null || nowMs - utteranceEndsAfterMs < settings.utteranceEndMs!) return;
    const lastWordEnd = seconds(utteranceEndsAfterMs);
    utteranceEndsAfterMs = null;
    later(latencies.utteranceEndMs, { type: 'UtteranceEnd', channel: CHANNEL, last_word_end: lastWordEnd });
  }

  function closeStream(): void {
    isClosing = true;
    idle.stop();
    finalise('close');
    if (owedFinals === 0) sayGoodbye();
  }

  function sayGoodbye(): void {
    exchange.timetable.after(latencies.finalMs, () => {
      exchange.send({
        type: 'Metadata',
        transaction_key: 'deprecated',
        request_id: requestId,
        sha256: digest.digest('hex'),
        created: new Date().toISOString(),
        duration: seconds(hearing.nowMs),
        channels: 1,
      });
      exchange.close(1000, '');
    });
  }

  /** At the instant of the sound that arrived last, and the latency. */
  function later(latencyMs: number, message: object): void {
    exchange.timetable.at(hearing.arrivedAtMs + latencyMs, () => exchange.send(message));
  }

  function result(
    heard: readonly TimedWord[],
    isFinal: boolean,
    isSpeechFinal: boolean,
    isFromFinalize: boolean,
    endMs: number,
    dueAtMs: number,
  ): void {
    const startMs = finalisedMs;
    if (isFinal) finalisedMs = endMs;
    const spoken = writtenWords(heard, phrases);
    const transcript = spoken.map(({ word, written }) => (settings.isPunctuated ? written : word)).join(' ');
    const message = {
      type: 'Results',
      channel_index: CHANNEL,
      duration: seconds(endMs - startMs),
      start: seconds(startMs),
      is_final: isFinal,
      speech_final: isSpeechFinal,
      from_finalize: isFromFinalize,
      channel: {
        alternatives: [
          {
            transcript,
            confidence: spoken.reduce((sum, { confidence }) => sum + confidence, 0) / Math.max(1, spoken.length),
            words: spoken.map(({ word, written, startMs: from, endMs: to, confidence }) => ({
              word,
              start: seconds(from),
              end: seconds(to),
              confidence,
              ...(settings.isPunctuated ? { punctuated_word: written } : {}),
            })),
          },
        ],
      },
      metadata: {
        request_id: requestId,
        model_info: { name: settings.model, version: 'emulated', arch: settings.model.split('-', 2).join('-') },
        model_uuid: modelUuid,
      },
    };
    exchange.timetable.at(dueAtMs, () => exchange.send(message));
  }
}

function typeOf(text: string): unknown {
  try {
    return JSON.parse(text).type;
  } catch {
    return null;
  }
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}
