/**
 * Who names a connection: agents, in what they listen, think and speak with, and the analysis of calls. Asked before a
 * connection is removed, and where an agent is stored, so that it names only what there is.
 */
import { DEFAULT_MODEL_ENGINE, type EngineDeclaration, engineDeclaration } from '../../media/contract/engine-list.ts';
import { PROVIDERS, type ProviderAbility } from '../../media/contract/providers.ts';
import { type AgentFault, type PathPart, pathText } from '../errors/agent-faults.ts';
import type { Queryable } from '../store/database.ts';
import { type Connection, readNewest } from './connection-rows.ts';

/** Where a definition names connections, and what each must be able to do there. */
const ABILITIES = ['listen', 'think', 'speak'] as const satisfies readonly ProviderAbility[];

export interface ConnectionUses {
  /** Current versions that are not deleted: `Paul (0199…)`. */
  agents: string[];
  readsCalls: boolean;
}

export async function usesOf(tx: Queryable, workspaceId: string, name: string): Promise<ConnectionUses> {
  const agents = await tx.query<{ id: string; name: string }>(
    `SELECT a.id, a.name FROM agents a JOIN agent_versions v ON v.agent_id = a.id AND v.version = a.current_version
      WHERE a.workspace_id = $1 AND a.deleted_at IS NULL
        AND jsonb_path_exists(v.definition::jsonb, '$.keyvalue() ? (@.key like_regex "^(listen|think|speak)$").value.**.connection ? (@ == $name)',
                              jsonb_build_object('name', $2::text))
      ORDER BY a.id`,
    [workspaceId, name],
  );
  const analysis = await tx.query('SELECT 1 AS one FROM analysis_models WHERE workspace_id = $1 AND connection = $2', [
    workspaceId,
    name,
  ]);
  return { agents: agents.map((agent) => `${agent.name} (${agent.id})`), readsCalls: analysis.length > 0 };
}

interface NamedConnection {
  at: PathPart[];
  connection: string;
  ability: ProviderAbility;
  /** Which is to use it; undefined: none that there is. */
  engine: EngineDeclaration | undefined;
}

/** Every place of a definition where a connection stands, whatever else is wrong with it. */
export function connectionsNamedIn(definition: unknown): NamedConnection[] {
  if (typeof definition !== 'object' || definition === null) return [];
  return ABILITIES.flatMap((ability) =>
    namedBelow((definition as Record<string, unknown>)[ability], [ability]).map(({ at, connection, engine }) => {
      const name = engine ?? (ability === 'think' ? DEFAULT_MODEL_ENGINE : '');
      return { at, connection, ability, engine: engineDeclaration(ability, String(name)) };
    }),
  );
}

function namedBelow(value: unknown, at: PathPart[]): { at: PathPart[]; connection: string; engine: unknown }[] {
  if (Array.isArray(value)) return value.flatMap((inner, index) => namedBelow(inner, [...at, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'connection' && typeof inner === 'string'
      ? [{ at: [...at, key], connection: inner, engine: (value as { engine?: unknown }).engine }]
      : namedBelow(inner, [...at, key]),
  );
}

/** Of a definition that is to be stored; the workspace's row is held, so that none of them goes meanwhile. */
export async function connectionFaultsOf(
  tx: Queryable,
  workspaceId: string,
  definition: unknown,
): Promise<AgentFault[]> {
  const named = connectionsNamedIn(definition);
  if (named.length === 0) return [];
  await tx.query('SELECT 1 FROM workspaces WHERE id = $1 FOR SHARE', [workspaceId]);
  const known = await readNewest(
    tx,
    workspaceId,
    named.map(({ connection }) => connection),
  );
  return named.flatMap((one) => faultOf(one, known));
}

function faultOf(
  { at, connection: name, ability, engine }: NamedConnection,
  known: ReadonlyMap<string, Connection>,
): AgentFault[] {
  const path = pathText(at);
  const found = known.get(name);
  if (found === undefined) {
    const problem = `the workspace has no connection '${name.slice(0, 80)}'; add it with: parley connection add, or POST /api/developer/connections`;
    return [{ path, problem }];
  }
  const can: readonly ProviderAbility[] = PROVIDERS[found.provider].can;
  if (can.includes(ability)) {
    if (engine === undefined || engine.provider === null || engine.provider === found.provider) return [];
    const problem = `'${name}' is a connection to ${found.provider}, and the engine is used by one to ${engine.provider}`;
    return [{ path, problem }];
  }
  return [
    {
      path,
      problem: `'${name}' is a connection to ${found.provider}, which does not ${ability} (it can: ${can.join(', ')})`,
    },
  ];
}
