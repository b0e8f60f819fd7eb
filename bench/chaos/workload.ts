/**
 * The calls of a random run: who is called when, made of a seed alone, and the client that places them. The client does what a good one
 * does: one idempotency key a call, tried again while there is no answer or a passing one. Knows nothing of deaths.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { PersonaInput } from '../emulators/persona.ts';
import type { Gateway } from '../harness/gateway.ts';
import type { PlacementSeen } from './history.ts';

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

const TRY_AGAIN_MS = 500;
const GIVE_UP_MS = 110_000;
const REQUEST_LIMIT_MS = 15_000;
/** Answers that say: not now, or not known yet. */
const PASSING = new Set([409, 425, 429, 500, 502, 503, 504]);

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

/** Resolves when every call has its last answer, in the order of the plan. */
export async function runWorkload(
  gateway: Gateway,
  calls: readonly PlannedCall[],
  agentFor: (number: string) => string,
): Promise<PlacementSeen[]> {
  const startedAtMs = performance.now();
  return Promise.all(
    calls.map(async ({ atMs, number }) => {
      await wait(Math.max(0, startedAtMs + atMs - performance.now()));
      return placeUntilAnswered(gateway, number, agentFor(number));
    }),
  );
}

async function placeUntilAnswered(gateway: Gateway, number: string, agentId: string): Promise<PlacementSeen> {
  const seen: PlacementSeen = { number, httpStatus: null, callUuid: null, tries: 0 };
  const untilMs = performance.now() + GIVE_UP_MS;
  const body = { to: number, agentId, enterprise: gateway.enterprise, from: gateway.lineId };
  while (performance.now() < untilMs) {
    seen.tries++;
    try {
      const placed = await Promise.race([
        gateway.client.place(body, { 'idempotency-key': `chaos-${number.slice(1)}` }),
        wait(REQUEST_LIMIT_MS, undefined, { ref: false }).then(() => Promise.reject(new Error('no answer'))),
      ]);
      seen.httpStatus = placed.httpStatus;
      seen.callUuid = placed.body.callUuid ?? placed.headers.get('x-call-uuid');
      if (!PASSING.has(placed.httpStatus)) return seen;
      // The stored answer of a call that was tried and failed comes again for ever.
      if (placed.headers.get('idempotent-replayed') === 'true' && seen.callUuid !== null) return seen;
      if (placed.httpStatus === 502) return seen;
    } catch {
      // Nobody was there, or nobody answered.
    }
    await wait(TRY_AGAIN_MS);
  }
  return seen;
}
