/**
 * From an empty database to a workspace that can call or be talked to: the workspace with its API on, an agent and the
 * connections that it names, a line with credentials and a key, a page in the browser. What is there is left as it is,
 * so a second run makes nothing twice and one that was cut off is finished. Used by `parley quickstart`.
 */
import type { AddressCheck } from '../../media/net/target-check.ts';
import { type AgentSummary, importAgent, listAgents } from '../agents/stored-agents.ts';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { addConnection, listConnections } from '../connections/stored-connections.ts';
import { BASE_URL_VARIABLES, type UsualProviders } from '../connections/usual-keys.ts';
import { createWidgetKey, listWidgetKeys } from '../embed/widget-keys.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database } from '../store/database.ts';
import { createApiKey, listApiKeys } from '../workspaces/api-keys.ts';
import { addLine, listLines, type PhoneLine, setLineCredentials } from '../workspaces/lines.ts';
import { createWorkspace, listWorkspaces, setApiEnabled } from '../workspaces/workspaces.ts';

export interface QuickstartWanted {
  slug: string;
  /** An agent of the same name is taken for it. */
  definition: { name?: unknown };
  /** Made before the agent that names them. */
  connections: UsualProviders['connections'];
  /** Of their addresses. */
  check: AddressCheck;
  /** Null: no telephone. */
  line: { number: string; carrier: string; credentials: Record<string, string> | undefined } | null;
  /** Whether there is to be a page in the browser to talk at. */
  page: boolean;
  by: ChangedBy;
}

export interface QuickstartDone {
  slug: string;
  agent: AgentSummary;
  line: PhoneLine | null;
  /** Names of those that the agent wants. */
  connections: string[];
  /** Null: there is no line to call on, or there is a key of an earlier run, and nobody can show it again. */
  keyText: string | null;
  /** Of the page; null: none was wanted. */
  publicKey: string | null;
  /**
   * What this run made or changed, of `workspace`, `api`, `agent`, `line`, `credentials`, `key`, `page`, `connection
   * NAME`.
   */
  made: string[];
}

const KEY_NAME = 'quickstart';

export async function quickstart(
  database: Database,
  sealer: Sealer,
  { slug, definition, connections, check, line, page, by }: QuickstartWanted,
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
  const known = (await listConnections(database, { slug })).map(({ name }) => name);
  for (const one of connections.filter(({ name }) => !known.includes(name)))
    await make(
      `connection ${one.name}`,
      addConnection(database, sealer, { slug, ...one, by, check }).catch((error: unknown) => {
        throw ofVariable(one, error);
      }),
    );
  const agent =
    (await listAgents(database, { slug })).find(({ name }) => name === definition.name) ??
    (await make('agent', importAgent(database, { slug, definition, by })));
  const names = connections.map(({ name }) => name);
  const called =
    line === null ? { line: null, keyText: null } : await makeCallable(database, sealer, make, { slug, line, by });
  const publicKey = page ? await makePage(database, make, { slug, by }) : null;
  return { slug, agent, connections: names, ...called, publicKey, made };
}

/** What is wrong with an address is said by the name of the variable that gave it. */
function ofVariable({ provider, baseUrl }: UsualProviders['connections'][number], error: unknown): unknown {
  const variable = BASE_URL_VARIABLES[provider];
  if (!(error instanceof OperatorError) || baseUrl === undefined || variable === undefined) return error;
  const wayOut = /MODEL_ALLOW_CIDRS/.test(error.reason)
    ? ' The running service needs that setting too: start it anew with it.'
    : '';
  return new OperatorError(error.code, `${variable} (${baseUrl}): ${error.reason}${wayOut}`);
}

type Make = <Value>(what: string, work: Promise<Value>) => Promise<Value>;

async function makeCallable(
  database: Database,
  sealer: Sealer,
  make: Make,
  { slug, line, by }: { slug: string; line: NonNullable<QuickstartWanted['line']>; by: ChangedBy },
): Promise<Pick<QuickstartDone, 'line' | 'keyText'>> {
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
  return { line: owned, keyText: key?.text ?? null };
}

/** Its origin is the service's own, which every key allows. */
async function makePage(
  database: Database,
  make: Make,
  { slug, by }: { slug: string; by: ChangedBy },
): Promise<string> {
  const isInUse = (key: { name: string; enabled: boolean; revokedAt: Date | null }): boolean =>
    key.name === KEY_NAME && key.enabled && key.revokedAt === null;
  const known = (await listWidgetKeys(database, { slug })).find(isInUse);
  const key = known ?? (await make('page', createWidgetKey(database, { slug, name: KEY_NAME, allow: [], by })));
  return key.publicKey;
}
