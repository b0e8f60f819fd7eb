/**
 * What is asked for with a call and what came of it, and what placing asks before it dials. `placement.ts` places,
 * `dial-clearance.ts` clears; the routes that call out use both by these shapes. No behaviour here.
 */

import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import type { EndedReason } from '../../media/contract/call-outcome.ts';
import type { ChangedBy } from '../audit/audit-entry.ts';
import type { CallCompliance } from '../calls/call-record.ts';
import type { DailyCeilings } from '../dialling/daily-ceilings.ts';
import type { CallLimitSettings } from '../limits/call-limit-settings.ts';
import type { CallLimitCode, CallsLeft } from '../limits/call-limits.ts';
import type { QueuePriority } from '../limits/fair-queue.ts';
import type { Queryable } from '../store/database.ts';
import type { Write } from '../store/joint-write.ts';

export interface NewCall {
  workspaceId: string;
  enterprise: string;
  agent: { id: string; version: number; definition: AgentDefinition };
  /**
   * The call is ended, and its callbacks are checked, with the credentials of this version, whatever the line gets
   * later.
   */
  line: {
    id: string;
    number: string;
    carrier: string;
    credentials: Record<string, string>;
    credentialsVersion?: number;
  };
  /** Of the line and its workspace, as they are now. Absent: they are looked up. */
  limits?: CallLimitSettings;
  /** E.164. */
  to: string;
  name: string;
  metadata: Record<string, unknown>;
  /** The lead that is called; `values` are its notes and source, for placeholders. */
  lead: { id: string; values: Record<string, string> } | null;
  /** No Idempotency-Key was sent: the workspace's guard against the same call twice applies (contract §2). */
  guardDuplicates: boolean;
  idempotencyKey: string | null;
  /** Whose key it is, such as `POST /api/outbound-call`. */
  idempotencyPath: string;
  requestId: string;
  /** What to do when the carrier accepts after the client was told 500 (contract §1). */
  lateAcceptance: 'continue' | 'cancel';
  /** For the audit. */
  by?: ChangedBy;
  /** The key that asks: its share of the day is counted too. */
  keyId?: string;
  /** When many wait; `api` if absent. */
  priority?: QueuePriority;
}

export type Placement =
  | { kind: 'placed'; callUuid: string; status: 'dialing' | 'ringing'; left?: CallsLeft }
  | { kind: 'limited'; code: CallLimitCode; retryAfterSeconds: number; left?: CallsLeft }
  /** The operator's ceiling of the day: of how much, under which name. */
  | { kind: 'limited'; code: 'daily_limit'; retryAfterSeconds: number; ceiling: { name: string; value: number } }
  | { kind: 'throttled'; retryAfterSeconds: number }
  | { kind: 'draining'; code?: 'overloaded'; retryAfterSeconds?: number }
  | { kind: 'blocked'; code: DialRefusal['code'] }
  | { kind: 'rejected'; callUuid: string; code: EndedReason }
  | { kind: 'unknown'; callUuid: string };

export type PlaceCall = (call: NewCall) => Promise<Placement>;

type BlockCode =
  | 'blocked_suppressed'
  | 'blocked_time_window'
  | 'blocked_country'
  | 'blocked_destination'
  | 'do_not_contact';

export interface DialRefusal {
  ok: false;
  code: BlockCode | 'lead_not_found' | 'lead_active_call' | 'duplicate_call';
}

/** Step 11, decided in the transaction that makes the call. */
export interface DialClearance {
  /** Holds what it has looked at until the transaction ends. */
  judge(tx: Queryable, call: NewCall): Promise<DialGrant | DialRefusal>;
  /** In the transaction that removes a call which was none (contract §1, throttled). */
  withdraw(tx: Queryable, call: { workspaceId: string; leadId: string | null; callUuid: string }): Promise<void>;
}

export interface DialGrant {
  ok: true;
  /** The operator's: null where there are none. */
  ceilings: DailyCeilings | null;
  maxCallSeconds: number | null;
  /** The permit, to be written in the transaction of `judge`: the call is dialled when that commits. */
  grant(callUuid: string): { compliance: CallCompliance; writes: Write[] };
}

/** The same, asked before: when no call can be made anyway, and only the answer's order counts. */
export interface CompliancePolicy {
  check(attempt: {
    workspaceId: string;
    to: string;
    leadId: string | null;
    lineNumber: string;
  }): Promise<{ allowed: true } | { allowed: false; code: BlockCode }>;
}

/** Step 12: is there a media process with room, and are we taking new work? Asked before each placement; cheap. */
export interface CallAdmission {
  state(): 'open' | 'draining' | 'no_capacity' | 'overloaded';
}
