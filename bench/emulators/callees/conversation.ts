/**
 * What a speaking callee says, and when: cue phrases in, lines out. Called by the speaking callee with what it heard
 * and, 20 ms at a time, with the time; pure, and counts time in ms of the stream.
 */
import type { Listening, SpeakingPersona } from '../persona.ts';

export interface Line {
  text: string;
  /** It is to be said into the agent's words. */
  interrupting: boolean;
  thenHangsUpAfterMs: number | null;
}

interface Due extends Line {
  atMs: number;
}

export class Conversation {
  readonly #persona: SpeakingPersona;
  readonly #used = new Set<Listening>();
  #due: Due | null = null;
  #lastSaid = '';
  #otherwiseLeft: number;

  constructor(persona: SpeakingPersona) {
    this.#persona = persona;
    this.#otherwiseLeft = persona.otherwise?.times ?? 0;
    if (persona.greets !== undefined) {
      this.#due = { text: persona.greets, interrupting: false, thenHangsUpAfterMs: null, atMs: 0 };
    }
  }

  /** Every line that the persona may say, to be rendered beforehand. */
  static lines(persona: SpeakingPersona): string[] {
    const lines = [persona.greets, persona.otherwise?.says, ...persona.listens.map((entry) => entry.says)];
    return [...new Set(lines.filter((line) => line !== undefined))];
  }

  /** The cue phrases that still mean something. */
  cues(): string[] {
    return [...new Set(this.#open().flatMap((entry) => entry.hears))];
  }

  /** While the agent speaks. True when it will be interrupted for what was recognised so far. */
  heardSoFar(text: string, utteranceStartMs: number, nowMs: number): boolean {
    const entry = this.#match(text);
    if (entry?.interruptsAfterMs === undefined) return false;
    this.#answer(entry, Math.max(nowMs, utteranceStartMs + entry.interruptsAfterMs), true);
    return true;
  }

  /** The agent has finished. True when it was understood. */
  heard(text: string, utteranceEndMs: number): boolean {
    const entry = this.#match(text);
    if (entry !== null) {
      this.#answer(entry, utteranceEndMs + entry.afterMs, false);
      return true;
    }
    const { otherwise } = this.#persona;
    if (otherwise !== undefined && this.#otherwiseLeft > 0 && this.#due === null) {
      this.#otherwiseLeft--;
      const atMs = utteranceEndMs + otherwise.afterMs;
      this.#due = { text: otherwise.says, interrupting: false, thenHangsUpAfterMs: null, atMs };
    }
    return false;
  }

  /** What to begin to say now; null for nothing. A line that does not interrupt waits for the agent to be silent. */
  next(nowMs: number, agentSpeaks: boolean): Line | null {
    const due = this.#due;
    if (due === null || nowMs < due.atMs || (agentSpeaks && !due.interrupting)) return null;
    this.#due = null;
    if (due.text !== '') this.#lastSaid = due.text;
    return due;
  }

  #open(): Listening[] {
    return this.#persona.listens.filter((entry) => entry.repeats || !this.#used.has(entry));
  }

  #match(text: string): Listening | null {
    const words = ` ${text} `;
    return this.#open().find((entry) => entry.hears.some((cue) => words.includes(` ${cue} `))) ?? null;
  }

  #answer(entry: Listening, atMs: number, interrupting: boolean): void {
    this.#used.add(entry);
    const text = entry.saysAgain ? this.#lastSaid : (entry.says ?? '');
    this.#due = { text, interrupting, atMs, thenHangsUpAfterMs: entry.thenHangsUpAfterMs ?? null };
  }
}
