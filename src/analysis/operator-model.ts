/**
 * Which language model reads a workspace's calls: set, shown, removed, tried. It is reached by a connection of the
 * workspace: one that is named, or the one called `analysis`, which is made of an address and a key that are given
 * here. Used by the command line and the settings API.
 */
import type { AddressCheck } from '../../media/net/target-check.ts';
import { BY_OPERATOR, type ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { checkBaseUrl, checkCredentials } from '../connections/connection-check.ts';
import { type ConnectionRow, insertVersion, readNewest, replaceNewest } from '../connections/connection-rows.ts';
import { usesOf } from '../connections/connection-uses.ts';
import { endConnection, lockedWorkspace } from '../connections/stored-connections.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database, Queryable } from '../store/database.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import type { ChatDeps } from './chat-endpoint.ts';
import { readChatEndpoint, readChosenModel } from './model-endpoint.ts';
import { type ModelTrial, tryModel } from './try-model.ts';

export interface ModelEndpoint {
  /** The connection that leads to it. */
  connection: string;
  /** Without `/chat/completions`, like `https://api.openai.com/v1`. */
  baseUrl: string;
  model: string;
  hasKey: boolean;
  updatedAt: Date;
}

/** The connection that an address and a key given here become. */
export const OWN_CONNECTION = 'analysis';
const LONGEST_MODEL = 120;

/** Throws when what is there is not what the editor has seen; null: there is none. */
type Expect = ((current: ModelEndpoint | null) => void) | undefined;

/**
 * `connection`: one that is there. Else `baseUrl`; `apiKey` absent: the one that is stored stays, if the address does;
 * null: the server wants none.
 */
export type WantedEndpoint = { connection: string } | { baseUrl: string; apiKey?: string | null };

export async function setModelEndpoint(
  database: Database,
  sealer: Pick<Sealer, 'seal'>,
  args: WantedEndpoint & { slug: string; model: string; by?: ChangedBy; check?: AddressCheck; expect?: Expect },
): Promise<ModelEndpoint> {
  const baseUrl = 'baseUrl' in args ? await checkBaseUrl(args.baseUrl, args.check) : null;
  const model = args.model.trim();
  if (model === '' || model.length > LONGEST_MODEL || /\p{Cc}/u.test(model)) {
    throw new OperatorError(
      'invalid',
      `The model must be named in 1 to ${LONGEST_MODEL} characters, as its server names it.`,
    );
  }
  const apiKey = 'baseUrl' in args ? args.apiKey : undefined;
  if (typeof apiKey === 'string') checkCredentials('openai_compatible', { apiKey });
  return database.transaction(async (tx) => {
    const id = await lockedWorkspace(tx, args.slug);
    const before = await readModelEndpoint(tx, id);
    args.expect?.(before);
    const name = 'connection' in args ? args.connection : OWN_CONNECTION;
    const known = (await readNewest(tx, id, [name])).get(name);
    if (known !== undefined) mustSpeakChat(known);
    if (baseUrl !== null) await keepOwnConnection(tx, sealer, id, known, { baseUrl, apiKey });
    else if (known === undefined) throw unknownName(args.slug, name);
    await tx.query(
      `INSERT INTO analysis_models (workspace_id, connection, model) VALUES ($1, $2, $3)
       ON CONFLICT (workspace_id) DO UPDATE SET connection = excluded.connection, model = excluded.model,
         updated_at = clock_timestamp()`,
      [id, name, model],
    );
    const after = (await readModelEndpoint(tx, id))!;
    await audit(tx, { workspaceId: id, by: args.by, action: 'model.set', before, after });
    return after;
  });
}

/** The next version of it, where its address or its key may be another. */
async function keepOwnConnection(
  tx: Queryable,
  sealer: Pick<Sealer, 'seal'>,
  workspaceId: string,
  known: ConnectionRow | undefined,
  { baseUrl, apiKey }: { baseUrl: string; apiKey: string | null | undefined },
): Promise<void> {
  if (apiKey === undefined && known?.baseUrl === baseUrl) return;
  await replaceNewest(tx, workspaceId, OWN_CONNECTION);
  await insertVersion(tx, sealer, {
    workspaceId,
    name: OWN_CONNECTION,
    provider: 'openai_compatible',
    baseUrl,
    credentials: typeof apiKey === 'string' ? { apiKey } : null,
    limits: known?.limits ?? {},
    settings: known?.settings ?? {},
  });
}

/** Null when the workspace has none: the local heuristic reads its calls. */
export async function readModelEndpoint(database: Queryable, workspaceId: string): Promise<ModelEndpoint | null> {
  const chosen = await readChosenModel(database, workspaceId);
  if (chosen === null) return null;
  const row = (await readNewest(database, workspaceId, [chosen.connection])).get(chosen.connection);
  if (row === undefined) return null;
  const { connection, model } = chosen;
  // Of the two, what was changed last.
  const updatedAt = new Date(Math.max(chosen.updatedAt.getTime(), row.createdAt.getTime()));
  return { connection, baseUrl: row.baseUrl, model, hasKey: row.hasCredentials, updatedAt };
}

export async function showModelEndpoint(database: Queryable, args: { slug: string }): Promise<ModelEndpoint> {
  const { id } = await findWorkspace(database, args.slug);
  const endpoint = await readModelEndpoint(database, id);
  if (endpoint !== null) return endpoint;
  throw notSet(args.slug);
}

/** From now on the local heuristic reads the calls. The connection `analysis` goes too, unless an agent uses it. */
export async function removeModelEndpoint(
  database: Database,
  args: { slug: string; by?: ChangedBy; expect?: Expect },
): Promise<ModelEndpoint> {
  return database.transaction(async (tx) => {
    const id = await lockedWorkspace(tx, args.slug);
    const before = await readModelEndpoint(tx, id);
    args.expect?.(before);
    if (before === null) throw notSet(args.slug);
    await tx.query('DELETE FROM analysis_models WHERE workspace_id = $1', [id]);
    const { agents } = await usesOf(tx, id, before.connection);
    if (before.connection === OWN_CONNECTION && agents.length === 0) await endConnection(tx, id, OWN_CONNECTION);
    await audit(tx, { workspaceId: id, by: args.by, action: 'model.removed', before, after: null });
    return before;
  });
}

/** Asks the stored model about a short made-up call, once. */
export async function testModelEndpoint(
  database: Queryable,
  sealer: Pick<Sealer, 'open'>,
  deps: ChatDeps,
  args: { slug: string },
): Promise<ModelTrial> {
  const { id } = await findWorkspace(database, args.slug);
  const endpoint = await readChatEndpoint(database, sealer, id);
  if (endpoint === null) throw notSet(args.slug);
  return tryModel(deps, endpoint);
}

function mustSpeakChat({ name, provider }: ConnectionRow): void {
  if (provider === 'openai_compatible') return;
  throw new OperatorError(
    'refused',
    `'${name}' is a connection to ${provider}; the analysis asks a language model: name one of openai_compatible.`,
  );
}

function unknownName(slug: string, name: string): OperatorError {
  return new OperatorError(
    'invalid',
    `'${slug}' has no connection '${name.slice(0, 80)}'; add it first, or give baseUrl and apiKey here.`,
  );
}

function notSet(slug: string): OperatorError {
  return new OperatorError(
    'not_found',
    `Workspace '${slug}' has no model, so the local heuristic reads its calls`,
    `set one with: parley model set ${slug} --url URL --model NAME`,
  );
}

interface Change {
  workspaceId: string;
  by: ChangedBy | undefined;
  action: string;
  before: ModelEndpoint | null;
  after: ModelEndpoint | null;
}

function audit(tx: Queryable, { workspaceId, by = BY_OPERATOR, action, before, after }: Change): Promise<void> {
  const shown = (endpoint: ModelEndpoint | null): object | null => {
    if (endpoint === null) return null;
    const { connection, baseUrl, model, hasKey } = endpoint;
    return { connection, baseUrl, model, hasKey };
  };
  return recordAudit(tx, { workspaceId, by, action, target: 'model', before: shown(before), after: shown(after) });
}
