/**
 * A row of the specification, and how it is shown to work. A row that does not hold throws with what was there instead.
 */
import { isDeepStrictEqual } from 'node:util';
import { ParleyError } from '../../clients/typescript/src/client.ts';
import type { Stage } from './stage.ts';

export interface Row {
  /** The row's own words. */
  name: string;
  /** What to look at, in a sentence. */
  look: string;
  show(stage: Stage): Promise<void>;
}

export interface Section {
  title: string;
  rows: readonly Row[];
}

export const row = (name: string, look: string, show: Row['show']): Row => ({ name, look, show });

export function same(what: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new Error(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
}

export function holds(what: string, condition: boolean): void {
  if (!condition) throw new Error(`${what}: it is not so`);
}

/** What a refused request was told; throws when it was not refused. */
export async function refusal(work: Promise<unknown>): Promise<ParleyError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ParleyError) return error;
    throw error;
  }
  throw new Error('the request was not refused');
}

/** Refused with exactly the two keys of the specification. */
export async function refusedWith(status: number, message: string, work: Promise<unknown>): Promise<ParleyError> {
  const error = await refusal(work);
  same('status', error.status, status);
  same('body', error.body, { success: false, message });
  return error;
}
