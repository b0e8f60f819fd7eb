/**
 * What the caller's words mean to the agent, and how they are written down. `hearing.ts` asks it for hints to the
 * recogniser and for the sense of each turn; the conversation records turns by it.
 */
import type { Patience, WordSense } from '../contract/agent.ts';
import { type Turn, UNCLEAR_TEXT } from '../contract/conversation.ts';
import type { EarHints } from '../contract/ear.ts';
import type { Guess } from '../contract/engines.ts';
import type { AgentLine } from './agent-line.ts';
import type { CallerTurn } from './hearing/caller-turn.ts';
import type { CallReporter } from './reporter.ts';

export class CallerWords {
  readonly #reporter: CallReporter;
  readonly #line: AgentLine;

  constructor(reporter: CallReporter, line: AgentLine) {
    this.#reporter = reporter;
    this.#line = line;
  }

  get patience(): Patience {
    return this.#line.agent.patience;
  }

  hints(agentSpeaks: boolean): EarHints {
    return this.#line.hints(agentSpeaks);
  }

  sense({ text, rejected, done, into }: CallerTurn): WordSense {
    return this.#line.sense({ text, rejected, how: 'spoken', isOver: done, into });
  }

  senseOfTyped(text: string): WordSense {
    return this.#line.sense({ text, rejected: false, how: 'typed', isOver: true });
  }

  record(turn: CallerTurn, kind: 'speech' | 'backchannel' | 'unclear'): void {
    const reporter = this.#reporter;
    const intent = kind === 'speech' ? this.#line.intentOf(turn.text) : null;
    const startMs = reporter.at(turn.onsetMs);
    const endMs = reporter.at(turn.lastSpeechEndMs);
    const heard = turn.text === '' ? unclear(turn.guess) : { text: turn.text };
    reporter.userTurn({ startMs, endMs, kind, ...heard }, this.#line.agent.stepId, intent);
  }

  recordKeys(digits: string): void {
    const atMs = this.#reporter.nowMs;
    const kind =
      this.#line.sense({ text: digits, rejected: false, how: 'keys', isOver: true }) === 'answer'
        ? 'speech'
        : 'unclear';
    const intent = this.#line.intentOf(digits);
    this.#reporter.userTurn({ startMs: atMs, endMs: atMs, text: digits, kind }, this.#line.agent.stepId, intent);
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
