/**
 * A socket at `/ws/live` wants its session: a session token makes a call of it, a resume token gives it the call that
 * it had. The session takes its place now, not when its token was issued: first its part of the limits, as a promise,
 * and then one transaction burns the token, keeps the promise and writes the call's row, so of any number of sockets
 * with one token one wins. What the winner gets is in `src/lifecycle/claimed-stream.ts`, as for a carrier's stream.
 * Asked by media over the link.
 */
import type { Logger } from 'pino';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { MULAW_8K } from '../../media/contract/audio-format.ts';
import type { ClaimAnswer, ClaimRequest } from '../../media/contract/link-messages.ts';
import type {
  LiveErrorCode,
  LiveUpgradeRequest,
  NegotiatedAudio,
  WebSetup,
} from '../../media/contract/live-session.ts';
import type { CallLogLine } from '../calls/append-call-log.ts';
import { CallChange } from '../calls/call-change.ts';
import { lockCall, readOwnCall } from '../calls/call-row.ts';
import { readAgentDefinition } from '../calls/call-setup.ts';
import { readTurns } from '../calls/call-turns.ts';
import { isTerminal } from '../calls/state-machine.ts';
import {
  type ClaimedStream,
  type ClaimedStreamDeps,
  type ClaimingRun,
  setupOfStream,
  takeStream,
} from '../lifecycle/claimed-stream.ts';
import type { CallRoom } from '../limits/call-room.ts';
import type { EmbedAnswer, EmbedLimits, EmbedSession } from '../limits/embed-limits.ts';
import { keepPromise } from '../limits/slot-admission.ts';
import type { Queryable } from '../store/database.ts';
import { isAllowed } from './origin.ts';
import { isResumeToken, type ResumeKeys, type ResumeToken } from './resume-keys.ts';
import type { SessionClaims, SessionTokens } from './session-token.ts';
import { findWebAgent, type WebAgent } from './web-agents.ts';
import { findActiveWidgetKey } from './widget-keys.ts';

export interface ClaimSessionDeps extends ClaimedStreamDeps {
  log: Logger;
  tokens: SessionTokens;
  resumeKeys: ResumeKeys;
  ownOrigin: string;
  /** False: this process is being stopped. */
  admits(): boolean;
  room: Pick<CallRoom, 'take' | 'expects' | 'release'>;
  limits: Pick<EmbedLimits, 'take' | 'renew'>;
  /** What media has said about the call is written: that it is over, perhaps. See `UnwrittenTalk`. */
  allWritten(callUuid: string): Promise<void>;
  /** The session has gone from this process to another. */
  superseded(callUuid: string, ownerRun: string): void;
}

const HTTP_STATUS: Partial<Record<LiveErrorCode, 401 | 403 | 404 | 409 | 410 | 429 | 503>> = {
  token_invalid: 401,
  token_expired: 401,
  token_used: 409,
  origin_not_allowed: 403,
  agent_not_found: 404,
  concurrency_limit: 429,
  session_over: 410,
};
/** A burned token's row outlives the token by this. */
const BURNED_KEPT_MS = 120_000;
const PURGE_EVERY_CLAIMS = 100;
/** More than come in between, and no more than a visitor may wait for. */
const PURGE_BATCH = 1_000;
const LEAST_SESSION_SECONDS = 30;
const NO_LIMIT_SECONDS = 86_400;

export type ClaimSession = (run: ClaimingRun, claim: ClaimRequest) => Promise<ClaimAnswer>;

/** The function that it returns rejects when the database is away. */
export function createClaimSession(deps: ClaimSessionDeps): ClaimSession {
  const { database, clock, sealer, log } = deps;
  let claims = 0;
  /** Places that are taken for tokens whose claims are under way, each for all sockets that come with the token. */
  const places = new Map<string, { sockets: number; isWon: boolean; slots: Promise<EmbedAnswer> }>();

  function refused(code: LiveErrorCode, why: string): ClaimAnswer {
    return { ok: false, httpStatus: HTTP_STATUS[code] ?? 503, why, code };
  }

  async function begin(run: ClaimingRun, token: string, upgradeRequest: LiveUpgradeRequest): Promise<ClaimAnswer> {
    const verified = await deps.tokens.verify(token);
    if (!verified.ok) return refused(verified.code, 'the session token does not hold');
    const { claims: said } = verified;
    if (!originFits(upgradeRequest, said.origin))
      return refused('origin_not_allowed', 'the socket comes from another origin');
    const key = await findActiveWidgetKey(database, said.pk);
    const isListed =
      key !== undefined && (said.origin === deps.ownOrigin || isAllowed(said.origin, key.allowedOrigins));
    // What was true when the token was made may have been taken back since.
    if (key === undefined || !isListed) return refused('origin_not_allowed', 'the key or its origin was taken back');
    const agent = await findWebAgent(database, { workspaceId: key.workspaceId, agentId: said.agentId });
    if (agent === undefined) return refused('agent_not_found', 'the agent is gone, or not for the web');
    if (!deps.admits()) return refused('draining', 'control is being stopped');
    const spent = await database.query('SELECT 1 AS one FROM embed_tokens_used WHERE jti = $1', [said.jti]);
    if (spent.length > 0) return refused('token_used', 'the session token was used before');
    const { workspaceId } = key;
    const session = { address: upgradeRequest.remoteAddress, publicKey: said.pk, workspaceId, callUuid: said.jti };
    // Before the token is spent: who finds no place may come back with it.
    return atItsPlace(session, () => claimed(run, { said, agent, session }));
  }

  async function atItsPlace(session: EmbedSession, work: () => Promise<ClaimAnswer>): Promise<ClaimAnswer> {
    const { callUuid } = session;
    // An earlier socket won a moment ago: the place is its own.
    if (!places.has(callUuid) && deps.room.expects(callUuid)) return work();
    let place = places.get(callUuid);
    if (place === undefined) {
      if (!deps.room.take(callUuid, 'web'))
        return refused('concurrency_limit', 'there is no room for one more session');
      // Promised for 15 s: what comes to nothing ends by itself.
      place = { sockets: 0, isWon: false, slots: deps.limits.take(session) };
      places.set(callUuid, place);
    }
    place.sockets++;
    try {
      if (!(await place.slots).ok) return refused('concurrency_limit', 'too many sessions');
      const answer = await work();
      if (answer.ok) place.isWon = true;
      return answer;
    } finally {
      if (--place.sockets === 0) {
        places.delete(callUuid);
        if (!place.isWon) deps.room.release(callUuid);
      }
    }
  }

  async function claimed(
    run: ClaimingRun,
    { said, agent, session }: { said: SessionClaims; agent: WebAgent; session: EmbedSession },
  ): Promise<ClaimAnswer> {
    if (claims++ % PURGE_EVERY_CLAIMS === 0) await purgeBurned();
    const nowEpochMs = clock.epochMs();
    const made = await database.transaction(async (tx) => {
      // First of all: a token that came once is spent, whatever becomes of it.
      const burned = await tx.query(
        'INSERT INTO embed_tokens_used (jti, expires_at) VALUES ($1, $2) ON CONFLICT (jti) DO NOTHING RETURNING 1 AS one',
        [said.jti, new Date(said.exp * 1000 + BURNED_KEPT_MS)],
      );
      if (burned.length === 0) return 'token_used';
      if (!(await keepPromise(tx, said.jti))) return 'concurrency_limit';
      const logged = await makeCall(tx, { said, agent, session, nowEpochMs });
      const change = new CallChange((await lockCall(tx, session.callUuid))!);
      return takeStream(tx, sealer, { run, change, nowEpochMs, logged });
    });
    if (made === 'token_used') return refused(made, 'the session token was used before');
    if (made === 'concurrency_limit') return refused(made, 'too many sessions');
    // The promise is shorter than the time to the next renewal.
    await deps.limits.renew(session).catch((error: unknown) => {
      log.debug({ err: error, callUuid: said.jti }, "the slot of a visitor's address could not be renewed");
    });
    return sessionOf(made, agent.definition, said.origin, null);
  }

  /** Its status line is the first of its log. */
  async function makeCall(
    tx: Queryable,
    given: { said: SessionClaims; agent: WebAgent; session: EmbedSession; nowEpochMs: number },
  ): Promise<CallLogLine[]> {
    const { said, agent, nowEpochMs } = given;
    const { workspaceId, address, callUuid } = given.session;
    await tx.query(
      `INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, channel, direction, to_number, from_number, name,
          request_id, status, submission, submission_at, carrier, answered_by, created_at, answered_at, max_duration_seconds)
       SELECT $1, w.id, $3, $4, 'web', 'inbound', $5, '', '', $6, 'in_progress', 'accepted', $7, 'web', 'human', $7, $7,
              greatest(${LEAST_SESSION_SECONDS}, least(w.web_session_seconds, $8::int))
         FROM workspaces w WHERE w.id = $2`,
      [
        callUuid,
        workspaceId,
        agent.agentId,
        agent.version,
        `web:${said.origin}`,
        said.jti,
        new Date(nowEpochMs),
        agent.definition.maxDurationSeconds ?? NO_LIMIT_SECONDS,
      ],
    );
    await tx.query('INSERT INTO web_sessions (call_uuid, public_key, origin, address) VALUES ($1, $2, $3, $4)', [
      callUuid,
      said.pk,
      said.origin,
      address,
    ]);
    return [{ kind: 'status', data: { status: 'in_progress' }, atEpochMs: nowEpochMs }];
  }

  async function resume(
    run: ClaimingRun,
    token: ResumeToken,
    upgradeRequest: LiveUpgradeRequest,
  ): Promise<ClaimAnswer> {
    const { callUuid } = token;
    const seen = await readOwnCall(database, callUuid);
    if (seen === undefined || seen.channel !== 'web')
      return refused('token_invalid', 'the resume token names no session');
    const [session] = await database.query<{ origin: string; audio: NegotiatedAudio | null }>(
      'SELECT origin, audio FROM web_sessions WHERE call_uuid = $1',
      [callUuid],
    );
    if (session === undefined) return refused('token_invalid', 'the resume token names no session');
    if (!originFits(upgradeRequest, session.origin))
      return refused('origin_not_allowed', 'the socket comes from another origin');
    const definition = await readAgentDefinition(database, seen);
    // A page that ends its session may ask again before its end is written.
    await deps.allWritten(callUuid);
    const nowEpochMs = clock.epochMs();
    const won = await database.transaction(async (tx) => {
      const before = await lockCall(tx, callUuid);
      if (before === undefined || isTerminal(before.status) || before.ending !== null) return 'session_over';
      const spent = await tx.query('SELECT 1 AS one FROM web_sessions WHERE call_uuid = $1 AND resume_number > $2', [
        callUuid,
        token.number,
      ]);
      if (before.epoch !== token.epoch || spent.length > 0) return 'token_used';
      await tx.query('UPDATE web_sessions SET resume_number = 0 WHERE call_uuid = $1', [callUuid]);
      const turns = await readTurns(tx, callUuid);
      const change = new CallChange(before);
      const stream = await takeStream(tx, sealer, { run, change, nowEpochMs, detail: { resumed: true } });
      return { stream, turns };
    });
    if (typeof won === 'string') return refused(won, 'the session is over, or has gone on elsewhere');
    const { stream, turns } = won;
    const { call, ownerBefore } = stream;
    if (ownerBefore !== null && ownerBefore !== run.runId) deps.superseded(callUuid, ownerBefore);
    log.info({ callUuid, epoch: call.epoch }, 'a web session goes on in another process');
    return sessionOf(stream, definition, session.origin, { audio: session.audio, turns });
  }

  async function sessionOf(
    won: ClaimedStream,
    definition: AgentDefinition,
    origin: string,
    resumed: WebSetup['resumed'],
  ): Promise<ClaimAnswer> {
    const { call } = won;
    const web = {
      origin,
      resumeKeyHex: deps.resumeKeys.keyHexOf(call),
      maxSessionSeconds: call.maxDurationSeconds,
      resumed,
    };
    // Mu-law until the client has said what it wants.
    return {
      ok: true,
      setup: await setupOfStream(deps, won, definition, { carrierCallId: null, format: MULAW_8K, web }),
    };
  }

  async function purgeBurned(): Promise<void> {
    await database.query(
      `DELETE FROM embed_tokens_used WHERE jti IN (
         SELECT jti FROM embed_tokens_used WHERE expires_at < $1 ORDER BY expires_at LIMIT ${PURGE_BATCH})`,
      [new Date(clock.epochMs())],
    );
  }

  return async (run, { token, live: upgradeRequest }) => {
    if (upgradeRequest === undefined) return refused('server', 'a web claim without its socket');
    if (!isResumeToken(token)) return begin(run, token, upgradeRequest);
    const resumeToken = deps.resumeKeys.verify(token);
    if (resumeToken === null) return refused('token_invalid', 'no resume token of this installation');
    return resume(run, resumeToken, upgradeRequest);
  };
}

/** A browser always sends `Origin`; another client names its origin in the query alone. */
function originFits(upgradeRequest: LiveUpgradeRequest, origin: string): boolean {
  return upgradeRequest.parentOrigin === origin && (upgradeRequest.origin === null || upgradeRequest.origin === origin);
}
