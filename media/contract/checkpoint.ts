/**
 * What a call goes on from in another thread or process: written at each turn's boundary, kept by the I/O thread and by
 * control. The call's own part is read by all; the agent's state is opaque to everybody but agents of its kind, and
 * carries its version.
 */

import type { SaidMeanwhile } from './conversation.ts';

export interface AgentState {
  kind: string;
  version: number;
  /** JSON. */
  state: unknown;
}

export interface Checkpoint {
  /** Null: the agent had kept nothing yet. */
  agent: AgentState | null;
  /** What the agent knows of the caller, for others to read. */
  variables: Record<string, string>;
  nextTurnNumber: number;
  /** What the agent was saying when its thread died, as far as it was told, and what of it was heard. */
  cut?: { text: string; heardText: string };
  /** An operator has silenced the agent; absent when not. */
  muted?: true;
  /** A person has the call; what was said since. Absent when not. */
  takenOver?: { said: readonly SaidMeanwhile[] };
  /** Ms of media stream that lay before this checkpoint. */
  atMs: number;
  /**
   * Uses of tools that were begun, and which of them have no result yet, by number: whoever goes on asks for them
   * again. True: the last one, and no other; false: none.
   */
  tools?: { begun: number; waiting: boolean | number[] };
}

/** As versions before the agent port wrote it. All were of scripted agents. */
export interface ScriptCheckpoint extends Omit<Checkpoint, 'agent'> {
  stepId: string | null;
  misses: number;
  visits: Record<string, number>;
}

/** As it may lie in a row, or come from a process of another version. */
export type StoredCheckpoint = Checkpoint | ScriptCheckpoint;

/** For a call whose turns are known and whose checkpoint is not. */
export const EMPTY_CHECKPOINT: Checkpoint = Object.freeze({ agent: null, variables: {}, nextTurnNumber: 1, atMs: 0 });

export function readCheckpoint(stored: StoredCheckpoint): Checkpoint {
  if ('agent' in stored) return stored;
  const { stepId, misses, visits, ...rest } = stored;
  const state = { stepId, misses, visits };
  return { ...rest, agent: { kind: 'scripted', version: 1, state } };
}
