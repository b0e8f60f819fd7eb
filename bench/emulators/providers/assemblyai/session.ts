/**
 * One session of `/v3/ws`: turns, each told whole again and again until its end. Made by the emulator once an upgrade.
 * A model of segments ends a turn at a pause behind a full stop, or at the longest pause; one of words when it is sure
 * enough, which grows with silence alone (`surePauseMs`). All of it counts in sound: where none comes, no turn ends.
 */
import type { TimedWord } from '../../../../media/engines/local/rejection.ts';
import { Hearing } from '../hearing/hearing.ts';
import { type WrittenWord, writtenWords } from '../hearing/written-words.ts';
import type { SocketExchange } from '../provider.ts';
import type { WordRecogniser } from '../word-recogniser.ts';
import type { Latencies } from './latencies.ts';
import { changedBy, commandSchema, type SessionSettings } from './session-settings.ts';

export interface SessionOptions {
  id: string;
  settings: SessionSettings;
  recogniser: WordRecogniser;
  vocabulary: readonly string[];
  latencies: Latencies;
}

const LEAST_CHUNK_MS = 50;
const MOST_CHUNK_MS = 1_000;
/** Sound may come so much faster than it is spoken, and so much ahead. */
const MOST_SPEED = 1.25;
const MOST_AHEAD_MS = 5_000;
/** Of a model of segments, in one long sentence. */
const PARTIAL_EVERY_MS = 3_000;
const SESSION_MS = 3 * 60 * 60 * 1_000;
const MOST_CONFIDENCE = 0.99;

export function openSession(exchange: SocketExchange, options: SessionOptions): void {
  const { latencies, timetable } = { latencies: options.latencies, timetable: exchange.timetable };
  let { settings } = options;
  const openedAtMs = timetable.nowMs();
  const bytesPerMs = (settings.format.rateHz / 1_000) * (settings.format.encoding === 'mulaw' ? 1 : 2);
  let receivedMs = 0;
  let order = 0;
  let words: TimedWord[] = [];
  let toldText = '';
  /** In ms of sound; NaN: nothing was told of the turn. */
  let toldMs = Number.NaN;
  /** A pause may be the turn's end: its words were asked for, and have come. */
  let isConcluding = false;
  let isConcluded = false;
  /** The turn's final words were asked for; nothing is told of it until they come. */
  let isEnding = false;
  let isClosing = false;

  const hearing = new Hearing(options.recogniser, settings.format, {
    onset() {},
    frame() {
      if (isEnding) return;
      if (hearing.silenceMs === 0) {
        if (!hearing.hasStretch) open();
        else if (isConcluding) resume();
      }
      if (!hearing.hasStretch) return;
      tellPartial();
      followPause();
    },
    warning: (message) => exchange.note('warning', { message }),
  });
  const heartbeat = settings.hasHeartbeat ? setInterval(tellHeartbeat, latencies.heartbeatEveryMs) : undefined;

  exchange.signal.addEventListener('abort', () => {
    clearInterval(heartbeat);
    hearing.close();
  });
  exchange.onMessage((message) => {
    if (isClosing) return;
    if (typeof message === 'string') command(message);
    else take(message);
  });
  timetable.after(latencies.beginMs, () =>
    exchange.send({
      type: 'Begin',
      id: options.id,
      expires_at: Math.floor((Date.now() + SESSION_MS) / 1_000),
      configuration: { model: settings.model, mode: null, api_version: '2025-05-12' },
    }),
  );

  function take(sound: Buffer): void {
    const chunkMs = sound.length / bytesPerMs;
    receivedMs += chunkMs;
    const elapsedMs = timetable.nowMs() - openedAtMs;
    if (chunkMs < LEAST_CHUNK_MS || chunkMs > MOST_CHUNK_MS)
      fail(3007, `Input duration violation: ${Math.round(chunkMs)} ms. Expected between 50 and 1000 ms`);
    else if (receivedMs > elapsedMs * MOST_SPEED + MOST_AHEAD_MS)
      fail(
        3007,
        `Audio Transmission Rate Exceeded: Received ${seconds(receivedMs)} sec. audio in ${seconds(elapsedMs)} sec`,
      );
    else hearing.push(sound, timetable.nowMs());
  }

  function command(text: string): void {
    const read = commandSchema.safeParse(parsed(text));
    if (!read.success) {
      fail(3006, `Invalid Message: ${text.slice(0, 100)}`);
      return;
    }
    switch (read.data.type) {
      case 'KeepAlive':
        return;
      case 'UpdateConfiguration':
        settings = changedBy(settings, read.data);
        return;
      case 'ForceEndpoint':
        endNow();
        return;
      case 'Terminate':
        isClosing = true;
        endNow();
    }
  }

  function fail(code: number, said: string): void {
    isClosing = true;
    exchange.send({ type: 'Error', error_code: code, error: said });
    exchange.close(code, 'See Error message for details');
  }

  const phrases = (): string[] => [...options.vocabulary, ...settings.keyterms];

  function open(): void {
    words = [];
    toldText = '';
    toldMs = Number.NaN;
    isConcluding = false;
    isConcluded = false;
    hearing.open(phrases(), {
      partial(heard) {
        if (!isEnding && !isConcluding) words = heard;
      },
      concluded(heard) {
        if (!isConcluding || isEnding) return;
        words = heard;
        isConcluded = true;
        followPause();
        if (!isEnding && words.length > 0) tell({ isPause: true });
      },
    });
  }

  /** Speech again after what might have been the end. */
  function resume(): void {
    isConcluding = false;
    isConcluded = false;
    hearing.goOn();
  }

  function tellPartial(): void {
    if (isConcluding || words.length === 0) return;
    const isDue = settings.isBySegment
      ? Number.isNaN(toldMs)
        ? hearing.stretchMs >= settings.firstPartialMs
        : hearing.nowMs - toldMs >= PARTIAL_EVERY_MS
      : textOf(words) !== toldText;
    if (isDue) tell({});
  }

  function followPause(): void {
    const { silenceMs } = hearing;
    if (silenceMs < Math.min(settings.minTurnSilenceMs, settings.maxTurnSilenceMs)) return;
    if (silenceMs >= settings.maxTurnSilenceMs) end(hearing.arrivedAtMs);
    else if (!isConcluding) {
      isConcluding = true;
      hearing.conclude();
    } else if (isConcluded && isSure()) end(hearing.arrivedAtMs);
  }

  function isSure(): boolean {
    if (!settings.isBySegment) return confidenceNow() >= settings.endOfTurnConfidence;
    return /[.?!]$/.test(writtenWords(words, phrases()).at(-1)?.written ?? '');
  }

  /** Where nobody speaks a turn without words ends. */
  function endNow(): void {
    if (isEnding) return;
    if (hearing.hasStretch) {
      end(timetable.nowMs(), true);
      return;
    }
    words = [];
    tell({ isEnd: true, confidence: confidenceNow(), dueAtMs: timetable.nowMs() + latencies.turnMs });
    order++;
    if (isClosing) sayGoodbye();
  }

  /** `causeAtMs` on the clock. */
  function end(causeAtMs: number, isForced = false): void {
    isEnding = true;
    const confidence = settings.isBySegment ? 1 : confidenceNow();
    const wasConcluded = isConcluded;
    hearing.finish((heard) => {
      isEnding = false;
      // What was told to be the end is what ends: the decoder keeps its conclusion.
      if (!wasConcluded) words = heard;
      const moment = { isEnd: true, confidence, dueAtMs: causeAtMs + latencies.turnMs } as const;
      // What was no speech is nobody's turn, unless its end was asked for.
      if (words.length > 0 || isForced) {
        tell(moment);
        if (settings.isFormatted && !settings.isBySegment) tell({ ...moment, isFormatted: true });
        order++;
      }
      words = [];
      if (isClosing) sayGoodbye();
    });
  }

  function sayGoodbye(): void {
    timetable.after(latencies.turnMs, () => {
      const sessionMs = timetable.nowMs() - openedAtMs;
      exchange.send({
        type: 'Termination',
        audio_duration_seconds: Math.round(receivedMs / 1_000),
        session_duration_seconds: Math.round(sessionMs / 1_000),
      });
      exchange.close(1000, 'Session Ended');
    });
  }

  function tellHeartbeat(): void {
    exchange.send({
      type: 'Heartbeat',
      total_audio_received_ms: Math.round(receivedMs),
      total_duration_ms: Math.round(timetable.nowMs() - openedAtMs),
      realtime_factor: 0.1,
      max_speech_probability: 0,
    });
  }

  function confidenceNow(): number {
    return hearing.hasStretch ? Math.min(MOST_CONFIDENCE, hearing.silenceMs / latencies.surePauseMs) : 0;
  }

  interface Moment {
    isPause?: boolean;
    isEnd?: boolean;
    isFormatted?: boolean;
    confidence?: number;
    dueAtMs?: number;
  }

  function tell({ isPause = false, isEnd = false, isFormatted = false, confidence, dueAtMs }: Moment): void {
    toldMs = hearing.nowMs;
    toldText = textOf(words);
    const writes = settings.isBySegment || isFormatted;
    const spoken: WrittenWord[] = writes
      ? writtenWords(words, phrases())
      : words.map((word) => ({ ...word, written: word.word }));
    // The last word may be another yet; of segments all may.
    const finals = isEnd || isPause ? spoken.length : Math.max(0, spoken.length - 1);
    const isFinal = (i: number): boolean => (settings.isBySegment ? isEnd : i < finals);
    const text = (some: readonly WrittenWord[]): string => some.map(({ written }) => written).join(' ');
    const message = {
      turn_order: order,
      turn_is_formatted: writes && isEnd,
      end_of_turn: isEnd,
      transcript: text(settings.isBySegment ? spoken : spoken.slice(0, finals)),
      end_of_turn_confidence: confidence ?? (settings.isBySegment ? 0 : confidenceNow()),
      words: spoken.map(({ written, confidence: sure, startMs, endMs }, i) => ({
        start: Math.round(startMs),
        end: Math.round(endMs),
        text: written,
        confidence: sure,
        word_is_final: isFinal(i),
      })),
      utterance: (settings.isBySegment ? isEnd : isPause) ? text(spoken) : '',
      type: 'Turn',
    };
    timetable.at(dueAtMs ?? hearing.arrivedAtMs + latencies.turnMs, () => exchange.send(message));
  }
}

function textOf(words: readonly TimedWord[]): string {
  return words.map(({ word }) => word).join(' ');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(2);
}
