/**
 * A person's spurts on their way to the caller, one after the other, over the call's downlink: the agent's speech has
 * lent it for as long. What the network brings late is said late, up to a bound. Made by `takeover.ts`.
 */
import type { LegFormat } from '../../contract/audio-format.ts';
import { AudioFeed } from '../../contract/speech-source.ts';
import type { AgentSpeech } from '../speaking/agent-speech.ts';
import { takeAudio } from '../speaking/audio-intake.ts';
import type { RenderedSpeech } from '../speaking/rendered-speech.ts';
import type { Speaker, SpeakerListener } from '../speaking/speaker.ts';

export interface PersonVoiceListener {
  /** Its first frame was handed to the far end. */
  spurtStarted(spurt: number): void;
  /** It has been played, or as much of it as could be. */
  spurtPlayed(spurt: number): void;
}

interface Spurt {
  spurt: number;
  feed: AudioFeed;
  speech: RenderedSpeech;
}

/** Of a microphone's samples. */
export const PERSON_RATE_HZ = 16_000;
/** Nobody can talk with who is further behind: what comes beyond it is left out. */
const MOST_LAG_MS = 2_000;

export class PersonVoice implements SpeakerListener {
  /** Frames that were left out. */
  droppedFrames = 0;
  readonly #speaker: Speaker;
  readonly #agentSpeech: AgentSpeech;
  readonly #format: LegFormat;
  readonly #listener: PersonVoiceListener;
  /** The first of them is being said. */
  readonly #spurts: Spurt[] = [];

  /** `format`: in which the leg's voice is made. */
  constructor(agentSpeech: AgentSpeech, format: LegFormat, listener: PersonVoiceListener) {
    this.#agentSpeech = agentSpeech;
    this.#format = format;
    this.#listener = listener;
    this.#speaker = agentSpeech.lend(this);
  }

  begin(spurt: number): void {
    const feed = new AudioFeed(PERSON_RATE_HZ);
    const speech = takeAudio(feed, this.#format);
    speech.onChange(() => {
      if (this.#speaker.speech === speech) this.#speaker.pump();
    });
    this.#spurts.push({ spurt, feed, speech });
    if (this.#spurts.length === 1) this.#speaker.say(speech);
  }

  /** Of the newest spurt. False: it is as long as one may be. */
  frame(monoSamples: Int16Array): boolean {
    const newest = this.#spurts.at(-1);
    if (newest === undefined || newest.feed.isFinished) return false;
    if (this.#lagMs > MOST_LAG_MS) this.droppedFrames++;
    else newest.feed.push(monoSamples);
    return !newest.feed.isFinished;
  }

  end(): void {
    this.#spurts.at(-1)?.feed.finish();
  }

  pump(): void {
    this.#speaker.pump();
  }

  /** What has not been played never will be. */
  close(): void {
    this.#agentSpeech.takeBack(this.#speaker);
    for (const { feed, spurt } of this.#spurts.splice(0)) {
      feed.finish();
      this.#listener.spurtPlayed(spurt);
    }
  }

  // ── What is played ────────────────────────────────────────────────────────────────────────────────────

  speechStarted(): void {
    const now = this.#spurts[0];
    if (now !== undefined) this.#listener.spurtStarted(now.spurt);
  }

  speechFinished(): void {
    const over = this.#spurts.shift();
    if (over !== undefined) this.#listener.spurtPlayed(over.spurt);
    const next = this.#spurts[0];
    if (next !== undefined) this.#speaker.say(next.speech);
  }

  get #lagMs(): number {
    return this.#spurts.reduce((sum, { speech }) => sum + speech.durationMs, 0) - this.#speaker.playheadMs;
  }
}
