/**
 * What the outbound-call route asks of the rest of control. Placement is `src/calls/placement.ts`; policy and admission
 * are composed in `src/main.ts`. Shapes only: no behaviour here.
 */
import type { AgentDefinition } from '../../../media/contract/agent-definition.ts';
import type { EndedReason } from '../../../media/contract/call-outcome.ts';

export interface NewCall {
  workspaceId: string;
  enterprise: string;
  agent: { id: string; version: number; definition: AgentDefinition };
  line: { id: string; number: string; carrier: string; credentials: Record<string, string> };
  /** E.164. */
  to: string;
  name: string;
  metadata: Record<string, unknown>;
  idempotencyKey: string | null;
  requestId: string;
  /** What to do when the carrier accepts after the client was told 500 (contract §1). */
  lateAcceptance: 'continue' | 'cancel';
}

export type Placement =
  | { kind: 'placed'; callUuid: string; status: 'dialing' | 'ringing' }
  | { kind: 'limited'; code: 'cps_limit' | 'concurrency_limit'; retryAfterSeconds: number }
  | { kind: 'throttled'; retryAfterSeconds: number }
  | { kind: 'draining' }
  | { kind: 'rejected'; callUuid: string; code: EndedReason }
  | { kind: 'unknown'; callUuid: string };

export type PlaceCall = (call: NewCall) => Promise<Placement>;

export type ComplianceVerdict =
  | { allowed: true }
  | { allowed: false; code: 'blocked_suppressed' | 'blocked_time_window' | 'blocked_country' };

/** Step 11. */
export interface CompliancePolicy {
  check(attempt: { workspaceId: string; agentId: string; lineId: string; to: string }): Promise<ComplianceVerdict>;
}

/** Until suppressions and calling windows exist, nothing is blocked. */
export const allowEveryCall: CompliancePolicy = { check: async () => ({ allowed: true }) };

/** Step 12: is there a media process with room, and are we taking new work? Asked before each placement; cheap. */
export interface CallAdmission {
  state(): 'open' | 'draining' | 'no_capacity';
}
