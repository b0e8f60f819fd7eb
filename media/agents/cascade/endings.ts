/**
 * How a call ends by its agent: when the goodbye was heard, into a caller's silence, at the end of its time, or because
 * no answer can come any more. Owned by `cascade-agent.ts`, asked at its ticks.
 */
import type { Ending } from './farewell.ts';
import type { Parts } from './parts.ts';

/** What is being written is not wanted any more. */
export interface Droppable {
  /** Nor what was not said of it; what follows counts anew. */
  anew(): void;
  drop(): void;
}

export class Endings {
  readonly #parts: Parts;
  readonly #answers: () => Droppable;

  constructor(parts: Parts, answers: () => Droppable) {
    this.#parts = parts;
    this.#answers = answers;
  }

  /** With a line that is said first, and that the caller cannot call off. */
  endWith(line: string, reason: Ending['reason'], disposition: string | null, error: string | null): void {
    this.#answers().anew();
    this.#parts.farewell.begin({ reason, disposition, error, isOptional: false });
    this.#parts.speech.line(line);
  }

  /** No answer can come any more. `message` is for the call log. */
  apologise(reason: Ending['reason'], error: string, message: string): void {
    const { sink, duty, lines, atMs } = this.#parts;
    sink.act({ type: 'recovery', what: 'apology', message, afterMs: Math.round(duty.owedForMs(atMs)) });
    this.endWith(lines.apology, reason, null, error);
  }

  end({ reason, disposition, error }: Ending): void {
    this.#parts.isOver = true;
    this.#answers().drop();
    this.#parts.sink.act({ type: 'end', reason, disposition, error });
  }

  /** True: the call's time was up, and it is over. */
  isOutOfTime(): boolean {
    const { quiet, speech, atMs } = this.#parts;
    if (!(speech.mouth.isBusy ? quiet.isFarTooLong(atMs) : quiet.isTooLong(atMs))) return false;
    this.end({ reason: 'max_duration_reached', disposition: null, error: null, isOptional: false });
    return true;
  }

  /** While nothing is said and nothing is owed. */
  tick(): void {
    const { ending } = this.#parts.farewell;
    if (ending !== null) this.#tickEnding(ending);
    else this.#tickIdle();
  }

  #tickEnding(ending: Ending): void {
    const { farewell, duty, speech, lines, atMs } = this.#parts;
    const due = farewell.due(atMs, duty);
    if (due === 'end') this.end(ending);
    else if (due === 'say_again') speech.fixed(lines.farewell);
  }

  #tickIdle(): void {
    const { quiet, farewell, speech, lines, atMs } = this.#parts;
    if (quiet.callerSpeaks(atMs)) return;
    if (quiet.isInactive(atMs)) {
      farewell.begin({ reason: 'inactivity', disposition: null, error: null, isOptional: true });
      speech.line(lines.farewell);
    } else if (quiet.wantsPrompt(atMs)) {
      quiet.playedUntilMs = atMs;
      speech.line(speech.next(lines.idle), { isPrompt: true });
    }
  }
}
