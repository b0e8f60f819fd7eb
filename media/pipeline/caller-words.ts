/**
 * What the caller's words mean where the script stands, and how they are written down. `hearing.ts` asks it for the recogniser's grammar and for
 * the sense of each turn; the conversation records turns by it.
 */
import type { Expectation } from '../contract/agent-definition.ts';
import { type Turn, UNCLEAR_TEXT } from '../contract/conversation.ts';
import type { Guess } from '../contract/engines.ts';
import type { CallerTurn } from './caller-turn.ts';
import { PhraseBook, wordsOf } from './scripted/phrase-match.ts';
import type { ScriptAction, ScriptMachine } from './scripted/script-machine.ts';
import type { Transcript } from './transcript.ts';
import { type Patience, patienceFor } from './turn-taking/patience.ts';
import { ENGLISH } from './turn-taking/word-lists.ts';
import { type Listening, type WordSense, WordSorter } from './turn-taking/word-sense.ts';

export class CallerWords {
  readonly #transcript: Transcript;
  readonly #script: ScriptMachine;
  readonly #sorter = new WordSorter(ENGLISH);
  #listening: Listening = { book: new PhraseBook([]), asked: false, greeting: false };
  #expect: Expectation = 'open';

  constructor(transcript: Transcript, script: ScriptMachine) {
    this.#transcript = transcript;
    this.#script = script;
  }

  /** With what was asked last. */
  get patience(): Patience {
    return patienceFor(this.#expect);
  }

  listenFor({ book, asked, stepId, expect }: Extract<ScriptAction, { type: 'listen' }>): void {
    this.#listening = { book, asked, greeting: stepId === null };
    this.#expect = expect;
  }

  phrases(agentSpeaks: boolean): readonly string[] {
    return this.#sorter.phrasesFor(this.#listening, agentSpeaks);
  }

  sense(turn: CallerTurn): WordSense {
    return this.#sorter.sense(turn.text, turn.rejected, this.#listening);
  }

  /** Nobody murmurs on a keyboard: typed words are always meant for the agent. */
  senseOfTyped(text: string): WordSense {
    return this.#script.match(text) === null ? 'other' : 'phrase';
  }

  record(turn: CallerTurn, kind: 'speech' | 'backchannel' | 'unclear'): void {
    const transcript = this.#transcript;
    const intent = kind === 'speech' ? this.#intentOf(turn.text) : null;
    const startMs = transcript.at(turn.onsetMs);
    const endMs = transcript.at(turn.lastSpeechEndMs);
    const heard = turn.text === '' ? unclear(turn.guess) : { text: turn.text };
    transcript.userTurn({ startMs, endMs, kind, ...heard }, this.#script.stepId, intent);
  }

  recordKeys(digits: string): void {
    const atMs = this.#transcript.nowMs;
    const intent = this.#intentOf(digits);
    const kind = intent === null ? 'unclear' : 'speech';
    const text = wordsOf(digits).join(' ');
    this.#transcript.userTurn({ startMs: atMs, endMs: atMs, text, kind }, this.#script.stepId, intent);
  }

  #intentOf(text: string): string | null {
    return this.#script.match(text)?.reply.intent ?? null;
  }
}

function unclear(guess: Guess | null): Required<Pick<Turn, 'text' | 'unclear'>> {
  return {
    text: UNCLEAR_TEXT,
    unclear: {
      guess: guess?.text ?? null,
      confidence: guess === null ? null : Math.round(guess.confidence * 100) / 100,
    },
  };
}
