/**
 * AssemblyAI's streaming (v3) as the ear of one call, in a provider thread: its protocol. A `Turn` is all of a turn so
 * far; at a pause the older models add an `utterance`, which may be its end, and `end_of_turn` is. Nothing is said of
 * silence, but a heartbeat. What is made of turns lies in `turn-telling-ear.ts`.
 */
import type { EarHints, EarListener } from '../../contract/ear.ts';
import { keytermsOf } from '../provider/hearing/keyterms.ts';
import { type EarDeps, type EarSocketOptions, silenceOf } from '../provider/hearing/socket-ear.ts';
import { inOrder, plainOf, spanOf, type ToldWord, textOf } from '../provider/hearing/told-words.ts';
import { type ToldTurn, TurnTellingEar } from '../provider/hearing/turn-telling-ear.ts';
import type { OpenProviderEar, ProviderEarWish } from '../provider/provider-ear.ts';
import { ProviderError } from '../provider/provider-error.ts';
import { errorOfSession } from './session-errors.ts';
import { MOST_KEYTERMS, type SessionSettings, sessionModelOf, sessionUrl } from './session-url.ts';

const FORCE_END = '{"type":"ForceEndpoint"}';
/** Where no sound comes, no turn ends: half a second of silence takes its place. */
const SILENCE_MS = 500;
const SOCKET = {
  provider: 'AssemblyAI',
  // A session that is not ended is counted, and billed, for three hours.
  goodbye: '{"type":"Terminate"}',
  // It wants pieces of 50 to 1000 ms, and reads no faster than this.
  leastBatchMs: 50,
  replaySpeed: 1.25,
  // In one long sentence it says something every 3 s.
  saysNothingMs: 4_000,
} as const satisfies Partial<EarSocketOptions>;
/** At that speed the past is dear: while nobody speaks little of it is sent again. */
const QUIET_REPLAY_MS = 500;

export const openAssemblyAiEar: OpenProviderEar = (wish, deps, listener) => new AssemblyAiEar(wish, deps, listener);

class AssemblyAiEar extends TurnTellingEar {
  /** The session of this socket was taken. */
  #hasBegun = false;
  /** Of the turn that ended last, by `turn_order`; some are told once more, formatted. */
  #endedOrder = -1;
  /** What was told to be likely the whole turn; null: nothing was. */
  #likelyText: string | null = null;

  constructor(wish: ProviderEarWish, deps: EarDeps, listener: EarListener) {
    super(wish, deps, listener, {
      ...SOCKET,
      headers: { authorization: wish.grant.credentials['apiKey'] ?? '' },
      keepAlive: { everyMs: SILENCE_MS, silence: silenceOf(wish, SILENCE_MS) },
    });
  }

  protected get model(): string {
    return sessionModelOf(this.#settings);
  }

  protected url(): string {
    return sessionUrl(this.wish, this.hints);
  }

  get #settings(): SessionSettings {
    return this.wish.settings as SessionSettings;
  }

  hint(hints: EarHints): void {
    const before = keytermsOf(this.#settings, this.hints, MOST_KEYTERMS);
    this.hints = hints;
    const terms = keytermsOf(this.#settings, hints, MOST_KEYTERMS);
    if (terms.join('\n') !== before.join('\n'))
      this.socket.say(JSON.stringify({ type: 'UpdateConfiguration', keyterms_prompt: terms }));
  }

  /** Also where it has told of no turn: it may have heard one. */
  protected force(): void {
    this.socket.say(FORCE_END);
  }

  protected override get quietReplayMs(): number {
    return QUIET_REPLAY_MS;
  }

  protected override opened(requestId: string | null): void {
    this.#hasBegun = false;
    this.#endedOrder = -1;
    this.#likelyText = null;
    // Those that wait may be of turns that are no more.
    this.socket.unsay(FORCE_END);
    super.opened(requestId);
    if (this.turn?.isOver === true) this.force();
  }

  protected override errorOfClose(code: number, reason: string): ProviderError | null {
    return errorOfSession(code, reason, this.#hasBegun);
  }

  protected said(message: Record<string, unknown>): void {
    switch (message['type']) {
      case 'Begin':
        this.#hasBegun = true;
        break;
      case 'Heartbeat':
        this.answered();
        break;
      case 'Turn':
        this.#turn(message);
        break;
      default:
        // An older form of the error has no type.
        if (message['type'] === 'Error' || typeof message['error'] === 'string') this.#error(message);
    }
  }

  #error({ error_code: code, error: said }: Record<string, unknown>): void {
    const words = typeof said === 'string' ? said : '';
    this.socket.distrust(
      errorOfSession(code, words, this.#hasBegun) ?? new ProviderError('failed', `AssemblyAI said an error: ${words}`),
    );
  }

  #turn({ turn_order: order, end_of_turn: isEnd, utterance, words: said }: Record<string, unknown>): void {
    if (typeof order === 'number' && order <= this.#endedOrder) return;
    const words = wordsIn(said, (streamMs) => this.socket.audioMs(streamMs), this.socket.pushedMs);
    if (isEnd === true && typeof order === 'number') this.#endedOrder = order;
    this.told({
      event: this.#eventOf(isEnd === true, typeof utterance === 'string' && utterance !== '', textOf(words)),
      words,
      fromMs: words[0]?.startMs ?? Number.NEGATIVE_INFINITY,
      // An end without words is that of silence, of all that it was sent.
      heardMs: words.at(-1)?.endMs ?? (isEnd === true ? this.socket.pushedMs : Number.NEGATIVE_INFINITY),
    });
  }

  #eventOf(isEnd: boolean, isLikelyEnd: boolean, text: string): ToldTurn['event'] {
    const likelyText = this.#likelyText;
    this.#likelyText = isEnd ? null : isLikelyEnd || text === likelyText ? text : null;
    if (isEnd) return 'over';
    if (isLikelyEnd) return 'eager';
    return likelyText !== null && text !== likelyText ? 'resumed' : 'words';
  }
}

/**
 * All of a turn so far; words that may change yet stand behind those that stay. What is no word is left out.
 */
function wordsIn(said: unknown, audioMs: (streamMs: number) => number, pushedMs: number): ToldWord[] {
  if (!Array.isArray(said)) return [];
  const words: ToldWord[] = [];
  for (const one of said) {
    const { text, start, end, confidence } = (one ?? {}) as Record<string, unknown>;
    const plain = typeof text === 'string' ? plainOf(text) : '';
    if (plain === '') continue;
    words.push({
      plain,
      text: String(text),
      ...spanOf(start, end, 1, audioMs),
      confidence: typeof confidence === 'number' ? confidence : 0,
    });
  }
  return inOrder(words, pushedMs);
}
