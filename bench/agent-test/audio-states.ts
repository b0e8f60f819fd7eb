/**
 * Where an agent stood and what it knew while a call with sound ran: its checkpoints, as the service of the test keeps
 * them, and the steps that it told. Looked up while the call runs, for the row holds the last checkpoint alone. Called
 * by `audio-holder.ts`.
 */
import { readCheckpoint, type StoredCheckpoint } from '../../media/contract/checkpoint.ts';
import type { Queryable } from '../../src/store/database.ts';
import type { HeldCall } from './held-call.ts';

/** In ms of the call's stream. */
export interface KnownStates {
  steps: readonly { stepId: string; atMs: number }[];
  variables: readonly { variables: Record<string, string>; atMs: number }[];
}

/** The caller waits longer before the next turn. */
const LOOK_EVERY_MS = 250;
const CHECKPOINT = 'SELECT checkpoint FROM calls WHERE call_uuid = $1';
const STEPS = `SELECT data ->> 'stepId' AS "stepId", (data ->> 'atMs')::float8 AS "atMs"
  FROM call_events WHERE call_uuid = $1 AND kind = 'step' ORDER BY id`;

export class StateWatch {
  readonly #database: Queryable;
  readonly #callUuid: string;
  readonly #variables: KnownStates['variables'][number][] = [];
  #looking: Promise<void> = Promise.resolve();
  #fault: unknown = null;
  readonly #timer: NodeJS.Timeout;

  constructor(database: Queryable, callUuid: string) {
    this.#database = database;
    this.#callUuid = callUuid;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  /** What was seen until now; nothing is looked for any more. Throws where the database did not answer. */
  async close(): Promise<KnownStates> {
    clearInterval(this.#timer);
    this.#look();
    await this.#looking;
    if (this.#fault !== null) throw this.#fault;
    const steps = await this.#database.query<KnownStates['steps'][number]>(STEPS, [this.#callUuid]);
    return { steps, variables: this.#variables };
  }

  #look(): void {
    const look = async (): Promise<void> => {
      type Row = { checkpoint: StoredCheckpoint | null };
      const [row] = await this.#database.query<Row>(CHECKPOINT, [this.#callUuid]);
      if (row === undefined || row.checkpoint === null) return;
      const { variables, atMs } = readCheckpoint(row.checkpoint);
      if (atMs !== this.#variables.at(-1)?.atMs) this.#variables.push({ variables, atMs });
    };
    this.#looking = this.#looking.then(look).catch((error: unknown) => {
      this.#fault ??= error;
    });
  }
}

/** After each exchange: as it was when the caller's next turn began. `said`: the caller's turns, in order. */
export function statesOf({ steps, variables }: KnownStates, said: readonly { startMs: number }[]): HeldCall['states'] {
  return [...said.map(({ startMs }) => startMs), Number.POSITIVE_INFINITY].map((untilMs) => ({
    step: steps.findLast(({ atMs }) => atMs <= untilMs)?.stepId ?? null,
    variables: variables.findLast(({ atMs }) => atMs <= untilMs)?.variables ?? {},
  }));
}
