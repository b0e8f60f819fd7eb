/**
 * The calls of a random run: who is called when, made of a seed alone, each placed under one idempotency key by a
 * client that tries again while there is no answer or a passing one. Knows nothing of deaths.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { PersonaInput } from '../../../bench/emulators/persona.ts';
import type { Gateway } from '../../../bench/harness/gateway.ts';
import { placeAsClient } from '../../harness/placing-client.ts';
import type { PlacementSeen } from '../judge/history.ts';

export interface PlannedCall {
  atMs: number;
  number: string;
}

export interface WorkloadPlan {
  calls: number;
  durationMs: number;
  random(): number;
}

/** Number ranges, each with the share of calls that goes there: a tenth is busy, unanswered or failing. */
const RANGES: readonly { prefix: string; share: number; persona: Omit<PersonaInput, 'name' | 'number'> }[] = [
  // The agent says what it has to say and ends the call.
  { prefix: '+1415551', share: 0.2, persona: { kind: 'silent', ringMs: 200 } as never },
  { prefix: '+1415552', share: 0.7, persona: { kind: 'tone', ringMs: 300, hangsUpAfterMs: 4_000 } as never },
  { prefix: '+1415553', share: 0.03, persona: { kind: 'silent', outcome: 'busy' } as never },
  { prefix: '+1415554', share: 0.03, persona: { kind: 'silent', outcome: 'no_answer', ringMs: 3_000 } as never },
  { prefix: '+1415555', share: 0.02, persona: { kind: 'silent', outcome: 'carrier_fault' } as never },
  {
    prefix: '+1415556',
    share: 0.02,
    persona: { kind: 'silent', faults: { placement: { kind: 'status', httpStatus: 400 } } } as never,
  },
];
export const TALKS = RANGES[0]!.prefix;

const GIVE_UP_MS = 110_000;
const ANSWER_LIMIT_MS = 15_000;

export function personasOf(): PersonaInput[] {
  return RANGES.map(({ prefix, persona }) => ({ ...persona, name: prefix, number: `${prefix}*` }) as PersonaInput);
}

/** The same seed, the same calls. */
export function planWorkload({ calls, durationMs, random }: WorkloadPlan): PlannedCall[] {
  return Array.from({ length: calls }, (_, at) => {
    return { atMs: (at * durationMs) / calls, number: `${rangeAt(random()).prefix}${String(at).padStart(4, '0')}` };
  });
}

/** `part` of all shares, 0 to 1. */
function rangeAt(part: number): (typeof RANGES)[number] {
  let upTo = 0;
  for (const range of RANGES) {
    upTo += range.share;
    if (part < upTo) return range;
  }
  return RANGES[0]!;
}

/** Resolves when every call has its last answer, in the order of the plan; `placed` is told of each as it comes. */
export async function runWorkload(
  gateway: Gateway,
  calls: readonly PlannedCall[],
  agentFor: (number: string) => string,
  placed: (placement: PlacementSeen) => void = () => {},
): Promise<PlacementSeen[]> {
  const startedAtMs = performance.now();
  return Promise.all(
    calls.map(async ({ atMs, number }) => {
      await wait(Math.max(0, startedAtMs + atMs - performance.now()));
      const placement = await placeUntilAnswered(gateway, number, agentFor(number));
      placed(placement);
      return placement;
    }),
  );
}

async function placeUntilAnswered(gateway: Gateway, number: string, agentId: string): Promise<PlacementSeen> {
  const body = { agentId, enterprise: gateway.enterprise, from: gateway.lineId };
  const wanted = { number, idempotencyKey: `chaos-${number.slice(1)}` };
  const patience = { giveUpAtMs: performance.now() + GIVE_UP_MS, answerLimitMs: ANSWER_LIMIT_MS };
  const { httpStatus, errorCode, callUuids, requests } = await placeAsClient(gateway.client, body, wanted, patience);
  return {
    number,
    httpStatus: httpStatus === 0 ? null : httpStatus,
    errorCode,
    callUuid: [...callUuids].at(-1) ?? null,
    tries: requests,
  };
}
