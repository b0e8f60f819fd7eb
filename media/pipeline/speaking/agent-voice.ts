/**
 * The agent's side of the conversation: turns words into speech, plays it, keeps its turn in the transcript, and tries a voice that failed
 * once more. The conversation tells it what to say, when to pause, and when to give way; it decides nothing about the caller.
 */
import type { Logger } from 'pino';
import type { ScriptedAgent } from '../../contract/agent-definition.ts';
import type { LegFormat } from '../../contract/audio-format.ts';
import type { CallClips } from '../../contract/clip.ts';
import type { Clock } from '../../contract/clock.ts';
import type { TextToSpeech } from '../../contract/engines.ts';
import type { CallBlock } from '../../rings/call-block.ts';
import type { ReplyAnchor, Transcript } from '../transcript.ts';
import type { ClipShelf } from './clip-shelf.ts';
import { fixedSentences } from './fixed-sentences.ts';
import type { FrameEncoder } from './frame-encoder.ts';
import type { GreetingCache } from './greeting-cache.ts';
import type { RenderedSpeech } from './rendered-speech.ts';
import { Speaker, type SpeakerListener } from './speaker.ts';
import { type RenderRequest, renderSpeech } from './speech-renderer.ts';

export interface AgentVoiceDeps {
  call: CallBlock;
  clock: Clock;
  logger: Logger;
  textToSpeech: TextToSpeech;
  greetings: GreetingCache;
  /** Of this call. */
  clips?: { shelf: ClipShelf; files: CallClips };
  transcript: Transcript;
  ringIo: () => void;
  /** A browser listens: it is told utterances and words, and may want a codec with a memory. */
  web?: { encoder: FrameEncoder | null } | null;
}

export interface AgentVoiceListener {
  /** The caller has heard all of it. */
  utteranceSaid(): void;
  /** The voice engine failed twice in a row. */
  voiceLost(error: Error): void;
}

export interface Utterance {
  text: string;
  /** It sounds as this clip, not by the voice. */
  clip?: string;
  stepId: string | null;
  interruptible: boolean;
  /** Rendered while the phone rang. */
  isGreeting: boolean;
  /** The same words in every call: their speech is kept for the next. */
  isFixed?: boolean;
  /** The caller's turn that it answers. */
  anchor: ReplyAnchor | null;
}

const MOST_FAILURES = 2;

export class AgentVoice implements SpeakerListener {
  readonly #deps: AgentVoiceDeps;
  readonly #voice: string;
  readonly #fixed: ReadonlySet<string>;
  readonly #format: LegFormat;
  readonly #listener: AgentVoiceListener;
  readonly #speaker: Speaker;
  #utterance: Utterance | null = null;
  /** Stream time of the utterance's first audio; NaN before. */
  #voicedAtMs = Number.NaN;
  #forget: (() => void) | null = null;
  #failures = 0;
  readonly #tellsWords: boolean;
  /** Of the utterance's text, how much the page has been told. */
  #toldChars = 0;

  constructor(deps: AgentVoiceDeps, agent: ScriptedAgent, format: LegFormat, listener: AgentVoiceListener) {
    this.#deps = deps;
    this.#voice = agent.voice;
    this.#fixed = fixedSentences(agent);
    this.#format = format;
    this.#listener = listener;
    const { web = null } = deps;
    this.#tellsWords = web !== null;
    this.#speaker = new Speaker(deps.call, deps.clock, deps.ringIo, this, {
      encoder: web?.encoder ?? null,
      turnNumber: web === null ? null : () => deps.transcript.reserveAgentTurn(),
    });
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

  get heardText(): string {
    return this.#speaker.heardText;
  }

  say(utterance: Utterance): void {
    const { text } = utterance;
    if (utterance.clip !== undefined) {
      this.#sayClip(utterance, utterance.clip);
      return;
    }
    const request = { text, voice: this.#voice, format: this.#format, fixed: this.#fixed };
    this.#play(utterance, this.#speechOf(utterance, request));
  }

  #speechOf({ isGreeting, isFixed = false }: Utterance, request: RenderRequest): RenderedSpeech {
    const { greetings, textToSpeech, clock } = this.#deps;
    return isGreeting || isFixed ? greetings.obtain(request, !isGreeting) : renderSpeech(textToSpeech, clock, request);
  }

  /** What is being said, and from which word on it has not been heard. */
  get unsaid(): { utterance: Utterance; restText: string } | null {
    const { speech, playheadMs } = this.#speaker;
    const utterance = this.#utterance;
    return speech === null || utterance === null ? null : { utterance, restText: speech.restText(playheadMs) };
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

  /** Ends what is being said, with a turn of what was heard of it; `interrupted` false counts as cut only if words are missing. */
  silence(interrupted: boolean): void {
    if (!this.#speaker.active) return;
    const { startedAtStreamMs, heardText, speech } = this.#speaker;
    const endedAtStreamMs = this.#speaker.settled ? this.#speaker.pausedAtStreamMs : this.#deps.call.streamMs;
    this.#speaker.cut();
    this.#drop();
    const cut = interrupted || heardText !== speech?.text;
    this.#deps.transcript.agentEnded(startedAtStreamMs, endedAtStreamMs, heardText, cut);
  }

  #tellWords(): void {
    const { speech, playheadMs } = this.#speaker;
    if (speech === null) return;
    const chars = speech.begunChars(playheadMs);
    if (chars <= this.#toldChars) return;
    this.#deps.transcript.agentText(speech.text.slice(this.#toldChars, chars));
    this.#toldChars = chars;
  }

  speechStarted(): void {
    const utterance = this.#utterance;
    if (utterance === null) return;
    this.#deps.transcript.agentStarted(utterance.text, utterance.stepId, utterance.anchor, this.#voicedAtMs);
  }

  speechFinished(): void {
    const { speech, startedAtStreamMs } = this.#speaker;
    const utterance = this.#utterance;
    if (speech === null || utterance === null) return;
    const { call, transcript } = this.#deps;
    const { error } = speech;
    this.#drop();
    if (error !== null && utterance.clip !== undefined) {
      if (speech.frames === 0) {
        this.#sayInstead(utterance, error.message);
        return;
      }
      transcript.warning('clip_unavailable', `The clip '${utterance.clip}' broke off: ${error.message}`);
      transcript.agentEnded(startedAtStreamMs, call.streamMs, speech.heardText(speech.durationMs), true);
      this.#listener.utteranceSaid();
      return;
    }
    if (error === null) {
      this.#failures = 0;
      transcript.agentEnded(startedAtStreamMs, call.streamMs, speech.text, false);
      this.#listener.utteranceSaid();
      return;
    }
    this.#failures++;
    transcript.warning('tts_error', error.message);
    const isLost = this.#failures >= MOST_FAILURES;
    if (!isLost && speech.frames === 0) {
      this.say({ ...utterance, isGreeting: false, isFixed: false });
      return;
    }
    transcript.agentEnded(startedAtStreamMs, call.streamMs, speech.heardText(speech.durationMs), true);
    if (isLost) {
      this.#deps.logger.error({ err: error }, 'the voice engine failed twice in a row; the call ends');
      this.#listener.voiceLost(error);
    } else {
      this.#listener.utteranceSaid();
    }
  }

  #sayClip(utterance: Utterance, name: string): void {
    const { clips } = this.#deps;
    const file = clips?.files[name];
    if (clips === undefined || file === undefined) this.#sayInstead(utterance, 'it is not to be had');
    else this.#play(utterance, clips.shelf.obtain(file, utterance.text, this.#format));
  }

  /** The caller is told all the same. */
  #sayInstead({ clip, ...utterance }: Utterance, why: string): void {
    this.#deps.transcript.warning('clip_unavailable', `The clip '${clip}' was spoken by the voice instead: ${why}`);
    this.say({ ...utterance, isGreeting: false });
  }

  #play(utterance: Utterance, speech: RenderedSpeech): void {
    this.#utterance = utterance;
    this.#toldChars = 0;
    this.#voicedAtMs = speech.frames > 0 ? this.#deps.transcript.nowMs : Number.NaN;
    this.#forget = speech.onChange(() => {
      if (this.#speaker.speech !== speech) return;
      if (speech.frames > 0 && Number.isNaN(this.#voicedAtMs)) this.#voicedAtMs = this.#deps.transcript.nowMs;
      this.#speaker.pump();
    });
    this.#speaker.say(speech);
  }

  #drop(): void {
    this.#forget?.();
    this.#forget = null;
    this.#utterance = null;
  }
}
