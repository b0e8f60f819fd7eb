/**
 * The open loop: begins each planned call at its instant, whatever becomes of the others, and hands on what was
 * measured. Holds the calls that go on and nothing else, however long a run is. Called by `run-workload.ts`; a target
 * that is slow or dead makes nobody wait.
 */
import type { Clock } from '../../../media/contract/clock.ts';
import type { MeasuredCall } from '../contract/measured-call.ts';
import type { PlannedCall } from '../contract/planned-call.ts';
import { notBegun } from './not-begun.ts';

export interface DispatchOptions {
  calls: Iterable<PlannedCall>;
  /** Its zero is the run's beginning. */
  clock: Clock;
  mostAtOnce: number;
  /** So long before its instant a call is handed on: whoever takes it waits for the rest. Default 0. */
  leadMs?: number;
  /** Never rejects. */
  call(planned: PlannedCall): Promise<MeasuredCall>;
  measured(call: MeasuredCall): void;
  /** No call begins any more; those that go on are waited for. */
  signal: AbortSignal;
}

export interface DispatchFigures {
  planned: number;
  begun: number;
  live: number;
}

export class Dispatcher {
  readonly #options: DispatchOptions;
  readonly #live = new Set<Promise<void>>();
  #planned = 0;
  #begun = 0;

  constructor(options: DispatchOptions) {
    this.#options = options;
  }

  get figures(): DispatchFigures {
    return { planned: this.#planned, begun: this.#begun, live: this.#live.size };
  }

  /** Resolves when the last call is over. */
  async run(): Promise<void> {
    const { calls, clock, signal, leadMs = 0 } = this.#options;
    for (const planned of calls) {
      const waitMs = planned.atMs - leadMs - clock.nowMs();
      // What is due already begins in the same turn: a late tool catches up, call by call.
      if (waitMs > 0) await this.#until(waitMs);
      if (signal.aborted) break;
      this.#planned++;
      this.#begin(planned);
    }
    while (this.#live.size > 0) await Promise.all(this.#live);
  }

  #begin(planned: PlannedCall): void {
    const { mostAtOnce, measured, call } = this.#options;
    if (this.#live.size >= mostAtOnce) {
      measured(notBegun(planned, 'held_back', null, `${mostAtOnce} calls went on (mostAtOnce)`));
      return;
    }
    this.#begun++;
    const over = call(planned).then((one) => {
      this.#live.delete(over);
      measured(one);
    });
    this.#live.add(over);
  }

  #until(waitMs: number): Promise<void> {
    const { clock, signal } = this.#options;
    return new Promise((done) => {
      const end = (): void => {
        cancel();
        signal.removeEventListener('abort', end);
        done();
      };
      const cancel = clock.after(waitMs, end);
      signal.addEventListener('abort', end, { once: true });
      if (signal.aborted) end();
    });
  }
}
