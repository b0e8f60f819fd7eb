/**
 * Tokens with which a browser opens the socket to listen in: 256 random bits, good once, for a minute, for one call and
 * one person's session. Kept in memory by their hash: who comes after a restart of control asks for another. One that
 * comes to another node moves there.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../media/contract/clock.ts';
import type { ChangedBy } from '../audit/audit-entry.ts';
import type { SessionUse } from '../users/sessions.ts';

/** Who may listen to what. */
export interface MonitorGrant {
  workspaceId: string;
  callUuid: string;
  by: ChangedBy;
  session: SessionUse;
  /** The person may do more with the call than listen. */
  maySteer: boolean;
}

export interface HandedToken {
  grant: MonitorGrant;
  leftMs: number;
}

export interface MonitorTokens {
  /** Null: more are open than anybody can use. */
  issue(grant: MonitorGrant): { token: string; expiresAt: Date } | null;
  /** Spends it. Null: unknown, spent, or past its time. */
  take(token: string): MonitorGrant | null;
  /** Its listener came to another node, which has it from now on. Null as with `take`. */
  hand(hash: string): HandedToken | null;
  /** One that another node has handed over is as if it had been taken here. */
  adopt(token: string, handed: HandedToken): MonitorGrant;
  /** Its listener came to another process, and comes again. */
  giveBack(token: string, grant: MonitorGrant): void;
}

const LIFE_MS = 60_000;
const TOKEN_BYTES = 32;
const MOST_OPEN = 2_000;

export const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

export function createMonitorTokens(clock: Pick<Clock, 'nowMs' | 'epochMs'>): MonitorTokens {
  /** The oldest first: all live equally long. */
  const open = new Map<string, { grant: MonitorGrant; untilMs: number }>();
  /** Of tokens that are being looked at. */
  const taken = new Map<string, number>();

  function dropOld(): void {
    for (const [hash, { untilMs }] of open) if (untilMs <= clock.nowMs()) open.delete(hash);
    for (const [hash, untilMs] of taken) if (untilMs <= clock.nowMs()) taken.delete(hash);
  }

  function spend(hash: string): { grant: MonitorGrant; untilMs: number } | null {
    const found = open.get(hash);
    open.delete(hash);
    return found === undefined || found.untilMs <= clock.nowMs() ? null : found;
  }

  return {
    issue(grant) {
      dropOld();
      if (open.size >= MOST_OPEN) return null;
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      open.set(hashOf(token), { grant, untilMs: clock.nowMs() + LIFE_MS });
      return { token, expiresAt: new Date(clock.epochMs() + LIFE_MS) };
    },
    take(token) {
      const hash = hashOf(token);
      const found = spend(hash);
      if (found === null) return null;
      taken.set(hash, found.untilMs);
      return found.grant;
    },
    hand(hash) {
      const found = spend(hash);
      return found && { grant: found.grant, leftMs: found.untilMs - clock.nowMs() };
    },
    adopt(token, { grant, leftMs }) {
      taken.set(hashOf(token), clock.nowMs() + Math.min(LIFE_MS, leftMs));
      return grant;
    },
    giveBack(token, grant) {
      const hash = hashOf(token);
      const untilMs = taken.get(hash);
      taken.delete(hash);
      if (untilMs !== undefined && untilMs > clock.nowMs()) open.set(hash, { grant, untilMs });
    },
  };
}
