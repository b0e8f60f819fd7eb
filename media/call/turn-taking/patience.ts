/** The patience that is the call's own, whatever the agent's is. */
import { LONGEST_PAUSE_MS, type Patience } from '../../contract/agent.ts';

/**
 * While it is open whether the caller meant to interrupt: quick when words were understood, else the wait before going
 * on.
 */
export const INTERRUPTION_PATIENCE: Patience = { minMs: 200, maxMs: LONGEST_PAUSE_MS };
