/**
 * What every subject of the race is held to: the same lines, the same answer, the same latencies of the emulated
 * providers. The answer is one sentence without a comma, so that all send it to the voice at the same instant.
 */

/** Said in turn by every caller; each is a question, and those that interrupt are the same. */
export const LINES = [
  'what are your opening hours on the weekend',
  'can I bring my dog along to the restaurant',
  'do you have a table for four this evening',
] as const;

export const ANSWER = 'We stay open every evening until eleven and on Sundays too.';

export const CALLERS_VOICE = 'rms';

/** A frame of a caller is speech when one of its samples is so loud; the emulated recogniser goes by it too. */
export const LOUD_SAMPLE = 700;

/** Of the emulated providers, ms. */
export const LATENCIES = {
  /** Silence after the last sound, until the recogniser takes an utterance as over. */
  pauseMs: 200,
  /** From there to the final words; also the answer to `Finalize`. */
  finalMs: 150,
  /** From sound to the interim words of it, and from one interim to the next. */
  interimMs: 100,
  interimEveryMs: 500,
  firstTokenMs: 300,
  tokenMs: 15,
  /** From the text to its first sound. */
  firstAudioMs: 120,
} as const;

/** Of a caller, ms. */
export const MANNERS = {
  /** From the agent's last sound to the next line. */
  thinksMs: 600,
  /** An answer that has not begun by then is none. */
  patienceMs: 4_000,
  /** Into the answer, in every so many-th turn: it would last longer than the interruption. */
  interruptsAfterMs: 800,
  interruptsEvery: 3,
} as const;

/** As the model emulator has them: up to six letters or what is no letter, with the space before it. */
export const TOKENS: readonly string[] = ANSWER.match(/ ?(?:\p{L}{1,6}|[^\p{L}\s])/gu) ?? [];

/** What the providers alone take for the words, the answer's text and its first sound, ms: no patience spares it. */
export const WORK_MS =
  LATENCIES.finalMs + LATENCIES.firstTokenMs + (TOKENS.length - 1) * LATENCIES.tokenMs + LATENCIES.firstAudioMs;

/** The same from the caller's last sound on, where it is the recogniser that waits out the pause. */
export const SCRIPTED_MS = LATENCIES.pauseMs + WORK_MS;
