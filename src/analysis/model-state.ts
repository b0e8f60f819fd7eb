/**
 * What this process has learned of each workspace's chat endpoint: the form of answer that it takes, and whether it is
 * worth asking. After five failures in a row it is left alone for 30 s, then one question goes through; so a dead model
 * costs a call centre seconds and not a wait for each call. Forgotten when the endpoint is changed.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { AnswerFormat } from './chat-request.ts';

export interface ModelState {
  format: AnswerFormat;
  /** May it be asked now? Taking the one question that an open breaker lets through counts as asking. */
  mayAsk(): boolean;
  answered(): void;
  failed(): void;
}

export interface ModelStates {
  /** `version` changes with the endpoint. */
  of(workspaceId: string, version: string): ModelState;
  /** How many are left alone at the moment. */
  openCount(): number;
}

export const FAILURES_TO_OPEN = 5;
export const OPEN_MS = 30_000;
const MOST_KEPT = 10_000;

interface Kept {
  version: string;
  state: ModelState & { isOpen(): boolean };
}

export function createModelStates(clock: Clock): ModelStates {
  const kept = new Map<string, Kept>();
  return {
    of(workspaceId, version) {
      const known = kept.get(workspaceId);
      if (known?.version === version) return known.state;
      if (kept.size >= MOST_KEPT) kept.clear();
      const state = createState(clock);
      kept.set(workspaceId, { version, state });
      return state;
    },
    openCount: () => [...kept.values()].filter(({ state }) => state.isOpen()).length,
  };
}

function createState(clock: Clock): Kept['state'] {
  let failures = 0;
  let askAgainAtMs = 0;
  return {
    format: 'json_schema',
    isOpen: () => failures >= FAILURES_TO_OPEN,
    mayAsk() {
      if (failures < FAILURES_TO_OPEN) return true;
      if (clock.nowMs() < askAgainAtMs) return false;
      askAgainAtMs = clock.nowMs() + OPEN_MS;
      return true;
    },
    answered() {
      failures = 0;
    },
    failed() {
      failures++;
      if (failures >= FAILURES_TO_OPEN) askAgainAtMs = clock.nowMs() + OPEN_MS;
    },
  };
}
