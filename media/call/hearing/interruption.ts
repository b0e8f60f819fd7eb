/**
 * Whether the caller's words, while the agent speaks, are to stop it. Joins the rules of barge-in with what the agent
 * says that words mean; the hearing tells it frames and words, and carries its verdicts to the floor.
 */

import type { WordSense } from '../../contract/agent.ts';
import type { CallerWords } from '../caller-words.ts';
import type { AgentSpeech } from '../speaking/agent-speech.ts';
import { BargeIn, type BargeInOutcome, type BargeInVerdict, bargeInOutcome } from '../turn-taking/barge-in.ts';
import type { CallerTurn } from './caller-turn.ts';

export class Interruption {
  readonly #agentSpeech: Pick<AgentSpeech, 'active' | 'audible' | 'heardText'>;
  readonly #words: CallerWords;
  readonly #bargeIn: BargeIn;

  /** `wordsDecide`: the ear knows all words, so that sound in which it hears none is no speech. */
  constructor(
    agentSpeech: Pick<AgentSpeech, 'active' | 'audible' | 'heardText'>,
    words: CallerWords,
    wordsDecide: boolean,
  ) {
    this.#agentSpeech = agentSpeech;
    this.#words = words;
    this.#bargeIn = new BargeIn(wordsDecide);
  }

  /** The agent fell silent for what may be one. */
  get pausedAgent(): boolean {
    return this.#bargeIn.paused;
  }

  /** From here on the caller's words decide whether the agent goes on. */
  begin(turn: CallerTurn): void {
    turn.duringSpeech = true;
    turn.into = this.#agentSpeech.heardText;
    this.#bargeIn.begin(!this.#agentSpeech.audible);
  }

  end(): void {
    this.#bargeIn.end();
  }

  /** After each frame. */
  judge(nowMs: number, spokenMs: number): BargeInVerdict {
    return this.#bargeIn.active ? this.#bargeIn.judge(nowMs, spokenMs) : 'none';
  }

  /** Whether the words so far are a whole answer. */
  weigh(turn: CallerTurn, nowMs: number): boolean {
    const sense = this.#words.sense(turn);
    const fromLists = sense === 'acknowledge' || sense === 'interrupt' || sense === 'hold';
    this.#bargeIn.wordsChanged(sense, nowMs, !turn.text.includes(' '));
    return sense === 'answer' || (turn.duringSpeech && fromLists);
  }

  /** The turn is over; `isNews`: only now it is known that it stops the agent, if it does. */
  outcome(sense: WordSense, spokenMs: number): { outcome: BargeInOutcome; isNews: boolean } {
    const isNews = this.#bargeIn.active && !this.#bargeIn.committed && this.#agentSpeech.active;
    const isWordless = this.#bargeIn.hasGoneOn && (sense === 'rejected' || sense === 'other');
    const outcome = !isNews ? 'commit' : isWordless ? 'resume' : bargeInOutcome(sense, spokenMs, this.#bargeIn.early);
    this.#bargeIn.end();
    return { outcome, isNews };
  }
}
