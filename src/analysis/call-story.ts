/**
 * All that an analysis may know of a call, read in one statement: who spoke to whom about what, what the script
 * noted, how it ended. Called by the runner and the command line. `secret.*` metadata is not in it, and nothing of it
 * is an instruction.
 */
import { type AgentAnalysis, type AgentDefinition, talkingAgent } from '../../media/contract/agent-definition.ts';
import type { Turn } from '../../media/contract/conversation.ts';
import { fillPlaceholders } from '../../media/contract/placeholders.ts';
import type { CallRecord } from '../calls/call-record.ts';
import { codeOf } from '../calls/call-warnings.ts';
import { labelsOf } from '../calls/findings.ts';
import { publicMetadata, secondsBetween } from '../calls/shown-fields.ts';
import type { Queryable } from '../store/database.ts';
import type { Read } from '../store/joint-read.ts';

export interface CallStory {
  agentName: string;
  /** What the agent was told to do, placeholders filled; null for an agent without a script. */
  script: string | null;
  language: string | null;
  /** It goes by steps that expect certain phrases. */
  hasScript: boolean;
  /** What was said may be missing because it failed, once at least. */
  lostRecogniser: boolean;
  /** Intents to choose from, `other` last. */
  labels: readonly string[];
  settings: AgentAnalysis;
  channel: 'phone' | 'web';
  direction: 'outbound' | 'inbound';
  /** Of the other side, as far as it is known. */
  name: string;
  status: string;
  endedReason: string;
  hangupBy: string | null;
  talkSeconds: number | null;
  /** Only turns that were heard, in order. Of speech that was not understood: when it was, and no guess at it. */
  turns: readonly Turn[];
  /** What the script calls its own end; null when it did not get there. */
  disposition: string | null;
  /** What the script caught. */
  variables: Readonly<Record<string, string>>;
}

export async function readCallStory(database: Queryable, call: CallRecord): Promise<CallStory> {
  const [row] = await database.query<{
    turns: Turn[];
    definition: AgentDefinition | null;
    disposition: string | null;
  }>(
    `SELECT (SELECT coalesce(jsonb_agg(turn ORDER BY position), '[]') FROM call_turns WHERE call_uuid = $1) AS turns,
            (SELECT definition FROM agent_versions WHERE agent_id = $2 AND version = $3) AS definition,
            (${dispositionOf('$1')}) AS disposition`,
    [call.callUuid, call.agentId, call.agentVersion],
  );
  const { turns, definition, disposition } = row!;
  return storyOf(call, turns, definition, disposition);
}

/** What is in it beside the call and its turns: for whoever has those. */
export function storyFacts({
  callUuid,
  agentId,
  agentVersion,
}: CallRecord): Read<{ definition: AgentDefinition | null; disposition: string | null }> {
  return {
    sql: (place) =>
      `SELECT (SELECT definition FROM agent_versions WHERE agent_id = ${place(agentId)} AND version = ${place(agentVersion)}) AS definition,
              (${dispositionOf(place(callUuid))}) AS disposition`,
  };
}

const dispositionOf = (callUuid: string): string =>
  `SELECT data ->> 'disposition' FROM call_events
    WHERE call_uuid = ${callUuid} AND kind = 'end.asked' AND data ->> 'disposition' IS NOT NULL ORDER BY id LIMIT 1`;

/** Pure. */
export function storyOf(
  call: CallRecord,
  turns: readonly Turn[],
  agent: AgentDefinition | null,
  disposition: string | null,
): CallStory {
  const talking = agent === null ? null : talkingAgent(agent);
  const metadata = publicMetadata(call.metadata);
  const placeholder = (key: string): string | undefined => {
    if (key === 'customer_name' && call.name !== '') return call.name;
    const value = Object.hasOwn(metadata, key) ? metadata[key] : talking?.defaults?.[key];
    return value === undefined || value === null || typeof value === 'object' ? undefined : String(value);
  };
  return {
    agentName: agent?.name ?? 'The agent',
    script: talking === null ? null : fillPlaceholders(talking.script, placeholder).text,
    language: talking?.language ?? null,
    hasScript: agent?.kind !== 'cascade',
    lostRecogniser: call.endedReason === 'stt_error' || call.warnings.some((one) => codeOf(one) === 'stt_error'),
    labels: labelsOf(talking?.intents),
    settings: talking?.analysis ?? {},
    channel: call.channel,
    direction: call.direction,
    name: call.name,
    status: call.status,
    endedReason: call.endedReason ?? 'unknown',
    hangupBy: call.hangupBy,
    talkSeconds: secondsBetween(call.answeredAt, call.endedAt),
    turns: turns.filter((turn) => turn.heardText.trim() !== '').map(withoutGuess),
    disposition,
    variables: caughtOf(call.checkpoint?.variables ?? {}),
  };
}

/** Without what tools answered under their own names: that is kept nowhere, and nobody in the call has said it. */
function caughtOf(variables: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !name.startsWith('tool.')));
}

function withoutGuess(turn: Turn): Turn {
  return turn.unclear === undefined ? turn : { ...turn, unclear: { guess: null, confidence: null } };
}
