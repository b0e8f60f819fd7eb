/** What the service says of a workspace's day and of its calls in progress, for people to look at. */
import { signal } from '@preact/signals';
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
  notDialled: { reason: string; count: number | null; since: string | null; wayOut: string }[];
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

export interface LiveCall {
  callUuid: string;
  status: string;
  state: 'listening' | 'thinking' | 'speaking' | null;
  agentId: string;
  agentName: string | null;
  name: string;
  to: string;
  from: string;
  direction: string;
  channel: string;
  startedAt: string;
  answeredAt: string | null;
  lastWords: { role: 'agent' | 'user'; text: string; at: string } | null;
  replyMs: number | null;
  mutedAgent: boolean;
}

export interface LiveBoard {
  calls: LiveCall[];
  /** `waiting`: the stream is not open yet; `lost`: it was, and comes again by itself. */
  state: 'waiting' | 'open' | 'lost';
}

/** Follows the calls in progress. After a hole the service begins with all of them anew: nothing is missed. */
export function followLive(enterprise: string): { board: { readonly value: LiveBoard }; close(): void } {
  const board = signal<LiveBoard>({ calls: [], state: 'waiting' });
  const calls = new Map<string, LiveCall>();
  let frame = 0;
  const source = new EventSource(`/api/console/${ofWorkspace(enterprise, 'live')}`);
  const show = (state: LiveBoard['state']): void => {
    cancelAnimationFrame(frame);
    // However many changes come between two frames, they are drawn once.
    frame = requestAnimationFrame(() => {
      board.value = { calls: [...calls.values()], state };
    });
  };
  source.addEventListener('snapshot', (event) => {
    calls.clear();
    for (const call of (JSON.parse(event.data) as { calls: LiveCall[] }).calls) calls.set(call.callUuid, call);
    show('open');
  });
  source.addEventListener('changes', (event) => {
    const { changed, gone } = JSON.parse(event.data) as { changed: LiveCall[]; gone: string[] };
    for (const call of changed) calls.set(call.callUuid, call);
    for (const callUuid of gone) calls.delete(callUuid);
    show('open');
  });
  source.addEventListener('error', () => show('lost'));
  return {
    board,
    close() {
      cancelAnimationFrame(frame);
      source.close();
    },
  };
}
