/**
 * One entry of the call log as a client sees it (contract §13). What is not known yet is null or empty, never absent.
 * Every read names the workspace. `secret.*` metadata is for tools and never shown.
 */
import type { RecordingFacts, Turn } from '../../../media/contract/conversation.ts';
import { type Recovery, recoveriesOf } from '../../call-log/call-recovery.ts';
import { failureOf } from '../../calls/call-failure.ts';
import type { CallRecord, PartStatus } from '../../calls/call-record.ts';
import { readCall, readCalls } from '../../calls/call-row.ts';
import { readTurns } from '../../calls/call-turns.ts';
import { shownWarning } from '../../calls/call-warnings.ts';
import type { Findings } from '../../calls/findings.ts';
import { publicMetadata, ringSeconds, secondsBetween } from '../../calls/shown-fields.ts';
import { CONSOLE_LIFE_MS, type RecordingLinks, TOLD_LIFE_MS } from '../../recordings/recording-links.ts';
import { type SoundForm, STORED_FORM } from '../../recordings/sound-form.ts';
import type { Queryable } from '../../store/database.ts';
import { type ToolUseView, toolUsesOf, withToolMs } from '../../tools/tool-log.ts';
import { type CallCost, costsOf } from '../../usage/call-usage.ts';
import { transcriptOf } from '../../webhooks/transcript.ts';
import type { Principal } from '../authentication.ts';

export interface CallScope {
  workspaceId: string;
  callUuid: string;
}

export type CallView = Record<string, unknown>;

interface ViewDeps {
  database: Queryable;
  links: RecordingLinks;
  /** Of the addresses of its recordings. Default: as keys are told. */
  linkLifeMs?: number;
}

/** Keys and their programs pass addresses on; people ask for the page again. */
export const linkLifeFor = ({ keyId }: Pick<Principal, 'keyId'>): number =>
  keyId === null ? CONSOLE_LIFE_MS : TOLD_LIFE_MS;

/** Undefined when the workspace has no such call. */
export async function readCallView(deps: ViewDeps, scope: CallScope): Promise<CallView | undefined> {
  const call = await readCall(deps.database, scope.workspaceId, scope.callUuid);
  if (call === undefined) return undefined;
  const [turns, webhooks, tools, recovery, costs] = await Promise.all([
    readTurns(deps.database, call.callUuid),
    countWebhooks(deps.database, call.callUuid),
    toolUsesOf(deps.database, [call.callUuid]),
    recoveriesOf(deps.database, [call]),
    costsOf(deps.database, call.workspaceId, [call.callUuid]),
  ]);
  const told = [tools.get(call.callUuid), recovery.get(call.callUuid), costs.get(call.callUuid)] as const;
  return viewOf(call, turns, webhooks, deps, ...told);
}

/** In the order of the ids; what the workspace does not have is left out. Six queries, however many calls. */
export async function readCallViews(
  deps: ViewDeps,
  workspaceId: string,
  callUuids: readonly string[],
): Promise<CallView[]> {
  if (callUuids.length === 0) return [];
  const [calls, turns, webhooks, tools, costs] = await Promise.all([
    readCalls(deps.database, workspaceId, callUuids),
    turnsByCall(deps.database, callUuids),
    webhooksByCall(deps.database, callUuids),
    toolUsesOf(deps.database, callUuids),
    costsOf(deps.database, workspaceId, callUuids),
  ]);
  const recoveries = await recoveriesOf(deps.database, calls);
  const byId = new Map(calls.map((call) => [call.callUuid, call]));
  return callUuids.flatMap((callUuid) => {
    const call = byId.get(callUuid);
    if (call === undefined) return [];
    const counts = webhooks.get(callUuid) ?? NO_WEBHOOKS;
    const told = [tools.get(callUuid), recoveries.get(callUuid), costs.get(callUuid)] as const;
    return [viewOf(call, turns.get(callUuid) ?? [], counts, deps, ...told)];
  });
}

const NO_WEBHOOKS = { delivered: 0, pending: 0 };

async function turnsByCall(database: Queryable, callUuids: readonly string[]): Promise<Map<string, Turn[]>> {
  const rows = await database.query<{ callUuid: string; turns: Turn[] }>(
    `SELECT call_uuid AS "callUuid", jsonb_agg(turn ORDER BY position) AS turns
     FROM call_turns WHERE call_uuid = ANY ($1::uuid[]) GROUP BY call_uuid`,
    [callUuids],
  );
  return new Map(rows.map((row) => [row.callUuid, row.turns]));
}

async function webhooksByCall(
  database: Queryable,
  callUuids: readonly string[],
): Promise<Map<string, { delivered: number; pending: number }>> {
  const rows = await database.query<{ callUuid: string; delivered: number; pending: number }>(
    `SELECT e.call_uuid AS "callUuid", count(*) FILTER (WHERE d.state = 'delivered')::int AS delivered,
            count(*) FILTER (WHERE d.state = 'pending')::int AS pending
     FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event_id
     WHERE e.call_uuid = ANY ($1::uuid[]) GROUP BY e.call_uuid`,
    [callUuids],
  );
  return new Map(rows.map(({ callUuid, ...counts }) => [callUuid, counts]));
}

async function countWebhooks(database: Queryable, callUuid: string): Promise<{ delivered: number; pending: number }> {
  const [row] = await database.query<{ delivered: number; pending: number }>(
    `SELECT count(*) FILTER (WHERE d.state = 'delivered')::int AS delivered,
            count(*) FILTER (WHERE d.state = 'pending')::int AS pending
     FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event_id WHERE e.call_uuid = $1`,
    [callUuid],
  );
  return row ?? { delivered: 0, pending: 0 };
}

export function viewOf(
  call: CallRecord,
  turns: readonly Turn[],
  webhooks: { delivered: number; pending: number },
  signing: Omit<ViewDeps, 'database'>,
  tools: readonly ToolUseView[] = [],
  recovery: readonly Recovery[] = [],
  cost: CallCost | null = null,
): CallView {
  return {
    callUuid: call.callUuid,
    enterprise: call.enterprise,
    agentId: call.agentId,
    agentVersion: call.agentVersion,
    leadId: call.leadId,
    campaignId: null,
    channel: call.channel,
    direction: call.direction,
    to: call.toNumber,
    from: call.lineId,
    fromNumber: call.fromNumber,
    name: call.name,
    metadata: publicMetadata(call.metadata),
    status: call.status,
    endedReason: call.endedReason,
    hangupBy: call.hangupBy,
    fault: call.fault,
    sipCode: call.sipCode,
    error: failureOf(call),
    answeredBy: call.answeredBy,
    answeredByConfidence: null,
    createdAt: call.createdAt,
    dialedAt: call.dialedAt,
    ringingAt: call.ringingAt,
    answeredAt: call.answeredAt,
    endedAt: call.endedAt,
    ringSeconds: ringSeconds(call),
    durationSeconds: secondsBetween(call.answeredAt, call.endedAt),
    recording: recordingView(call, signing),
    transcriptStatus: call.transcriptStatus,
    transcript: transcriptOf(turns),
    turns: turns.map((turn) => ({ ...turn, words: null })),
    analysisStatus: call.analysisStatus,
    ...analysisView(call.analysis),
    latency: withToolMs(call.latency, tools),
    quality: null,
    interruptions: {
      byUser: turns.filter((turn) => turn.role === 'agent' && turn.interrupted).length,
      falseBargeIns: call.answeredAt === null ? null : call.falseBargeIns,
    },
    tools: [...tools],
    cost,
    warnings: call.warnings.map(shownWarning),
    recovery: [...recovery],
    compliance: call.compliance,
    webhooks,
  };
}

/** As the call log shows it (contract §13); the rest of it is in `analysis.completed` and `parley analysis show`. */
function analysisView(findings: Findings | null): Record<string, unknown> {
  return {
    summary: findings?.summary ?? null,
    intent: findings?.intent ?? null,
    intentConfidence: findings?.intentConfidence ?? null,
    sentiment: findings?.sentiment ?? null,
    successful: findings?.successful ?? null,
    successReason: findings?.successReason ?? null,
    disposition: findings?.disposition ?? null,
    data: findings?.data ?? {},
    evidence: findings?.evidence ?? [],
    analysisModel: findings?.model ?? null,
  };
}

interface RecordingView {
  status: PartStatus;
  url: string | null;
  urlExpiresAt: string | null;
  format: RecordingFacts['format'] | null;
  channels: number | null;
  sampleRate: number | null;
  durationSeconds: number | null;
  sizeBytes: number | null;
  sha256: string | null;
  /**
   * One for each stream of the call, in order, as soon as it is stored: more than one when it
   * came back after a fault of ours.
   */
  parts: {
    url: string;
    urlExpiresAt: string;
    /** Its place in the whole. */
    startSeconds: number;
    durationSeconds: number;
    sizeBytes: number;
    sha256: string;
    variants: { mono: string; caller: string; agent: string };
  }[];
}

/**
 * Addresses are signed anew each time the entry is read. Where the file lies is for whoever
 * runs the service: `parley recording list`.
 */
function recordingView(
  call: CallRecord,
  { links, linkLifeMs = TOLD_LIFE_MS }: Omit<ViewDeps, 'database'>,
): RecordingView {
  const facts = call.recordingStatus === 'ready' ? call.recording : null;
  const { callUuid } = call;
  const sign = (part: number | null, variant: SoundForm['variant']) =>
    links.sign({ ...STORED_FORM, callUuid, part, variant }, linkLifeMs);
  const whole = facts === null ? null : sign(null, STORED_FORM.variant);
  return {
    status: call.recordingStatus,
    url: whole?.url ?? null,
    urlExpiresAt: whole?.expiresAt.toISOString() ?? null,
    format: facts?.format ?? null,
    channels: facts?.channels ?? null,
    sampleRate: facts?.rateHz ?? null,
    durationSeconds: facts === null ? null : facts.durationMs / 1000,
    sizeBytes: facts?.sizeBytes ?? null,
    sha256: facts?.sha256 ?? null,
    parts: call.recordings.map(({ durationMs, sizeBytes, sha256, startMs = 0 }, at) => {
      const { url, expiresAt } = sign(at + 1, STORED_FORM.variant);
      const [mono, caller, agent] = (['mono', 'caller', 'agent'] as const).map((variant) => sign(at + 1, variant).url);
      return {
        url,
        urlExpiresAt: expiresAt.toISOString(),
        startSeconds: startMs / 1000,
        durationSeconds: durationMs / 1000,
        sizeBytes,
        sha256,
        variants: { mono: mono!, caller: caller!, agent: agent! },
      };
    }),
  };
}
