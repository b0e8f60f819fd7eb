/**
 * How long it has been quiet, and what an agent does about it: a prompt, the end of the call, the end of the longest
 * time. Pure, in ms of stream; the agent tells it what sounds, and asks at each tick.
 */
import type { ScriptedAgent } from '../../contract/agent-definition.ts';

/** After the longest time of a call, the sentence that is being said may end, but no longer than this. */
const LAST_SENTENCE_MS = 5_000;
/** Idle time stands still while the caller speaks, for so long at most: a gate that never closes holds no call open. */
const LONGEST_CALLER_SPEECH_MS = 60_000;
/** After the caller's sound ends, the turn may still be undecided: no prompt within this. */
const PROMPT_AFTER_SOUND_MS = 1_500;

export class QuietTime {
  /** Since when the caller has owed an answer. */
  silentSinceMs = 0;
  /** End of what was last played, prompts too. */
  playedUntilMs = 0;
  /** End of the agent's last sound; unlike the two above it knows nothing of what the caller says. */
  agentEndMs = 0;
  /** End of the caller's last sound, or its beginning. */
  callerEndMs = Number.NEGATIVE_INFINITY;
  #callerSpeaking = false;
  readonly #idle: ScriptedAgent['idle'];
  readonly #maxDurationMs: number;

  constructor(idle: ScriptedAgent['idle'], maxDurationMs: number) {
    this.#idle = idle;
    this.#maxDurationMs = maxDurationMs;
  }

  caller(speaking: boolean, atMs: number): void {
    this.#callerSpeaking = speaking;
    this.callerEndMs = atMs;
  }

  beginsAnew(atMs: number): void {
    this.silentSinceMs = atMs;
    this.playedUntilMs = atMs;
  }

  isTooLong(atMs: number): boolean {
    return atMs >= this.#maxDurationMs;
  }

  /** And so is the sentence that was being said when it became so. */
  isFarTooLong(atMs: number): boolean {
    return atMs >= this.#maxDurationMs + LAST_SENTENCE_MS;
  }

  /** Nothing is to be decided while they do. */
  callerSpeaks(atMs: number): boolean {
    return this.#callerSpeaking && atMs - this.callerEndMs < LONGEST_CALLER_SPEECH_MS;
  }

  isInactive(atMs: number): boolean {
    return atMs - this.silentSinceMs >= this.#idle.endAfterMs;
  }

  wantsPrompt(atMs: number): boolean {
    const { promptAfterMs, say } = this.#idle;
    if (say.length === 0 || atMs - Math.max(this.playedUntilMs, this.silentSinceMs) < promptAfterMs) return false;
    return atMs - this.callerEndMs >= PROMPT_AFTER_SOUND_MS;
  }
}
