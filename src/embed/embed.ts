/**
 * The control side of web sessions put together: tokens are issued here, and sockets get their sessions. Made by
 * `src/control/call-work.ts`.
 */
import type { Logger } from 'pino';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import type { Clock } from '../../media/contract/clock.ts';
import type { CallEventBus } from '../calls/call-event-bus.ts';
import type { EmbedLimits } from '../limits/embed-limits.ts';
import type { GivenKeys } from '../sealing/master-keys.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database } from '../store/database.ts';
import type { DueLook } from '../store/due-look.ts';
import { type AddressSlots, createAddressSlots } from './address-slots.ts';
import { type ClaimSession, type ClaimSessionDeps, createClaimSession } from './claim-session.ts';
import { type IssueAnswer, issueSession, type SessionRequest } from './issue-session.ts';
import { createResumeKeys } from './resume-keys.ts';
import { createSessionTokens } from './session-token.ts';
import { createSigningKeys } from './signing-keys.ts';

export interface EmbedDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  bus: Pick<CallEventBus, 'publish'>;
  sealer: Sealer;
  masterKeys: GivenKeys;
  publicUrl: string;
  limits: EmbedLimits;
  superseded(callUuid: string, ownerRun: string): void;
  /** See `ClaimSessionDeps`. */
  allWritten(callUuid: string): Promise<void>;
  /** Renders an agent's greeting ahead. */
  prepare(agent: AgentDefinition): void;
  isDraining(): boolean;
  /** A media process takes calls, and one more session would find a place: only looked at. */
  hasRoom(): boolean;
  /** A session's place is taken when its socket is claimed. */
  room: ClaimSessionDeps['room'];
  /** As for a carrier's stream. Absent in tests, which say themselves what is carried. */
  withStream?: Pick<ClaimSessionDeps, 'carried' | 'clipsOf' | 'grantsOf'>;
  /** See `createAddressSlots`. */
  due?: DueLook;
}

export interface Embed {
  issueSession(request: SessionRequest): Promise<IssueAnswer>;
  claimSession: ClaimSession;
  /** A call is over; one that was no web session is ignored. Never throws. */
  callEnded: AddressSlots['ended'];
  /** Idempotent. */
  close(): void;
}

export function createEmbed(deps: EmbedDeps): Embed {
  const { database, clock, log, bus, masterKeys, publicUrl } = deps;
  const ownOrigin = new URL(publicUrl).origin;
  const slots = createAddressSlots(deps);
  const tokens = createSessionTokens({ keys: createSigningKeys(deps), clock, issuer: publicUrl });
  return {
    callEnded: slots.ended,
    close: slots.close,
    issueSession: (request) =>
      issueSession(
        {
          database,
          tokens,
          limits: deps.limits,
          ownOrigin,
          admits: () => !deps.isDraining() && deps.hasRoom(),
          prepare: (agent) => deps.prepare(agent.definition),
        },
        request,
      ),
    claimSession: createClaimSession({
      database,
      clock,
      log,
      bus,
      sealer: deps.sealer,
      ...deps.withStream,
      tokens,
      resumeKeys: createResumeKeys(masterKeys),
      ownOrigin,
      admits: () => !deps.isDraining(),
      room: deps.room,
      limits: deps.limits,
      allWritten: deps.allWritten,
      superseded: deps.superseded,
    }),
  };
}
