/**
 * Deepgram's Flux (v2) as the ear of one call, in a provider thread: its protocol. What is made of the turns that it
 * tells lies in `turn-telling-ear.ts`.
 */
import type { EarHints, EarListener } from '../../contract/ear.ts';
import { keytermsOf } from '../provider/hearing/keyterms.ts';
import { type EarDeps, silenceOf } from '../provider/hearing/socket-ear.ts';
import { type ToldTurn, TurnTellingEar } from '../provider/hearing/turn-telling-ear.ts';
import type { OpenProviderEar, ProviderEarWish } from '../provider/provider-ear.ts';
import { deepgramSocket, OwnRequest } from './deepgram-socket.ts';
import { errorOfFluxCode } from './flux-errors.ts';
import { type FluxSettings, fluxModelOf, fluxUrl, MOST_KEYTERMS } from './listen-url.ts';
import { wordsIn } from './words-in.ts';

const FORCE_END = '{"type":"ForceEndTurn"}';
/** Where no sound comes, no turn ends: half a second of silence takes its place. */
const SILENCE_MS = 500;
/** Any other tells words. */
const EVENTS: Readonly<Record<string, ToldTurn['event']>> = {
  EagerEndOfTurn: 'eager',
  TurnResumed: 'resumed',
  EndOfTurn: 'over',
};

export const openFluxEar: OpenProviderEar = (wish, deps, listener) => new FluxEar(wish, deps, listener);

class FluxEar extends TurnTellingEar {
  readonly #request = new OwnRequest();

  constructor(wish: ProviderEarWish, deps: EarDeps, listener: EarListener) {
    super(wish, deps, listener, deepgramSocket(wish, { everyMs: SILENCE_MS, silence: silenceOf(wish, SILENCE_MS) }));
  }

  protected get model(): string {
    return fluxModelOf(this.#settings);
  }

  protected url(): string {
    return fluxUrl(this.wish.grant, this.wish.settings as FluxSettings, this.hints, this.wish);
  }

  get #settings(): FluxSettings {
    return this.wish.settings as FluxSettings;
  }

  hint(hints: EarHints): void {
    const before = keytermsOf(this.#settings, this.hints, MOST_KEYTERMS);
    this.hints = hints;
    const keyterms = keytermsOf(this.#settings, hints, MOST_KEYTERMS);
    if (keyterms.join('\n') !== before.join('\n')) this.socket.say(JSON.stringify({ type: 'Configure', keyterms }));
  }

  protected force(isOpen: boolean): void {
    if (isOpen) this.socket.say(FORCE_END);
  }

  protected override opened(requestId: string | null): void {
    this.#request.opened(requestId);
    // They may be of turns that are no more. That of a turn that is over is said with its first words.
    this.socket.unsay(FORCE_END);
    super.opened(requestId);
  }

  protected said(message: Record<string, unknown>): void {
    const fault = this.#request.faultOf(message['request_id']);
    if (fault !== null) this.socket.distrust(fault);
    else if (message['type'] === 'Error')
      this.socket.distrust(errorOfFluxCode(message['code'], message['description']));
    else if (message['type'] === 'TurnInfo') this.#turnInfo(message);
  }

  #turnInfo({ event, words, audio_window_start: fromS, audio_window_end: toS }: Record<string, unknown>): void {
    const audioMs = (seconds: unknown): number =>
      this.socket.audioMs((typeof seconds === 'number' ? seconds : 0) * 1_000);
    this.told({
      event: (typeof event === 'string' ? EVENTS[event] : undefined) ?? 'words',
      words: wordsIn(words, (streamMs) => this.socket.audioMs(streamMs), audioMs(toS)),
      fromMs: audioMs(fromS),
      heardMs: audioMs(toS),
    });
  }
}
