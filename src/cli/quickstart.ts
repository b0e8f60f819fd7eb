/**
 * From an empty database to a workspace that can call: the workspace with its API on, an agent, a line with
 * credentials, a key. What is there is left as it is, so a second run makes nothing twice and one that was cut off is
 * finished. Used by `parley quickstart`.
 */

import { type AgentSummary, importAgent, listAgents } from '../agents/stored-agents.ts';
import type { ChangedBy } from '../audit/audit-entry.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database } from '../store/database.ts';
import { createApiKey, listApiKeys } from '../workspaces/api-keys.ts';
import { addLine, listLines, type PhoneLine, setLineCredentials } from '../workspaces/lines.ts';
import { createWorkspace, listWorkspaces, setApiEnabled } from '../workspaces/workspaces.ts';

export interface QuickstartWanted {
  slug: string;
  /** An agent of the same name is taken for it. */
  definition: { name?: unknown };
  line: { number: string; carrier: string; credentials: Record<string, string> | undefined };
  by: ChangedBy;
}

export interface QuickstartDone {
  slug: string;
  agent: AgentSummary;
  line: PhoneLine;
  /** Null: there is one of an earlier run, and nobody can show it again. */
  keyText: string | null;
  /** What this run made or changed, of `workspace`, `api`, `agent`, `line`, `credentials`, `key`. */
  made: string[];
}

const KEY_NAME = 'quickstart';

export async function quickstart(
  database: Database,
  sealer: Sealer,
  { slug, definition, line, by }: QuickstartWanted,
): Promise<QuickstartDone> {
  const made: string[] = [];
  const make = async <Value>(what: string, work: Promise<Value>): Promise<Value> => {
    const value = await work;
    made.push(what);
    return value;
  };
  const workspace =
    (await listWorkspaces(database)).find((one) => one.slug === slug) ??
    (await make('workspace', createWorkspace(database, { slug, name: slug, by })));
  if (!workspace.apiEnabled) await make('api', setApiEnabled(database, { slug, enabled: true, by }));
  const agent =
    (await listAgents(database, { slug })).find(({ name }) => name === definition.name) ??
    (await make('agent', importAgent(database, { slug, definition, by })));
  let owned =
    (await listLines(database, { slug })).find((one) => one.number === line.number && one.carrier === line.carrier) ??
    (await make('line', addLine(database, sealer, { slug, ...line, by })));
  if (!owned.hasCredentials && line.credentials !== undefined) {
    const { credentials } = line;
    owned = await make(
      'credentials',
      setLineCredentials(database, sealer, { slug, lineId: owned.id, credentials, by }),
    );
  }
  const isValid = (key: { revokedAt: Date | null; expiresAt: Date | null }): boolean =>
    key.revokedAt === null && (key.expiresAt === null || key.expiresAt.getTime() > Date.now());
  const hasKey = (await listApiKeys(database, { slug })).some((key) => key.name === KEY_NAME && isValid(key));
  const scopes = ['calls:write', 'calls:read'] as const;
  const key = hasKey
    ? null
    : await make('key', createApiKey(database, { slug, name: KEY_NAME, scopes: [...scopes], by }));
  return { slug, agent, line: owned, keyText: key?.text ?? null, made };
}
