/**
 * Tries one tool of an agent: the very request that a call would make, sent once, and everything that came of it, but
 * no secret. The result has no call: its `callUuid` is one that no call has. Called by the settings API and the command
 * line.
 */
import { v7 as uuidv7 } from 'uuid';
import { type AgentDefinition, talkingAgent } from '../../media/contract/agent-definition.ts';
import type { Clock } from '../../media/contract/clock.ts';
import { toolValues } from '../../media/contract/tool-values.ts';
import type { ToolAnswer } from '../../media/contract/tools.ts';
import type { OutboundHttp } from '../../media/net/outbound-http.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Queryable } from '../store/database.ts';
import { secretNamesOf } from './header-template.ts';
import { openSecrets, openSigningSecrets } from './secrets.ts';
import { sendTool } from './send-tool.ts';

export interface ToolTrial {
  url: string;
  /** Of the last attempt; each secret by its name, the signature blanked. */
  headers: Record<string, string>;
  body: string;
  attempts: number;
  isSigned: boolean;
  ms: number;
  answer: ToolAnswer;
  /** What the agent could say. */
  variables: Record<string, string>;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Of the agent's newest version. Throws an `OperatorError` where there is nothing to try. */
export async function tryTool(
  deps: { database: Queryable; sealer: Pick<Sealer, 'open'>; http: Pick<OutboundHttp, 'send'>; clock: Clock },
  args: {
    /** Absent: of whichever workspace has it. */
    workspaceId?: string;
    agentId: string;
    name: string;
    arguments: Record<string, unknown>;
  },
): Promise<ToolTrial> {
  const { database, sealer, http, clock } = deps;
  const { workspaceId, enterprise, definition: agent } = await readAgent(database, args);
  const tools = talkingAgent(agent)?.tools ?? [];
  const definition = tools.find((tool) => tool.name === args.name);
  if (definition === undefined) {
    const known = tools.map((tool) => tool.name).join(', ');
    throw new OperatorError(
      'not_found',
      `The agent has no tool '${args.name}'; it has ${known === '' ? 'none' : known}.`,
    );
  }
  if (definition.kind === 'client') {
    throw new OperatorError('refused', `'${args.name}' is a tool of a web page; it has no address to try.`);
  }
  const secrets = await openSecrets(database, sealer, workspaceId, secretNamesOf(definition.headers ?? {}));
  const signingSecrets = await openSigningSecrets(database, sealer, workspaceId);
  const callUuid = uuidv7();
  const trial = { url: definition.url ?? '', headers: {} as Record<string, string>, body: '', attempts: 0 };
  const sinceMs = clock.nowMs();
  const answer = await sendTool(
    {
      definition,
      toolCallId: `tc_${callUuid.replaceAll('-', '')}_1_test`,
      arguments: args.arguments,
      call: { callUuid, agentId: args.agentId, enterprise, to: '', direction: 'outbound', metadata: {} },
      secrets,
      signingSecrets,
    },
    {
      http,
      clock,
      signal: new AbortController().signal,
      sending({ shownHeaders, body }) {
        trial.headers = shownHeaders;
        trial.body = body;
        trial.attempts++;
      },
    },
  );
  const values = Object.entries(toolValues(definition, answer)).filter(([, value]) => value !== null);
  return {
    ...trial,
    isSigned: signingSecrets.length > 0,
    ms: Math.round(clock.nowMs() - sinceMs),
    answer,
    variables: Object.fromEntries(values) as Record<string, string>,
  };
}

async function readAgent(
  database: Queryable,
  { workspaceId = null, agentId }: { workspaceId?: string | null; agentId: string },
): Promise<{ workspaceId: string; enterprise: string; definition: AgentDefinition }> {
  const rows = UUID.test(agentId)
    ? await database.query<{ workspaceId: string; enterprise: string; definition: AgentDefinition }>(
        `SELECT a.workspace_id AS "workspaceId", w.slug AS enterprise, v.definition
           FROM agents a JOIN workspaces w ON w.id = a.workspace_id
           JOIN agent_versions v ON v.agent_id = a.id AND v.version = a.current_version
          WHERE a.id = $1 AND a.deleted_at IS NULL AND ($2::uuid IS NULL OR a.workspace_id = $2)`,
        [agentId, workspaceId],
      )
    : [];
  if (rows[0] === undefined)
    throw new OperatorError('not_found', `There is no agent '${agentId}'`, 'see: parley agent list <slug>');
  return rows[0];
}
