/**
 * One socket of `/v2/listen` (Flux): turns and their events. Made by the emulator once an upgrade.
 *
 *   Initial ─StartOfTurn→ TurnOngoing ─EagerEndOfTurn→ AwaitingEnd ─EndOfTurn→ Initial
 *                            ↑──────────TurnResumed──────────┘
 *
 * A turn starts with its first words. The confidence that it is over grows with silence alone (`surePauseMs`), so that
 * thresholds mean pauses. All of it counts in sound: where none comes, no turn ends.
 */
import type { TimedWord } from '../../../../media/engines/local/rejection.ts';
import { Hearing } from '../hearing/hearing.ts';
import { writtenWords } from '../hearing/written-words.ts';
import type { SocketExchange } from '../provider.ts';
import type { WordRecogniser } from '../word-recogniser.ts';
import { type Configure, changedBy, type FluxSettings, fluxCommandSchema } from './flux-settings.ts';
import type { Latencies } from './latencies.ts';
import { watchIdle } from './watch-idle.ts';

export interface FluxOptions {
  settings: FluxSettings;
  recogniser: WordRecogniser;
  vocabulary: readonly string[];
  latencies: Latencies;
  requestId: string;
}

type TurnEvent = 'Update' | 'StartOfTurn' | 'EagerEndOfTurn' | 'TurnResumed' | 'EndOfTurn';
type Trigger = 'model' | 'manual' | 'timeout';

const UPDATE_EVERY_MS = 250;
const STABLE_WORD_MS = 200;
/** So sure a pause makes it at most: a threshold of 1 is never reached. */
const MOST_CONFIDENCE = 0.99;

export function openFlux(exchange: SocketExchange, options: FluxOptions): void {
  const { latencies, requestId } = options;
  let { settings } = options;
  let sequence = 0;
  let turn = 0;
  /** In ms of sound. */
  let turnStartMs = 0;
  let lastToldMs = 0;
  let words: TimedWord[] = [];
  /** Since when there have been any, in ms of sound. */
  let wordsSinceMs = 0;
  let state: 'initial' | 'ongoing' | 'awaiting_end' = 'initial';
  /** A pause may be the turn's end: its words were asked for. */
  let isConcluding = false;
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
      if (hearing.hasStretch) {
        startIfSpoken();
        followPause();
      }
      if (!isEnding && hearing.nowMs - lastToldMs >= UPDATE_EVERY_MS) tell('Update');
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
    if (typeof message === 'string') command(message);
    else hearing.push(message, exchange.timetable.nowMs());
  });
  send({ type: 'Connected' });

  function command(text: string): void {
    const read = fluxCommandSchema.safeParse(parsed(text));
    if (!read.success) {
      send({ type: 'Error', code: 'UNPARSABLE_CLIENT_MESSAGE', description: 'Could not parse the message.' }, false);
      exchange.close(1008, 'UNPARSABLE_CLIENT_MESSAGE');
      return;
    }
    switch (read.data.type) {
      case 'CloseStream':
        closeStream();
        return;
      case 'ForceEndTurn':
        if (state !== 'initial' && !isEnding) end('manual', exchange.timetable.nowMs());
        return;
      case 'Configure':
        configure(read.data);
    }
  }

  function configure(change: Configure): void {
    const changed = changedBy(settings, change);
    settings = changed ?? settings;
    const { keyterms, languageHints } = settings;
    const hints = languageHints.length === 0 ? {} : { language_hints: languageHints };
    const success = { type: 'ConfigureSuccess', thresholds: thresholds(), keyterms, ...hints };
    const dueAtMs = exchange.timetable.nowMs() + latencies.turnEventMs;
    later(dueAtMs, changed === null ? { type: 'ConfigureFailure' } : success);
  }

  function thresholds(): object {
    const { eotThreshold, eagerEotThreshold, eotTimeoutMs } = settings;
    const eager = eagerEotThreshold === null ? {} : { eager_eot_threshold: eagerEotThreshold };
    return { eot_threshold: eotThreshold, ...eager, eot_timeout_ms: eotTimeoutMs };
  }

  const phrases = (): string[] => [...options.vocabulary, ...settings.keyterms];

  function open(): void {
    words = [];
    isConcluding = false;
    hearing.open(phrases(), {
      partial(heard) {
        if (isEnding || state === 'awaiting_end') return;
        if (heard.length === 0 || words.length === 0) wordsSinceMs = hearing.nowMs;
        words = heard;
        // They may come after the last of the sound.
        startIfSpoken();
      },
      concluded(heard) {
        if (!isConcluding || isEnding) return;
        words = heard;
        startIfSpoken(true);
        if (state !== 'ongoing' || words.length === 0) return;
        state = 'awaiting_end';
        tell('EagerEndOfTurn');
      },
    });
  }

  /** One word that was just heard may be a mistake, unless it is all that there was. */
  function startIfSpoken(isWhole = false): void {
    if (state !== 'initial' || words.length === 0) return;
    if (!isWhole && words.length === 1 && hearing.nowMs - wordsSinceMs < STABLE_WORD_MS) return;
    state = 'ongoing';
    tell('StartOfTurn');
  }

  /** Speech again after what might have been the end. */
  function resume(): void {
    isConcluding = false;
    hearing.goOn();
    if (state !== 'awaiting_end') return;
    state = 'ongoing';
    tell('TurnResumed');
  }

  function followPause(): void {
    const confidence = confidenceNow();
    const { eotThreshold, eagerEotThreshold, eotTimeoutMs } = settings;
    if (confidence >= eotThreshold) end('model', hearing.arrivedAtMs);
    else if (hearing.silenceMs >= eotTimeoutMs) end('timeout', hearing.arrivedAtMs);
    else if (eagerEotThreshold !== null && confidence >= eagerEotThreshold && !isConcluding) {
      isConcluding = true;
      hearing.conclude();
    }
  }

  /** `causeAtMs` on the clock. */
  function end(trigger: Trigger, causeAtMs: number): void {
    isEnding = true;
    const confidence = confidenceNow();
    const endMs = hearing.nowMs;
    const dueAtMs = causeAtMs + latencies.turnEventMs;
    const wasAwaiting = state === 'awaiting_end';
    hearing.finish((heard) => {
      isEnding = false;
      // What was told to be the end is what ends: the decoder keeps its conclusion.
      if (!wasAwaiting) words = heard;
      startIfSpoken(true);
      if (state === 'ongoing' && settings.eagerEotThreshold !== null && trigger === 'model' && words.length > 0)
        tell('EagerEndOfTurn', { confidence, endMs, dueAtMs });
      if (state !== 'initial') {
        tell('EndOfTurn', { confidence, endMs, dueAtMs, trigger });
        turn++;
      }
      state = 'initial';
      isConcluding = false;
      words = [];
      turnStartMs = endMs;
      if (isClosing) sayGoodbye();
    });
  }

  function closeStream(): void {
    isClosing = true;
    idle.stop();
    if (isEnding) return;
    if (!hearing.hasStretch) {
      sayGoodbye();
      return;
    }
    // No turn is ended by it: the words so far come as an update.
    hearing.finish((heard) => {
      if (state !== 'awaiting_end') words = heard;
      tell('Update');
      sayGoodbye();
    });
  }

  function sayGoodbye(): void {
    exchange.timetable.after(latencies.turnEventMs, () => exchange.close());
  }

  function confidenceNow(): number {
    if (!hearing.hasStretch) return 0;
    return Math.min(MOST_CONFIDENCE, hearing.silenceMs / latencies.surePauseMs);
  }

  interface Moment {
    confidence: number;
    endMs: number;
    dueAtMs: number;
    trigger?: Trigger;
  }

  function tell(event: TurnEvent, moment?: Moment): void {
    const endMs = moment?.endMs ?? hearing.nowMs;
    lastToldMs = endMs;
    const spoken = writtenWords(words, phrases());
    const { languageHints } = settings;
    const message = {
      type: 'TurnInfo',
      event,
      turn_index: turn,
      audio_window_start: seconds(turnStartMs),
      audio_window_end: seconds(endMs),
      transcript: spoken.map(({ written }) => written).join(' '),
      words: spoken.map(({ written, confidence, startMs, endMs: to }) => ({
        word: written,
        confidence,
        start: seconds(startMs),
        end: seconds(to),
      })),
      end_of_turn_confidence: moment?.confidence ?? confidenceNow(),
      ...(moment?.trigger === undefined ? {} : { trigger: moment.trigger }),
      ...(settings.model === 'flux-general-multi' && spoken.length > 0 ? { languages: ['en'] } : {}),
      ...(languageHints.length === 0 ? {} : { languages_hinted: languageHints }),
    };
    later(moment?.dueAtMs ?? hearing.arrivedAtMs + latencies.turnEventMs, message);
  }

  function later(dueAtMs: number, message: object): void {
    exchange.timetable.at(dueAtMs, () => send(message));
  }

  /** Numbered when it leaves: the client counts what it gets. */
  function send(message: object, isOfRequest = true): void {
    exchange.send({ ...message, ...(isOfRequest ? { request_id: requestId } : {}), sequence_id: sequence++ });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}
