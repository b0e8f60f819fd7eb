/**
 * The rows of the density card: each kind of agent with the codec of its leg, the load at which it is measured, and the
 * workload for it. Loads keep two cores below two thirds busy, with the far ends and the emulated providers beside the
 * service: what is measured there is cost, and no queue.
 */
import type { WorkloadInput } from '../load/contract/workload.ts';
import type { AgentKind } from '../load/targets/parley/own-agents.ts';

export interface DensityKind {
  id: string;
  agent: string;
  codec: string;
  agentKind: AgentKind;
  by: 'phone' | 'browser';
  wire: 'pcm16' | 'mulaw' | 'opus';
  /** Which implementation the row is about; null: it has no Opus in it. */
  opus: 'discordjs' | 'opusscript' | null;
  /** At once. */
  calls: number;
  /** They begin within so long: what setting one up costs must not queue, or what is measured is that queue. */
  rampSeconds: number;
  /** Each lasts so long that its set-up is a part of its cost and not most of it, and a conversation has some turns. */
  callSeconds: number;
  /** Why there is no search for the knee of the whole service; null: there is one. */
  noKneeBecause: string | null;
}

const SOCKETS_ALONE = 'its knee is that of the sockets below: the carrier of the load tester is one process';
const TOKENS = 'not searched: a widget key gives 60 tokens a minute';

const CALL_SECONDS = 24;
const phone = { by: 'phone', wire: 'mulaw', opus: null, codec: 'mu-law 8 kHz' } as const;
const web = {
  by: 'browser',
  agentKind: 'tone',
  agent: 'web session (tone)',
  rampSeconds: 8,
  callSeconds: CALL_SECONDS,
  noKneeBecause: TOKENS,
} as const;

export const KINDS: readonly DensityKind[] = [
  {
    ...phone,
    id: 'tone',
    agent: 'tone',
    agentKind: 'tone',
    calls: 48,
    rampSeconds: 12,
    callSeconds: CALL_SECONDS,
    noKneeBecause: SOCKETS_ALONE,
  },
  {
    ...phone,
    id: 'scripted',
    agent: 'scripted, local engines',
    agentKind: 'scripted',
    calls: 10,
    rampSeconds: 4,
    callSeconds: CALL_SECONDS,
    noKneeBecause: null,
  },
  {
    ...phone,
    id: 'cascade',
    agent: 'cascade, emulated providers',
    agentKind: 'cascade',
    calls: 16,
    rampSeconds: 6,
    callSeconds: CALL_SECONDS,
    noKneeBecause: null,
  },
  { ...web, id: 'web-l16', codec: 'L16, 16 kHz in, 24 kHz out', wire: 'pcm16', opus: null, calls: 24 },
  { ...web, id: 'web-mulaw', codec: 'mu-law 8 kHz', wire: 'mulaw', opus: null, calls: 24 },
  { ...web, id: 'web-opus-native', codec: 'Opus, native', wire: 'opus', opus: 'discordjs', calls: 24 },
  { ...web, id: 'web-opus-wasm', codec: 'Opus, WebAssembly', wire: 'opus', opus: 'opusscript', calls: 24 },
];

const HELD_RAMP_SECONDS = 3;
/** All calls of a step begin in its first quarter, and end with it. */
export const KNEE_STEP_SECONDS = 12;
/** Longer than the ramp, the look at it and the collecting. */
const HELD_CALL_SECONDS = 8;
const HELD_REST_SECONDS = 4;

/** Beyond one of these a step of the search was not carried. */
export const KNEE_LIMITS = { maxFrameLateP99Ms: 20, minRealTimeShare: 0.999 } as const;

export type KneeLimits = { maxFrameLateP99Ms: number; minRealTimeShare: number };

const unless = ({ maxFrameLateP99Ms, minRealTimeShare }: KneeLimits): string[] => [
  `frameLateness.p99>${maxFrameLateP99Ms}ms`,
  `realTime.mean<${(minRealTimeShare * 100).toFixed(2)}%`,
  'errors.share>1%',
];

/** Who listens to nobody loads an agent of a tone; the others are talked with. */
function callersOf({ agentKind, by, wire }: DensityKind, callSeconds: number): WorkloadInput['callers'] {
  const talk = agentKind === 'tone' ? ({ kind: 'on-off' } as const) : ({ kind: 'turns', turns: 100 } as const);
  return [{ name: 'callers', by, codec: wire, lengthSeconds: callSeconds, talk }];
}

/** Every call begins, talks and ends within the run: what a call costs is all in it. */
export function workloadOf(kind: DensityKind): WorkloadInput {
  return {
    version: 1,
    name: `density-${kind.id}`,
    phases: [{ arrivals: 'burst', calls: kind.calls, overSeconds: kind.rampSeconds }],
    callers: callersOf(kind, kind.callSeconds),
    mayFail: true,
  };
}

/** A few calls and a rest, in which media is read; then all of them, and no others: it is read while they talk. */
export function heldWorkloadOf(kind: DensityKind): WorkloadInput {
  return {
    version: 1,
    name: `density-${kind.id}-memory`,
    phases: [
      { arrivals: 'burst', calls: 2, overSeconds: 0.2, restSeconds: HELD_CALL_SECONDS + HELD_REST_SECONDS },
      { arrivals: 'burst', calls: kind.calls, overSeconds: HELD_RAMP_SECONDS },
    ],
    callers: callersOf(kind, HELD_CALL_SECONDS),
    mayFail: true,
  };
}

export function kneeWorkloadOf(
  kind: DensityKind,
  search: { from: number; to: number; repetitions: number; limits: KneeLimits },
): WorkloadInput {
  const { from, to, repetitions, limits } = search;
  return {
    version: 1,
    name: `density-${kind.id}-knee`,
    // What the phases say is the search's.
    phases: [{ arrivals: 'level', calls: from, forSeconds: KNEE_STEP_SECONDS }],
    callers: callersOf(kind, KNEE_STEP_SECONDS),
    mayFail: true,
    knee: { of: 'calls', from, to, stepSeconds: KNEE_STEP_SECONDS, unless: unless(limits), repetitions },
  };
}
