/**
 * What a far-end process is told to call, as plain data: made by the command line, read by `make-target.ts` in the
 * process.
 */

import type { StreamPlan } from './stream/stream-plan.ts';

/** A Parley, by what a client of it has. */
export interface Deployment {
  /** `http(s)://host:port`, without a slash at the end. */
  url: string;
  apiKey: string;
  enterprise: string;
  agentId: string;
  /** `from` of the placement: the line. */
  lineId: string;
  /** Browser sessions. */
  publicKey: string;
  origin: string;
}

export interface ParleyPlan {
  kind: 'parley';
  /** Where the tool's carrier listens; port 0 takes a free one. */
  carrierHost: string;
  carrierPort: number;
  /** Of the carrier account that the deployment's line has. */
  authId: string;
  authToken: string;
  /** E.164 with a star for the digits that tell calls apart. */
  numbers: string;
  /** A far end's jitter buffer. */
  gapBufferMs: number;
  /** The agent plays the known signal, by which lost and repeated audio is told. */
  expectSignal: boolean;
  /** Where recordings are written; null: none are kept. */
  soundFolder: string | null;
  /** This process is one of so many. */
  process: number;
  of: number;
}

export interface BrowserPlan {
  kind: 'browser';
  gapBufferMs: number;
  soundFolder: string | null;
  process: number;
}

export type TargetPlan = ParleyPlan | BrowserPlan | StreamPlan | MixedPlan;

/** Phones and browsers in one run. */
export interface MixedPlan {
  kind: 'mixed';
  phone: ParleyPlan;
  browser: BrowserPlan;
}
