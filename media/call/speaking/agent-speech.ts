/**
 * The agent's side of the conversation: turns words into speech, plays it, keeps its turn in the transcript, and tries
 * a voice that failed once more. The conversation tells it what to say, when to pause, and when to give way; it decides
 * nothing about the caller.
 */
import type { Logger } from 'pino';
import type { SpeechSource } from '../../contract/speech-source.ts';
import type { CallBlock } from '../../rings/call-block.ts';
import type { AskTimes, ReplyAnchor, SpeakTimes } from '../reply-stages.ts';
import type { CallReporter } from '../reporter.ts';
import type { FrameEncoder } from './frame-encoder.ts';
import type { RenderedSpeech } from './rendered-speech.ts';
import { Speaker, type SpeakerListener } from './speaker.ts';
import { SpeechMaker, type SpeechMakerDeps, type VoiceWish } from './speech-maker.ts';

export interface AgentSpeechDeps extends SpeechMakerDeps {
  call: CallBlock;
  logger: Logger;
  reporter: CallReporter;
  ringIo: () => void;
  /** Of a leg whose codec has a memory. */
  encoder: FrameEncoder | null;
  /** A page listens: it is told utterances and words. */
  hasPage: boolean;
}

export interface AgentSpeechListener {
  /** The caller has heard all of it, or only this much: it broke off. */
  utteranceSaid(heardText: string | null): void;
  /** The voice engine failed twice in a row. */
  voiceLost(error: Error): void;
}

export interface Utterance {
  speech: SpeechSource;
  stepId: string | null;
  interruptible: boolean;
  /** The caller's turn that it answers. */
  anchor: ReplyAnchor | null;
  /** The question to a model whose answer it is. */
  ask?: AskTimes | null;
}

type SaidText = Extract<SpeechSource, { text: string }>;

const MOST_FAILURES = 2;

export class AgentSpeech implements SpeakerListener {
  readonly #deps: AgentSpeechDeps;
  readonly #maker: SpeechMaker;
  readonly #listener: AgentSpeechListener;
  readonly #speaker: Speaker;
  #utterance: Utterance | null = null;
  /** Stream time of the utterance's first audio; NaN before. */
  #voicedAtMs = Number.NaN;
  /** `Clock.nowMs` at which it was begun. */
  #begunAtMs = Number.NaN;
  #forget: (() => void) | null = null;
  #failures = 0;
  readonly #tellsWords: boolean;
  /** Of the utterance's text, how much the page has been told. */
  #toldChars = 0;

  constructor(deps: AgentSpeechDeps, wish: VoiceWish, listener: AgentSpeechListener) {
    this.#deps = deps;
    this.#maker = new SpeechMaker(deps, wish);
    this.#listener = listener;
    this.#tellsWords = deps.hasPage;
    this.#speaker = this.#newSpeaker(this);
  }

  /** For who speaks in the agent's place, which says nothing until `takeBack`. */
  lend(listener: SpeakerListener): Speaker {
    const lent = this.#newSpeaker(listener);
    lent.follow(this.#speaker);
    return lent;
  }

  takeBack(lent: Speaker): void {
    lent.cut();
    this.#speaker.follow(lent);
  }

  /** There is something that the caller has not heard to its end. */
  get active(): boolean {
    return this.#speaker.active;
  }

  /** The far end has been given audio of it. */
  get audible(): boolean {
    return this.#speaker.audible;
  }

  /** Paused, and the playhead is final. */
  get settled(): boolean {
    return this.#speaker.settled;
  }

  get interruptible(): boolean {
    return this.#utterance?.interruptible ?? true;
  }

  /** Without words: it makes no turn. */
  get #isSound(): boolean {
    return this.#utterance !== null && 'loop' in this.#utterance.speech;
  }

  get heardText(): string {
    return this.#speaker.heardText;
  }

  say(utterance: Utterance): void {
    const beganAtMs = this.#deps.clock.nowMs();
    const speech = this.#maker.speechOf(utterance.speech);
    if (speech !== null) this.#play(utterance, speech, beganAtMs);
    else if ('text' in utterance.speech) this.#sayInstead(utterance, utterance.speech, 'it is not to be had');
  }

  /** What is being said, and from which word on it has not been heard. */
  get unsaid(): { utterance: Utterance; restText: string } | null {
    const { speech, playheadMs } = this.#speaker;
    const utterance = this.#utterance;
    return speech === null || utterance === null ? null : { utterance, restText: speech.restText(playheadMs) };
  }

  /** It will be wanted soon. */
  makeReady(text: string): void {
    this.#maker.makeReady(text);
  }

  pump(): void {
    this.#speaker.pump();
    if (!this.#speaker.audible) return;
    this.#deps.call.heardChars = this.#speaker.heardChars;
    if (this.#tellsWords) this.#tellWords();
  }

  pause(): void {
    this.#speaker.pause();
  }

  /** Goes on from the start of the word that was cut. Only when `settled`. */
  resume(): void {
    this.#speaker.resume();
  }

  /**
   * Ends what is being said, with a turn of what was heard of it; `interrupted` false counts as cut only if words are
   * missing.
   */
  silence(interrupted: boolean): void {
    if (!this.#speaker.active) return;
    const { startedAtStreamMs, heardText, speech } = this.#speaker;
    const endedAtStreamMs = this.#speaker.settled ? this.#speaker.pausedAtStreamMs : this.#deps.call.streamMs;
    const isSound = this.#isSound;
    this.#speaker.cut();
    this.#drop();
    if (isSound) {
      this.#deps.reporter.soundEnded();
      return;
    }
    const cut = interrupted || heardText !== speech?.text;
    this.#deps.reporter.agentEnded(startedAtStreamMs, endedAtStreamMs, heardText, cut);
  }

  #tellWords(): void {
    const { speech, playheadMs } = this.#speaker;
    if (speech === null) return;
    const chars = speech.begunChars(playheadMs);
    if (chars <= this.#toldChars) return;
    this.#deps.reporter.agentText(speech.text.slice(this.#toldChars, chars));
    this.#toldChars = chars;
  }

  speechStarted(): void {
    const { speech } = this.#speaker;
    const utterance = this.#utterance;
    if (utterance === null || speech === null) return;
    const voicedAtMs = this.#isSound ? Number.NaN : this.#voicedAtMs;
    const { stepId, anchor, ask = null } = utterance;
    const spoken = this.#spokenTimes(speech);
    this.#deps.reporter.agentStarted({ text: speech.text, stepId, anchor, ask, voicedAtMs, spoken });
  }

  /** What was made before it was wanted took no time of this reply's. */
  #spokenTimes({ askedAtMs, voicedAtMs, voice }: RenderedSpeech): SpeakTimes {
    const { call, reporter } = this.#deps;
    const ringAtMs = reporter.exactAt(this.#speaker.ringAtMs);
    const isOwn = askedAtMs >= this.#begunAtMs;
    const sentAtMs = reporter.at(call.runSentAtMs);
    return {
      voice,
      clauseAtMs: isOwn ? reporter.exactAt(askedAtMs) : Number.NaN,
      audioAtMs: isOwn ? reporter.exactAt(voicedAtMs) : Number.NaN,
      ringAtMs,
      // Of an utterance that follows another without a gap only the look at it is known.
      frameAtMs: sentAtMs >= Math.floor(ringAtMs) - 1 ? Math.max(sentAtMs, ringAtMs) : reporter.exactMs,
    };
  }

  speechFinished(): void {
    const { speech } = this.#speaker;
    const utterance = this.#utterance;
    if (speech === null || utterance === null) return;
    this.#drop();
    if (speech.error === null) {
      this.#failures = 0;
      this.#said(speech, true);
    } else this.#brokeOff(speech, speech.error, utterance);
  }

  #said(speech: RenderedSpeech, isWhole: boolean): void {
    const { call, reporter } = this.#deps;
    const heardText = isWhole ? speech.text : speech.heardText(speech.durationMs);
    reporter.agentEnded(this.#speaker.startedAtStreamMs, call.streamMs, heardText, !isWhole);
    this.#listener.utteranceSaid(isWhole ? null : heardText);
  }

  #brokeOff(speech: RenderedSpeech, error: Error, utterance: Utterance): void {
    const { reporter, logger } = this.#deps;
    const source = utterance.speech;
    if ('text' in source && source.clip !== undefined) {
      if (speech.frames === 0) {
        this.#sayInstead(utterance, source, error.message);
        return;
      }
      reporter.warning('clip_unavailable', `The clip '${source.clip}' broke off: ${error.message}`);
      this.#said(speech, false);
      return;
    }
    const feed = 'feed' in source ? source.feed : 'audio' in source ? source.audio : null;
    if (feed !== null && (feed.error !== null || 'audio' in source)) {
      // No fault of the voice's: the agent had no more to give.
      reporter.warning('speech_broke_off', error.message);
      this.#said(speech, false);
      return;
    }
    this.#failures++;
    reporter.warning('tts_error', error.message);
    const isLost = this.#failures >= MOST_FAILURES;
    if (!isLost && speech.frames === 0) {
      const again = 'text' in source ? { text: source.text } : source;
      this.say({ ...utterance, speech: again });
      return;
    }
    feed?.abandon();
    if (!isLost) {
      this.#said(speech, false);
      return;
    }
    const { call } = this.#deps;
    reporter.agentEnded(this.#speaker.startedAtStreamMs, call.streamMs, speech.heardText(speech.durationMs), true);
    logger.error({ err: error }, 'the voice engine failed twice in a row; the call ends');
    this.#listener.voiceLost(error);
  }

  /** The caller is told all the same. */
  #sayInstead(utterance: Utterance, { clip, ...words }: SaidText, why: string): void {
    this.#deps.reporter.warning('clip_unavailable', `The clip '${clip}' was spoken by the voice instead: ${why}`);
    this.say({ ...utterance, speech: { ...words, isOpening: false } });
  }

  #play(utterance: Utterance, speech: RenderedSpeech, beganAtMs: number): void {
    this.#forget?.();
    this.#utterance = utterance;
    this.#toldChars = 0;
    this.#begunAtMs = beganAtMs;
    this.#voicedAtMs = speech.frames > 0 ? this.#deps.reporter.nowMs : Number.NaN;
    const forget = speech.onChange(() => {
      if (this.#speaker.speech !== speech) return;
      if (speech.frames > 0 && Number.isNaN(this.#voicedAtMs)) this.#voicedAtMs = this.#deps.reporter.nowMs;
      this.#speaker.pump();
    });
    const grows = 'feed' in utterance.speech || 'audio' in utterance.speech;
    if (grows) speech.onText = () => this.#deps.reporter.agentSaysMore(speech.text);
    this.#forget = () => {
      forget();
      if (grows) speech.onText = null;
    };
    this.#speaker.say(speech);
  }

  #newSpeaker(listener: SpeakerListener): Speaker {
    const { call, clock, ringIo, encoder, hasPage, reporter } = this.#deps;
    const turnNumber = hasPage ? () => reporter.reserveAgentTurn() : null;
    return new Speaker(call, clock, ringIo, listener, { encoder, turnNumber });
  }

  #drop(): void {
    this.#forget?.();
    this.#forget = null;
    this.#utterance = null;
  }
}
