/**
 * Recordings that wait for their next try. Who takes one claims it for minutes, in case its process dies; when the try
 * fails because the database went away, the word that it may be tried sooner fails too, and is said again by the next
 * look. Without that the recording waits for the claim's end. Used by the uploader and the joiner.
 */
import type { Queryable } from '../store/database.ts';
import { patchRecording, type RecordingPatch } from './recording-rows.ts';

interface RecordingOf {
  callUuid: string;
  epoch: number;
}

export class OwedPauses {
  readonly #database: Queryable;
  readonly #owed = new Map<string, { recording: RecordingOf; patch: RecordingPatch }>();

  constructor(database: Queryable) {
    this.#database = database;
  }

  get areOwed(): boolean {
    return this.#owed.size > 0;
  }

  /** Rejects when the database is away; `settle` says it again. */
  async postpone({ callUuid, epoch }: RecordingOf, patch: RecordingPatch): Promise<void> {
    const key = `${callUuid} ${epoch}`;
    const recording = { callUuid, epoch };
    this.#owed.set(key, { recording, patch });
    await patchRecording(this.#database, recording, patch);
    this.#owed.delete(key);
  }

  /** At the beginning of each look. Rejects when the database is still away. */
  async settle(): Promise<void> {
    for (const { recording, patch } of [...this.#owed.values()]) await this.postpone(recording, patch);
  }
}
