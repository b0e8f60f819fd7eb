/**
 * Everything that a call needs from its start: the agent's definition as the call began with it, and the values for its
 * placeholders (contract §3). Made when the greeting is rendered ahead and again when media claims the stream.
 */
import { type AgentDefinition, talkingAgent } from '../../media/contract/agent-definition.ts';
import { NAMELESS, placeholderText } from '../../media/contract/placeholders.ts';
import type { Queryable } from '../store/database.ts';
import type { CallRow } from './call-row.ts';

const PLACEHOLDER_KEY = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;
const MAX_VALUE_CHARS = 2_000;
const TIMEZONE = 'UTC';

type ItsAgent = Pick<CallRow, 'agentId' | 'agentVersion'>;

export async function readAgentDefinition(database: Queryable, call: ItsAgent): Promise<AgentDefinition> {
  const rows = await database.query<{ definition: AgentDefinition }>(
    'SELECT definition FROM agent_versions WHERE agent_id = $1 AND version = $2',
    [call.agentId, call.agentVersion],
  );
  const definition = rows[0]?.definition;
  if (definition === undefined) throw new Error(`Agent ${call.agentId} has no version ${call.agentVersion}.`);
  return definition;
}

/** Of the versions that calls began with last. */
const MOST_KEPT = 100;

/** The same, for who asks at each call: a version never changes, so one that was read is not read again. */
export function createAgentReader(database: Queryable): (call: ItsAgent) => Promise<AgentDefinition> {
  const kept = new Map<string, AgentDefinition>();
  return async (call) => {
    const key = `${call.agentId} ${call.agentVersion}`;
    const definition = kept.get(key) ?? (await readAgentDefinition(database, call));
    kept.delete(key);
    kept.set(key, definition);
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
    return definition;
  };
}

/**
 * First wins: `customer_name` from the call's name, its metadata, its lead's notes and source, the agent's defaults,
 * `sys.*`. `secret.*` never comes here.
 */
export function placeholdersOf(
  call: Pick<CallRow, 'callUuid' | 'toNumber' | 'fromNumber' | 'direction' | 'metadata' | 'name' | 'leadValues'>,
  definition: AgentDefinition,
  nowEpochMs: number,
): Record<string, string> {
  const now = new Date(nowEpochMs).toISOString();
  const values: Record<string, unknown> = {
    'sys.now': now,
    'sys.date': now.slice(0, 10),
    'sys.call_uuid': call.callUuid,
    'sys.to': call.toNumber,
    'sys.from': call.fromNumber,
    'sys.direction': call.direction,
    'sys.timezone': TIMEZONE,
    ...talkingAgent(definition)?.defaults,
    ...call.leadValues,
    ...call.metadata,
    customer_name: call.name === '' ? NAMELESS : call.name,
  };
  const texts: [string, string][] = [];
  for (const [key, value] of Object.entries(values)) {
    if (!PLACEHOLDER_KEY.test(key) || key.startsWith('secret.')) continue;
    texts.push([key, placeholderText(value).slice(0, MAX_VALUE_CHARS)]);
  }
  return Object.fromEntries(texts);
}
