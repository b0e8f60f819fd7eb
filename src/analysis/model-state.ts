/**
 * What this process has learned of each workspace's chat endpoint: the form of answer that it takes, and whether it is
 * worth asking. After five failures in a row it is left alone for 30 s, then one question goes through; so a dead model
 * costs a call centre seconds and not a wait for each call. Forgotten when the endpoint is changed.
 */
import type { Clock } from '../../media/contract/clock.ts';
import { type CircuitBreaker, createCircuitBreaker, failuresInARow } from '../../media/net/circuit-breaker.ts';
import type { AnswerFormat } from './chat-request.ts';

export interface ModelState {
  format: AnswerFormat;
  /** Asked before each question, and told how it went. */
  readonly breaker: CircuitBreaker;
}

export interface ModelStates {
  /** `version` changes with the endpoint. */
  of(workspaceId: string, version: string): ModelState;
  /** How many are left alone at the moment. */
  openCount(): number;
}

const FAILURES_TO_OPEN = 5;
const OPEN_MS = 30_000;
const MOST_KEPT = 10_000;

export function createModelStates(clock: Clock): ModelStates {
  const kept = new Map<string, { version: string; state: ModelState }>();
  return {
    of(workspaceId, version) {
      const known = kept.get(workspaceId);
      if (known?.version === version) return known.state;
      if (kept.size >= MOST_KEPT) kept.clear();
      const rule = failuresInARow(FAILURES_TO_OPEN);
      const breaker = createCircuitBreaker({ clock, rule, openMs: OPEN_MS, tryLimitMs: OPEN_MS });
      const state: ModelState = { format: 'json_schema', breaker };
      kept.set(workspaceId, { version, state });
      return state;
    },
    openCount: () => [...kept.values()].filter(({ state }) => state.breaker.isOpen()).length,
  };
}
