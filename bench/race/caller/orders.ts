/** What the race says to the process of its callers, by IPC, and it to the race. */
import type { Spread } from '../../calls/tally.ts';
import type { Heard } from './caller.ts';

export interface CallerOrder {
  /** `ws://host:port/…/`; the call's id is appended. */
  urlPrefix: string;
  calls: number;
  dialsPerSecond: number;
  /** After the last call has begun. */
  warmUpMs: number;
  measureMs: number;
  seed: number;
  /** Mu-law of 8 kHz, in base64. */
  lines: readonly string[];
}

export interface CallerReport {
  closedEarly: number;
  /** Our own frames behind schedule. */
  sendLateness: Spread;
  cpuMs: number;
  heard: Heard;
}

export type FromCallers =
  | { type: 'ready' }
  /** The measured time begins, ends. */
  | { type: 'began' }
  | { type: 'ended' }
  | { type: 'report'; report: CallerReport }
  | { type: 'failed'; why: string };
