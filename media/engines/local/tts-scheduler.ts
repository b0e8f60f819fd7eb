/**
 * Shares one voice between many requests, one piece of speech at a time: next is the request whose listener runs out of
 * sound first. A new request has no sound yet, so a long text never delays another call's first sentence by more than
 * one piece; one that nobody waits for yet goes behind those that somebody hears.
 * Called by the TTS thread. Knows no ports; between two pieces it yields, so that cancellations get in.
 */

import type { Clock } from '../../contract/clock.ts';
import type { SpeechChunk } from '../../contract/engines.ts';
import { isLocalVoice, LOCAL_VOICES } from '../../contract/local-voices.ts';
import { VoiceError } from '../voice-error.ts';
import { FLITE_RATE_HZ, type FliteVoice } from './flite-voice.ts';
import { type Piece, sentencePieces } from './sentence-pieces.ts';
import { type Metered, timed } from './work-meter.ts';

/** About five minutes of speech; more is no turn of a conversation. */
const MAX_TEXT_CHARACTERS = 4000;
/**
 * Above this the newest would wait for many seconds: better told at once. What somebody waits for on the line is the
 * last to be refused.
 */
const MAX_WAITING_REQUESTS = 256;
const MAX_WAITING_AHEAD = 128;
/** What is made ahead is due so much later: the phone still rings. */
const AHEAD_MS = 1_000;

export interface TtsListener {
  onChunk(chunk: SpeechChunk & { samples: Int16Array<ArrayBuffer> }): void;
  /** Exactly one of these two, unless cancelled first; nothing comes after it. */
  onDone(): void;
  onError(error: VoiceError): void;
}

export interface TtsScheduler extends Metered {
  /**
   * Returns the function that cancels; after it nothing is called any more. `ahead`: nobody waits for it yet;
   * `isFixed`: the same in every call.
   */
  request(text: string, voice: string, listener: TtsListener, ahead?: boolean, isFixed?: boolean): () => void;
  readonly waitingRequests: number;
}

interface Request {
  pieces: Piece[];
  next: number;
  voice: string;
  isFixed: boolean;
  listener: TtsListener;
  /** When what was made so far has been played, had it begun on arrival. */
  runsOutAtMs: number;
  /** Text before the first sound goes with the first chunk. */
  silentText: string;
  spoke: boolean;
}

/** `yieldThen` runs its argument after pending messages were read: `setImmediate`. */
export function createTtsScheduler(
  voice: FliteVoice,
  clock: Clock,
  yieldThen: (run: () => void) => void,
): TtsScheduler {
  const requests = new Set<Request>();
  let running = false;
  let busyMs = 0;
  const spent = (ms: number): void => {
    busyMs += ms;
  };

  function wake(): void {
    if (running) return;
    running = true;
    yieldThen(turn);
  }

  function turn(): void {
    const request = mostUrgent();
    if (request === undefined) {
      running = false;
      return;
    }
    timed(clock, spent, () => {
      speakNextPiece(request);
      voice.prepare();
    });
    yieldThen(turn);
  }

  function mostUrgent(): Request | undefined {
    let first: Request | undefined;
    for (const request of requests) if (first === undefined || request.runsOutAtMs < first.runsOutAtMs) first = request;
    return first;
  }

  function speakNextPiece(request: Request): void {
    const piece = request.pieces[request.next++]!;
    const text = request.silentText + piece.text;
    const { voice: name, isFixed } = request;
    let samples: Int16Array<ArrayBuffer>;
    try {
      samples = voice.speak({ text: piece.text, voice: name, isFirst: !request.spoke, end: piece.end, isFixed });
    } catch (cause) {
      fail(request, new VoiceError('engine_failed', `The voice failed at: ${piece.text.slice(0, 80)}`, { cause }));
      return;
    }
    if (samples.length > 0) {
      request.spoke = true;
      request.silentText = '';
      request.runsOutAtMs += (samples.length * 1000) / FLITE_RATE_HZ;
      request.listener.onChunk({ samples, text });
    } else {
      request.silentText = text;
    }
    if (request.next < request.pieces.length) return;
    if (!request.spoke) {
      fail(
        request,
        new VoiceError('nothing_to_speak', 'The text holds no letter or digit that the English voice can say.'),
      );
      return;
    }
    if (requests.delete(request)) request.listener.onDone();
  }

  function fail(request: Request, error: VoiceError): void {
    if (requests.delete(request)) request.listener.onError(error);
  }

  function refusal(text: string, voiceName: string, ahead: boolean): VoiceError | null {
    if (!isLocalVoice(voiceName)) {
      return new VoiceError(
        'unknown_voice',
        `The local voices are ${LOCAL_VOICES.join(', ')}, not "${voiceName.slice(0, 40)}".`,
      );
    }
    if (text.length > MAX_TEXT_CHARACTERS) {
      return new VoiceError(
        'text_too_long',
        `A text may have ${MAX_TEXT_CHARACTERS} characters, this one has ${text.length}: speak it in parts.`,
      );
    }
    if (requests.size >= (ahead ? MAX_WAITING_AHEAD : MAX_WAITING_REQUESTS)) {
      return new VoiceError('overloaded', `${requests.size} texts are waiting for the voice: add speech threads.`);
    }
    return null;
  }

  return {
    request(text, voiceName, listener, ahead = false, isFixed = false) {
      const refused = refusal(text, voiceName, ahead);
      const pieces = refused === null ? sentencePieces(text) : [];
      const request: Request = {
        pieces,
        next: 0,
        voice: voiceName,
        isFixed,
        listener,
        runsOutAtMs: clock.nowMs() + (ahead ? AHEAD_MS : 0),
        silentText: '',
        spoke: false,
      };
      requests.add(request);
      if (refused !== null) fail(request, refused);
      else if (pieces.length === 0) fail(request, new VoiceError('nothing_to_speak', 'The text is empty.'));
      else wake();
      return () => {
        requests.delete(request);
      };
    },
    get waitingRequests() {
      return requests.size;
    },
    get busyMs() {
      return busyMs;
    },
    get lateMs() {
      const first = mostUrgent();
      return first === undefined ? 0 : Math.max(0, clock.nowMs() - first.runsOutAtMs);
    },
  };
}
