/** The progress line of a run, on standard error: rewritten in a terminal, a line every few seconds elsewhere. */

export interface ProgressFigures {
  elapsedMs: number;
  /** As planned; calls may go on a little longer. */
  wholeMs: number;
  begun: number;
  live: number;
  bad: number;
  /** Of a search: which step it is. */
  step: string | null;
}

const PLAIN_EVERY_SECONDS = 5;

export class Progress {
  readonly #isTerminal = process.stderr.isTTY === true;
  #begunBefore = 0;
  #rates: number[] = [];
  #seconds = 0;
  #isShown = false;

  /** Once a second. */
  show(figures: ProgressFigures): void {
    this.#rates.push(figures.begun - this.#begunBefore);
    this.#begunBefore = figures.begun;
    if (this.#rates.length > PLAIN_EVERY_SECONDS) this.#rates.shift();
    const line = lineOf(figures, this.#rates.reduce((sum, rate) => sum + rate, 0) / this.#rates.length);
    if (this.#isTerminal) process.stderr.write(`\r\u001b[K${line}`);
    else if (++this.#seconds % PLAIN_EVERY_SECONDS === 0) process.stderr.write(`${line}\n`);
    this.#isShown = true;
  }

  /** Whatever is written next begins on a line of its own. */
  end(): void {
    if (this.#isTerminal && this.#isShown) process.stderr.write('\n');
    this.#isShown = false;
  }
}

export function lineOf({ elapsedMs, wholeMs, begun, live, bad, step }: ProgressFigures, perSecond: number): string {
  const left = Math.max(0, wholeMs - elapsedMs);
  return [
    step === null ? null : step,
    `${clock(elapsedMs)} of ${clock(wholeMs)}`,
    `${perSecond.toFixed(1)} calls a second`,
    `${live} live`,
    `${begun} begun`,
    `${bad} ${bad === 1 ? 'error' : 'errors'}`,
    left > 0 ? `${clock(left)} left` : 'waiting for the last calls',
  ]
    .filter((part) => part !== null)
    .join('  ');
}

function clock(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
