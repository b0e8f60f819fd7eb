/**
 * Calls that make events: some ring and are declined, more are answered and hung up by the callee. Clients send an
 * Idempotency-Key and repeat until they have an answer, through whatever is struck. Called by `run.ts`.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { PersonaInput } from '../../../bench/emulators/persona.ts';
import type { Gateway } from '../../../bench/harness/gateway.ts';
import { placeAsClient } from '../../harness/placing-client.ts';

const ANSWERED_SHARE = 0.6;
const PREFIX = { declined: '+1415520', answered: '+1415521' } as const;
const REPEAT_FOR_MS = 60_000;

export function historyPersonas(): PersonaInput[] {
  return [
    { kind: 'silent', name: 'declines', number: `${PREFIX.declined}*`, ringMs: 100, outcome: 'declined' },
    { kind: 'silent', name: 'answers', number: `${PREFIX.answered}*`, ringMs: 100, hangsUpAfterMs: 400 },
  ];
}

export interface Placed {
  /** Of the calls that clients were told of. */
  callUuids: ReadonlySet<string>;
  /** Status and code of each last answer that named no call; `0` when there was none. */
  refusedWith: readonly string[];
}

/** Resolves with the ids that clients were given, when every client has its answer. */
export async function placeCalls(
  gateway: Gateway,
  options: { calls: number; perSecond: number; seed: number; random: () => number },
): Promise<Placed> {
  const { agentId, enterprise, lineId } = gateway;
  const body = { agentId, enterprise, from: lineId, metadata: { seed: String(options.seed) } };
  const startMs = performance.now();
  const giveUpAtMs = startMs + (options.calls / options.perSecond) * 1_000 + REPEAT_FOR_MS;
  const running = [];
  for (let index = 0; index < options.calls; index++) {
    await wait(Math.max(0, startMs + (index / options.perSecond) * 1_000 - performance.now()));
    const kind = options.random() < ANSWERED_SHARE ? 'answered' : 'declined';
    const number = PREFIX[kind] + String(index).padStart(4, '0');
    const idempotencyKey = `history-${options.seed}-${index}`;
    running.push(placeAsClient(gateway.client, body, { number, idempotencyKey }, { giveUpAtMs }));
  }
  const outcomes = await Promise.all(running);
  const refused = outcomes.filter(({ callUuids }) => callUuids.size === 0);
  return {
    callUuids: new Set(outcomes.flatMap(({ callUuids }) => [...callUuids])),
    refusedWith: refused.map(({ httpStatus, errorCode }) => `${httpStatus} ${errorCode}`),
  };
}
