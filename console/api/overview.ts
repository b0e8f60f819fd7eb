/** What the service says of a workspace's day and of the sound of a call, for people to look at. */
import { ask, ofWorkspace } from './request.ts';

export interface Overview {
  day: string;
  zone: string;
  live: number;
  placed: number;
  answered: number;
  completed: number;
  failed: number;
  noAnswer: number;
  replyMs: { p50: number; p95: number; count: number } | null;
  refusals: { code: string; count: number; message?: string }[];
  webhooks: { waiting: number; failingSince: string | null; url: string | null; enabled: boolean } | null;
  disk: { freeBytes: number; totalBytes: number } | null;
  notSetUp: { what: string; why: string; wayOut: string }[];
  notDialled: NotDialled[];
}

export interface NotDialled {
  /** An error code, or the reason with which calls ended. */
  reason: string;
  of: 'service' | 'requests' | 'calls';
  /** Null: it holds now. */
  count: number | null;
  since: string | null;
  last: string | null;
  wayOut: string;
}

/** `day`: `2026-11-23` in `zone`. */
export const readOverview = (enterprise: string, day: string, zone: string, signal: AbortSignal): Promise<Overview> =>
  ask(ofWorkspace(enterprise, `overview?${new URLSearchParams({ day, zone })}`), { signal });

export interface SoundPeaks {
  durationSeconds: number;
  /** 0 to 255, one a stretch of the sound. */
  caller: number[];
  agent: number[];
}

export const readPeaks = (enterprise: string, callUuid: string, signal: AbortSignal): Promise<SoundPeaks> =>
  ask(ofWorkspace(enterprise, `calls/${callUuid}/peaks`), { signal });
