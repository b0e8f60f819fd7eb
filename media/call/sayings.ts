/** What an agent wants to say while it may not yet, in its order: `agent-actions.ts` asks when it may. */
import type { SpeechSource } from '../contract/speech-source.ts';
import type { Utterance } from './speaking/agent-speech.ts';

const MOST_WAITING = 16;

export class Sayings {
  readonly #waiting: Utterance[] = [];

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Throws when too many wait. */
  add(utterance: Utterance): void {
    if (this.#waiting.length >= MOST_WAITING)
      throw new Error(`the agent has ${MOST_WAITING} sayings that wait, and adds one`);
    this.#waiting.push(utterance);
  }

  take(): Utterance | null {
    return this.#waiting.shift() ?? null;
  }

  /** Nobody will hear them. False: none waited. */
  drop(): boolean {
    const dropped = this.#waiting.splice(0);
    for (const { speech } of dropped) abandon(speech);
    return dropped.length > 0;
  }
}

function abandon(speech: SpeechSource): void {
  if ('feed' in speech) speech.feed.abandon();
  else if ('audio' in speech) speech.audio.abandon();
}
